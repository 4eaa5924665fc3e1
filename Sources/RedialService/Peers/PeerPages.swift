internal import HTTPServer
internal import RedialJSON
internal import RedialModel

/// Merges the pages of several instances, each of which lists what it knows of the targets of its shards.
struct PeerPages: Sendable {
  /// The elements as JSON, and each one's key.
  private(set) var elements: [(key: String, json: [UInt8])] = []
  /// Whether an instance has more.
  private(set) var hasMore = false
  /// The member that is an element's key.
  private let keyMember: String

  /// No pages yet.
  init(by keyMember: String) { self.keyMember = keyMember }

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
          elements.append((try key(of: reader.raw(range)), Array(reader.raw(range))))
        }
      case "nextCursor":
        if try !reader.null() {
          hasMore = true
          _ = try reader.skipValue()
        }
      case "isComplete": if try !reader.bool() { hasMore = true }
      default: _ = try reader.skipValue()
      }
    }
    try reader.finish()
  }

  private func key(of element: UnsafeBufferPointer<UInt8>) throws(JSONError) -> String {
    var reader = JSONReader(element)
    try reader.beginObject()
    while let name = try reader.nextKey() {
      if name == keyMember { return try reader.string() }
      _ = try reader.skipValue()
    }
    return ""
  }

  /// 200: the first of all, by key. The next page follows the last of them, at every instance.
  func page(of limit: Int) -> HTTPResponse {
    let sorted = elements.sorted { $0.key < $1.key }
    let shown = sorted.prefix(limit)
    return Answer.json(capacity: 4096) { writer in
      writer.beginObject()
      writer.key("data")
      writer.beginArray()
      for element in shown { writer.raw(element.json) }
      writer.endArray()
      writer.key("nextCursor")
      if let last = shown.last, hasMore || sorted.count > shown.count { writer.string(last.key) } else { writer.null() }
      writer.endObject()
    }
  }
}
