package import RedialCore

/// The words that policies are written in: by the service, which reads and writes them, and by its client.
package enum PolicyVocabulary {
  /// Which failures of the network are retried.
  package static func word(of value: NetworkRetry) -> String {
    switch value {
    case .never: "never"
    case .whenNotSent: "notSent"
    case .always: "always"
    }
  }

  /// What happens to a last attempt that could not finish before the deadline.
  package static func word(of value: DeadlineRule.LastAttempt) -> String {
    switch value {
    case .endEarly: "endEarly"
    case .pullForward: "pullForward"
    }
  }

  /// What happens when a target asks for a longer wait than the maximum.
  package static func word(of value: RetryAfterRule.Beyond) -> String {
    switch value {
    case .stop: "stop"
    case .park: "park"
    case .clamp: "clamp"
    }
  }

  /// What happens to a call while its target's breaker is open.
  package static func word(of value: TripBehavior) -> String {
    switch value {
    case .wait: "wait"
    case .fail: "fail"
    }
  }

  /// What keeps a wait below its maximum.
  package static func word(of value: CapMode) -> String {
    switch value {
    case .keepingSpread: "keepingSpread"
    case .afterJitter: "afterJitter"
    case .beforeJitter: "beforeJitter"
    }
  }

  /// What follows the last wait of a schedule.
  package static func word(of value: BackoffCurve.AfterSchedule) -> String {
    switch value {
    case .repeatLast: "repeatLast"
    case .stop: "stop"
    }
  }

  /// Whether `Retry-After` counts.
  package static func word(isRespected: Bool) -> String { isRespected ? "respect" : "ignore" }

  // The words with their values, for reading.

  package static let networks = [NetworkRetry.always, .whenNotSent, .never].map { (word: word(of: $0), value: $0) }
  package static let lastAttempts = DeadlineRule.LastAttempt.allCases.map { (word: word(of: $0), value: $0) }
  package static let beyond = RetryAfterRule.Beyond.allCases.map { (word: word(of: $0), value: $0) }
  package static let trips = [TripBehavior.wait, .fail].map { (word: word(of: $0), value: $0) }
  package static let caps = [CapMode.keepingSpread, .afterJitter, .beforeJitter].map {
    (word: word(of: $0), value: $0)
  }
  package static let ends = [BackoffCurve.AfterSchedule.repeatLast, .stop].map { (word: word(of: $0), value: $0) }
  package static let respects = [true, false].map { (word: word(isRespected: $0), value: $0) }

  /// Every ``strategy(of:)``.
  package static let strategies = [
    "exponential", "constant", "linear", "polynomial", "fibonacci", "power", "doublingsThenLinear", "schedule",
    "decorrelated", "decorrelatedSmooth",
  ]
  /// Every ``name(of:)``.
  package static let jitters = ["none", "full", "equal", "proportional", "additive", "additivePerRetry"]

  /// The value of a known word.
  package static func value<Value>(of word: String, in words: [(word: String, value: Value)]) -> Value {
    words.first { $0.word == word }?.value ?? words[0].value
  }

  /// The word for a curve.
  package static func strategy(of curve: BackoffCurve) -> String {
    switch curve {
    case .constant: "constant"
    case .linear: "linear"
    case .exponential: "exponential"
    case .polynomial: "polynomial"
    case .fibonacci: "fibonacci"
    case .power: "power"
    case .doublingsThenLinear: "doublingsThenLinear"
    case .schedule: "schedule"
    case .decorrelated: "decorrelated"
    case .decorrelatedSmooth: "decorrelatedSmooth"
    }
  }

  /// Whether a curve takes no jitter, being random itself.
  package static func isRandom(_ curve: BackoffCurve) -> Bool {
    switch curve {
    case .decorrelated, .decorrelatedSmooth: true
    default: false
    }
  }

  /// The word for a jitter.
  package static func name(of jitter: Jitter) -> String {
    switch jitter {
    case .none: "none"
    case .full: "full"
    case .equal: "equal"
    case .proportional: "proportional"
    case .additive: "additive"
    case .additivePerRetry: "additivePerRetry"
    }
  }

  /// `503`, or `500-599`.
  package static func text(_ range: ClosedRange<Int>) -> String {
    range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
  }

  /// The statuses that may be named. RFC 9110 (§15) defines those up to 599, and a target may send any three digits.
  package static let statuses = 100...999

  /// Reads `503` or `500-599`; nil for what is not one of ``statuses``.
  package static func statusRange(_ text: String) -> ClosedRange<Int>? {
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.allSatisfy({ $0.utf8.count == 3 }), let first = Int(parts[0]), let last = Int(parts[parts.count - 1]),
      statuses.contains(first), (first...statuses.upperBound).contains(last)
    else { return nil }
    return first...last
  }
}
