internal import RedialCore

/// In which order a list is, by keys as the cursors of its pages have them.
enum ListOrder: Sendable {
  case byName
  case byNumber
  /// By times and ids: ``key(_:_:)``.
  case oldestFirst
  case newestFirst

  /// The key of an element: its id tells apart those of the same moment.
  static func key(_ time: Timestamp, _ id: some CustomStringConvertible) -> String { "\(time.microseconds)-\(id)" }

  /// Whether a text has the form of a key.
  func isKey(_ text: String) -> Bool {
    switch self {
    case .byName: true
    case .byNumber: Int(text) != nil
    case .oldestFirst, .newestFirst: Self.parts(text) != nil
    }
  }

  /// Whether the element of one key comes before that of another.
  func precedes(_ one: String, _ other: String) -> Bool {
    switch self {
    case .byName: one < other
    case .byNumber: (Int(one) ?? 0) < (Int(other) ?? 0)
    case .oldestFirst: Self.isEarlier(one, other)
    case .newestFirst: Self.isEarlier(other, one)
    }
  }

  private static func isEarlier(_ one: String, _ other: String) -> Bool {
    guard let one = parts(one), let other = parts(other) else { return false }
    return one < other
  }

  private static func parts(_ text: String) -> (time: Int64, id: Substring)? {
    let parts = text.split(separator: "-", maxSplits: 1)
    return parts.count == 2 ? Int64(parts[0]).map { ($0, parts[1]) } : nil
  }
}
