internal import RedialCore
internal import RedialJSON
internal import RedialText

/// A backoff while it is being read. The strategy, which may come last, decides which members are allowed.
struct BackoffDraft {
  private enum Member: Int, CaseIterable {
    case strategy, initial, max, multiplier, increment, exponent, offset, first, doublings, schedule, then, jitter,
      factor
    case spread, cap
  }

  private static let pointer = "/policy/backoff"

  private static let members = Member.allCases.map { "\($0)" }
  private static let pointers = members.map { "\(pointer)/\($0)" }

  // Plain fields: this type is used for every call that is accepted or claimed, and dictionaries would cost a
  // microsecond.
  private var strategy: String?
  private var jitter: String?
  private var cap: String?
  private var then: String?
  private var initial: Duration?
  private var increment: Duration?
  private var offset: Duration?
  private var spread: Duration?
  private var max: Duration?
  private var multiplier: Double?
  private var exponent: Double?
  private var factor: Double?
  private var first: Int?
  private var doublings: Int?
  private var schedule: [Duration]?

  /// The backoff that the next value describes; nil if it is wrong, which the reader has recorded.
  mutating func read(from reader: inout DescriptorReader) throws(JSONError) -> Backoff? {
    guard try reader.expect(.object, Self.pointer, "must be an object") else { return nil }
    try reader.json.beginObject()
    var members = Members(Self.members)
    var isSound = true
    while let key = try reader.nextMember(&members, of: "policy/backoff", at: Self.pointer) {
      guard let member = Self.members.firstIndex(of: key).flatMap(Member.init(rawValue:)) else { continue }
      if try !read(member, &reader) { isSound = false }
    }
    return isSound ? finished(&reader) : nil
  }

  private mutating func read(_ member: Member, _ reader: inout DescriptorReader) throws(JSONError) -> Bool {
    let at = Self.pointers[member.rawValue]
    switch member {
    case .strategy: strategy = try PolicyDraft.word(of: PolicyVocabulary.strategies, at, &reader)
    case .jitter: jitter = try PolicyDraft.word(of: PolicyVocabulary.jitters, at, &reader)
    case .cap: cap = try PolicyDraft.word(of: PolicyVocabulary.caps.map(\.word), at, &reader)
    case .then: then = try PolicyDraft.word(of: PolicyVocabulary.ends.map(\.word), at, &reader)
    case .initial: initial = try reader.duration(at, in: .zero...PolicyDraft.longest)
    case .increment: increment = try reader.duration(at, in: .zero...PolicyDraft.longest)
    case .offset: offset = try reader.duration(at, in: .zero...PolicyDraft.longest)
    case .spread: spread = try reader.duration(at, in: .zero...PolicyDraft.longest)
    case .max: max = try reader.duration(at, in: .milliseconds(1)...PolicyDraft.longest)
    case .multiplier: multiplier = try reader.number(at, in: 1...100)
    case .exponent: exponent = try reader.number(at, in: 0...10)
    case .factor: factor = try reader.number(at, in: 0...1)
    case .first: first = try reader.integer(at, in: 0...1000)
    case .doublings: doublings = try reader.integer(at, in: 0...100)
    case .schedule: schedule = try Self.waits(at, &reader)
    }
    return isGiven(member)
  }

  private static func waits(_ pointer: String, _ reader: inout DescriptorReader) throws(JSONError) -> [Duration]? {
    guard try reader.expect(.array, pointer, "must be an array such as [\"5s\", \"5m\"]") else { return nil }
    var waits: [Duration] = []
    var isSound = true
    try reader.json.beginArray()
    while try reader.json.nextElement() {
      if let wait = try reader.duration("\(pointer)/\(waits.count)", in: .zero...PolicyDraft.longest) {
        waits.append(wait)
      } else {
        isSound = false
      }
    }
    guard (1...100).contains(waits.count) || !isSound else {
      reader.fault(pointer, "must have 1 to 100 elements")
      return nil
    }
    return isSound ? waits : nil
  }

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

  private func finished(_ reader: inout DescriptorReader) -> Backoff? {
    let strategy = strategy ?? (schedule == nil ? "exponential" : "schedule")
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
      reader.fault(Self.pointers[member.rawValue], reason)
      isSound = false
    }
    if strategy == "schedule", schedule == nil {
      reader.fault("\(Self.pointer)/schedule", "is required with the schedule strategy")
      isSound = false
    }
    // A schedule itself limits its waits.
    let maximum = max ?? (strategy == "schedule" ? PolicyDraft.longest : RetryPolicy.service.backoff.maximum)
    if strategy != "schedule", (initial ?? .milliseconds(500)) > maximum {
      reader.fault("\(Self.pointer)/initial", "is longer than the longest wait, which max sets")
      isSound = false
    }
    guard isSound else { return nil }
    return Backoff(
      curve(strategy), maximum: maximum, jitter: strategy.hasPrefix("decorrelated") ? .none : spreading,
      cap: cap.map { PolicyVocabulary.value(of: $0, in: PolicyVocabulary.caps) } ?? .keepingSpread)
  }

  private func isGiven(_ member: Member) -> Bool {
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
    let initial = initial ?? .milliseconds(500)
    return switch strategy {
    case "constant": .constant(initial)
    case "linear": .linear(initial: initial, increment: increment ?? initial)
    case "polynomial":
      .polynomial(unit: initial, exponent: exponent ?? 2, offset: offset ?? .zero, first: first ?? 1)
    case "fibonacci": .fibonacci(initial: initial)
    case "power": .power(base: initial)
    case "doublingsThenLinear": .doublingsThenLinear(initial: initial, doublings: doublings ?? 16)
    case "schedule":
      .schedule(
        schedule ?? [], then: then.map { PolicyVocabulary.value(of: $0, in: PolicyVocabulary.ends) } ?? .repeatLast)
    case "decorrelated": .decorrelated(base: initial)
    case "decorrelatedSmooth": .decorrelatedSmooth(median: initial)
    default: .exponential(initial: initial, multiplier: multiplier ?? 2)
    }
  }

  private var spreading: Jitter {
    switch jitter {
    case "none": .none
    case "full": .full
    case "equal": .equal
    case "additive": .additive(spread ?? .seconds(1))
    case "additivePerRetry": .additivePerRetry(spread ?? .seconds(1))
    default: .proportional(factor: factor ?? 0.5)
    }
  }
}
