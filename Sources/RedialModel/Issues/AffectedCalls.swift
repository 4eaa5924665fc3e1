import RedialText
public import RedialJSON

/// Whom an issue concerns: its newest calls, summed by label and by the path of their URLs.
public struct AffectedCalls: Sendable, Hashable {
  /// The most calls of an issue that are counted, the newest.
  public static let mostCounted = 1000
  /// The most labels that are shown, those of the most calls.
  public static let mostLabels = 20
  /// The most paths that are shown, those of the most calls.
  public static let mostPaths = 10

  /// How many calls were counted.
  public private(set) var counted = 0
  /// Whether these are all of the issue.
  public var isComplete = false
  private var labels: [CallSpec.Label: Int] = [:]
  private var paths: [String: Int] = [:]

  /// Nothing is counted.
  public init() {}

  /// Counts a call.
  public mutating func add(_ spec: CallSpec) {
    counted += 1
    for label in Set(spec.labels) { labels[label, default: 0] += 1 }
    // A call that cannot be read has no URL.
    if !spec.url.isEmpty { paths[Self.path(of: spec.url), default: 0] += 1 }
  }

  /// The path of a URL, with `{n}` and `{id}` for the parts that are numbers and ids.
  static func path(of url: String) -> String {
    var rest = url[...]
    if let scheme = url.firstRange(of: "://") { rest = url[scheme.upperBound...] }
    let path = rest.drop { $0 != "/" && $0 != "?" && $0 != "#" }.prefix { $0 != "?" && $0 != "#" }
    guard !path.isEmpty else { return "/" }
    return path.split(separator: "/", omittingEmptySubsequences: false).map { part in
      let pattern = ErrorPattern.of(part)
      // A version such as v1 is not what differs from call to call.
      let isWord = !pattern.hasPrefix("{") && part.utf8.count { (0x30...0x39).contains($0) } < 3
      return isWord ? String(part) : pattern
    }.joined(separator: "/")
  }

  /// Writes them as one object.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("counted", counted)
    writer.field("isComplete", isComplete)
    writer.key("paths")
    writer.beginArray()
    for (path, calls) in Self.most(paths, Self.mostPaths, before: { $0 < $1 }) {
      writer.beginObject()
      writer.field("path", path)
      writer.field("calls", calls)
      writer.endObject()
    }
    writer.endArray()
    writer.key("labels")
    writer.beginArray()
    for (label, calls) in Self.most(labels, Self.mostLabels, before: { ($0.name, $0.value) < ($1.name, $1.value) }) {
      writer.beginObject()
      writer.field("name", label.name)
      writer.field("value", label.value)
      writer.field("calls", calls)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
  }

  /// Those of the most calls; of as many, in their own order.
  private static func most<Key: Hashable>(
    _ counts: [Key: Int], _ limit: Int, before: (Key, Key) -> Bool
  ) -> ArraySlice<(key: Key, value: Int)> {
    counts.sorted { $0.value != $1.value ? $0.value > $1.value : before($0.key, $1.key) }.prefix(limit)
  }
}
