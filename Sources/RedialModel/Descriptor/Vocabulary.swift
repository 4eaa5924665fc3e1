internal import RedialCore

/// The words of a policy, in one place for reading and writing.
enum Vocabulary {
  static func name(_ network: NetworkRetry) -> String {
    switch network {
    case .never: "never"
    case .whenNotSent: "notSent"
    case .always: "always"
    }
  }

  static let lastAttempts: [(word: String, value: DeadlineRule.LastAttempt)] = [
    ("endEarly", .endEarly), ("pullForward", .pullForward),
  ]

  static let beyond: [(word: String, value: RetryAfterRule.Beyond)] = [
    ("stop", .stop), ("park", .park), ("clamp", .clamp),
  ]

  /// The word for a value; every value has one.
  static func word<Value: Equatable>(of value: Value, in words: [(word: String, value: Value)]) -> String {
    words.first { $0.value == value }?.word ?? words[0].word
  }

  /// The value of a known word.
  static func value<Value>(of word: String, in words: [(word: String, value: Value)]) -> Value {
    words.first { $0.word == word }?.value ?? words[0].value
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
