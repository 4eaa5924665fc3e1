internal import RedialCore
internal import RedialJSON
internal import RedialText

/// A backoff while it is being read.
struct BackoffDraft {
  private typealias Member = BackoffParts.Member

  private static let pointer = "/policy/backoff"

  private static let members = Member.allCases.map(\.stringValue)
  private static let pointers = members.map { "\(pointer)/\($0)" }

  private var parts = BackoffParts()

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
    guard isSound else { return nil }
    return parts.backoff { reader.fault(Self.pointers[$0.member.rawValue], $0.reason) }
  }

  private mutating func read(_ member: Member, _ reader: inout DescriptorReader) throws(JSONError) -> Bool {
    let at = Self.pointers[member.rawValue]
    switch member {
    case .strategy: parts.strategy = try PolicyDraft.word(of: PolicyVocabulary.strategies, at, &reader)
    case .jitter: parts.jitter = try PolicyDraft.word(of: PolicyVocabulary.jitters, at, &reader)
    case .cap: parts.cap = try PolicyDraft.word(of: PolicyVocabulary.caps.map(\.word), at, &reader)
    case .then: parts.then = try PolicyDraft.word(of: PolicyVocabulary.ends.map(\.word), at, &reader)
    case .initial: parts.initial = try reader.duration(at, in: BackoffParts.durations)
    case .increment: parts.increment = try reader.duration(at, in: BackoffParts.durations)
    case .offset: parts.offset = try reader.duration(at, in: BackoffParts.durations)
    case .spread: parts.spread = try reader.duration(at, in: BackoffParts.durations)
    case .max: parts.max = try reader.duration(at, in: BackoffParts.maxima)
    case .multiplier: parts.multiplier = try reader.number(at, in: BackoffParts.multipliers)
    case .exponent: parts.exponent = try reader.number(at, in: BackoffParts.exponents)
    case .factor: parts.factor = try reader.number(at, in: BackoffParts.factors)
    case .first: parts.first = try reader.integer(at, in: BackoffParts.firsts)
    case .doublings: parts.doublings = try reader.integer(at, in: BackoffParts.doublingCounts)
    case .schedule: parts.schedule = try Self.waits(at, &reader)
    }
    return parts.isGiven(member)
  }

  private static func waits(_ pointer: String, _ reader: inout DescriptorReader) throws(JSONError) -> [Duration]? {
    guard try reader.expect(.array, pointer, "must be an array such as [\"5s\", \"5m\"]") else { return nil }
    var waits: [Duration] = []
    var isSound = true
    try reader.json.beginArray()
    while try reader.json.nextElement() {
      if let wait = try reader.duration("\(pointer)/\(waits.count)", in: BackoffParts.durations) {
        waits.append(wait)
      } else {
        isSound = false
      }
    }
    guard BackoffParts.scheduleLengths.contains(waits.count) || !isSound else {
      reader.fault(pointer, "must have 1 to 100 elements")
      return nil
    }
    return isSound ? waits : nil
  }
}
