internal import RedialCore

/// The words that a policy is written in, in one place for reading and writing.
enum Vocabulary {
  static func name(_ network: NetworkRetry) -> String {
    switch network {
    case .never: "never"
    case .whenNotSent: "notSent"
    case .always: "always"
    }
  }

  static func name(_ jitter: Jitter) -> StaticString {
    switch jitter {
    case .none: "none"
    case .full: "full"
    case .equal: "equal"
    case .proportional: "proportional"
    }
  }

  static func text(_ range: ClosedRange<Int>) -> String {
    range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
  }

  /// Reads `503` or `500-599`.
  static func statusRange(_ text: String) -> ClosedRange<Int>? {
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.allSatisfy({ $0.utf8.count == 3 }), let first = Int(parts[0]), let last = Int(parts[parts.count - 1]),
      (100...599).contains(first), (first...599).contains(last)
    else { return nil }
    return first...last
  }
}
