package import RedialCore

/// The members of a backoff in the words of the API, as they were read: which of them go together, and what they mean. The
/// strategy, which may come last, decides that.
package struct BackoffParts {
  /// A member, by its name.
  package enum Member: Int, CaseIterable, CodingKey {
    case strategy, initial, max, multiplier, increment, exponent, offset, first, doublings, schedule, then, jitter,
      factor
    case spread, cap
  }

  /// A member that is not allowed, and why.
  package typealias Fault = (member: Member, reason: String)

  /// The longest duration that the API knows.
  package static let longest = Duration.seconds(366 * 86_400)
  /// What the members may be.
  package static let durations = Duration.zero...longest
  package static let maxima = Duration.milliseconds(1)...longest
  package static let multipliers = 1...100
  package static let exponents = 0...10
  package static let factors = 0...1
  package static let firsts = 0...1000
  package static let doublingCounts = 0...100
  package static let scheduleLengths = 1...100

  /// What the members are if they are left out.
  package enum Usual {
    /// Without a schedule.
    package static let strategy = "exponential"
    package static let initial = Duration.milliseconds(500)
    package static let multiplier = 2.0
    package static let exponent = 2.0
    package static let offset = Duration.zero
    package static let first = 1
    package static let doublings = 16
    package static let end = BackoffCurve.AfterSchedule.repeatLast
    package static let jitter = "proportional"
    package static let factor = 0.5
    package static let spread = Duration.seconds(1)
    package static let cap = CapMode.keepingSpread
  }

  // Plain fields: the service uses this type for every call that it accepts or claims, and dictionaries would cost it a
  // microsecond.
  package var strategy: String?
  package var jitter: String?
  package var cap: String?
  package var then: String?
  package var initial: Duration?
  package var increment: Duration?
  package var offset: Duration?
  package var spread: Duration?
  package var max: Duration?
  package var multiplier: Double?
  package var exponent: Double?
  package var factor: Double?
  package var first: Int?
  package var doublings: Int?
  package var schedule: [Duration]?

  /// No member.
  package init() {}

  /// Whether a member is allowed for a strategy.
  private static func goes(_ member: Member, with strategy: String) -> Bool {
    switch member {
    case .strategy, .max, .cap: true
    case .jitter, .factor, .spread: !strategy.hasPrefix("decorrelated")
    case .initial: strategy != "schedule"
    case .increment: strategy == "linear"
    case .exponent, .offset, .first: strategy == "polynomial"
    case .doublings: strategy == "doublingsThenLinear"
    case .schedule, .then: strategy == "schedule"
    case .multiplier: strategy == "exponential"
    }
  }

  /// The backoff; nil if members do not go together, each of which is reported.
  ///
  /// - Parameter report: Called with each member that is not allowed.
  package func backoff(_ report: (Fault) -> Void) -> Backoff? {
    let strategy = strategy ?? (schedule == nil ? Usual.strategy : "schedule")
    var isSound = true
    for member in Member.allCases where isGiven(member) {
      let reason: String
      if !Self.goes(member, with: strategy) {
        reason = "does not go with the \(strategy) strategy"
      } else if member == .factor, let jitter, jitter != "proportional" {
        reason = "goes with proportional jitter only"
      } else if member == .spread, jitter?.hasPrefix("additive") != true {
        reason = "goes with additive jitter only"
      } else {
        continue
      }
      report((member, reason))
      isSound = false
    }
    if strategy == "schedule", schedule == nil {
      report((.schedule, "is required with the schedule strategy"))
      isSound = false
    }
    // A schedule itself limits its waits.
    let maximum = max ?? (strategy == "schedule" ? Self.longest : RetryPolicy.service.backoff.maximum)
    if strategy != "schedule", (initial ?? Usual.initial) > maximum {
      report((.initial, "is longer than the longest wait, which max sets"))
      isSound = false
    }
    guard isSound else { return nil }
    return Backoff(
      curve(strategy), maximum: maximum, jitter: strategy.hasPrefix("decorrelated") ? .none : spreading,
      cap: cap.map { PolicyVocabulary.value(of: $0, in: PolicyVocabulary.caps) } ?? Usual.cap)
  }

  /// Whether a member was read.
  package func isGiven(_ member: Member) -> Bool {
    switch member {
    case .strategy: strategy != nil
    case .jitter: jitter != nil
    case .cap: cap != nil
    case .then: then != nil
    case .initial: initial != nil
    case .increment: increment != nil
    case .offset: offset != nil
    case .spread: spread != nil
    case .max: max != nil
    case .multiplier: multiplier != nil
    case .exponent: exponent != nil
    case .factor: factor != nil
    case .first: first != nil
    case .doublings: doublings != nil
    case .schedule: schedule != nil
    }
  }

  private func curve(_ strategy: String) -> BackoffCurve {
    let initial = initial ?? Usual.initial
    return switch strategy {
    case "constant": .constant(initial)
    case "linear": .linear(initial: initial, increment: increment ?? initial)
    case "polynomial":
      .polynomial(
        unit: initial, exponent: exponent ?? Usual.exponent, offset: offset ?? Usual.offset, first: first ?? Usual.first
      )
    case "fibonacci": .fibonacci(initial: initial)
    case "power": .power(base: initial)
    case "doublingsThenLinear": .doublingsThenLinear(initial: initial, doublings: doublings ?? Usual.doublings)
    case "schedule":
      .schedule(
        schedule ?? [], then: then.map { PolicyVocabulary.value(of: $0, in: PolicyVocabulary.ends) } ?? Usual.end)
    case "decorrelated": .decorrelated(base: initial)
    case "decorrelatedSmooth": .decorrelatedSmooth(median: initial)
    default: .exponential(initial: initial, multiplier: multiplier ?? Usual.multiplier)
    }
  }

  private var spreading: Jitter {
    switch jitter {
    case "none": .none
    case "full": .full
    case "equal": .equal
    case "additive": .additive(spread ?? Usual.spread)
    case "additivePerRetry": .additivePerRetry(spread ?? Usual.spread)
    default: .proportional(factor: factor ?? Usual.factor)
    }
  }
}
