internal import HTTPServer
internal import RedialJSON
internal import RedialModel

/// Merges the pages of targets of several instances, each of which lists the targets of its shards by key.
struct TargetPages: Sendable {
  /// The targets as JSON, by key.
  private var targets: [(key: String, json: [UInt8])] = []
  /// Whether an instance has more.
  private var hasMore = false

  /// Adds a page.
  ///
  /// - Returns: False if it cannot be read.
  mutating func add(_ page: HTTPResponse) -> Bool {
    guard page.status == 200 else { return false }
    return page.body.withUnsafeBufferPointer { bytes in (try? read(bytes)) != nil }
  }

  private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONError) {
    var reader = JSONReader(bytes)
    try reader.beginObject()
    while let name = try reader.nextKey() {
      switch name {
      case "data":
        try reader.beginArray()
        while try reader.nextElement() {
          let range = try reader.skipValue()
          targets.append((try Self.key(of: reader.raw(range)), Array(reader.raw(range))))
        }
      case "nextCursor":
        if try !reader.null() {
          hasMore = true
          _ = try reader.skipValue()
        }
      default: _ = try reader.skipValue()
      }
    }
    try reader.finish()
  }

  private static func key(of target: UnsafeBufferPointer<UInt8>) throws(JSONError) -> String {
    var reader = JSONReader(target)
    try reader.beginObject()
    while let name = try reader.nextKey() {
      if name == "key" { return try reader.string() }
      _ = try reader.skipValue()
    }
    return ""
  }

  /// 200: the first targets of all, by key. The next page follows the last of them, at every instance.
  func page(of limit: Int) -> HTTPResponse {
    let sorted = targets.sorted { $0.key < $1.key }
    let shown = sorted.prefix(limit)
    return Answer.json(capacity: 4096) { writer in
      writer.beginObject()
      writer.key("data")
      writer.beginArray()
      for target in shown { writer.raw(target.json) }
      writer.endArray()
      writer.key("nextCursor")
      if let last = shown.last, hasMore || sorted.count > shown.count { writer.string(last.key) } else { writer.null() }
      writer.endObject()
    }
  }
}
