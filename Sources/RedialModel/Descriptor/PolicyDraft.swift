internal import RedialCore
internal import RedialJSON
internal import RedialText

/// A policy while it is being read: only the client's values.
///
/// A member that the client omits keeps its default, whatever the others are. The default conditions for a retry depend
/// on whether the request may be repeated, which may come later in the text than the policy.
struct PolicyDraft {
  private var policy = RetryPolicy.service
  private var network: NetworkRetry?
  private var statuses: StatusSet?
  private var statusesWithRetryAfter: StatusSet?
  /// Whether its text has a member that no client may give any more.
  private(set) var isOutdated = false

  enum Member: String, CaseIterable {
    case maxAttempts, deadline, lastAttempt, minAttemptTime, attemptTimeout, backoff, retryOn, stopOn, retryAfter,
      onTrip
  }

  enum RetryOn: String, CaseIterable { case network, statuses, statusesWithRetryAfter }

  static let stopOnNames = ["statuses"]
  enum RetryAfter: String, CaseIterable { case mode, max, beyond, spread, statuses }

  static let attempts = 1...1000
  /// The shares by which the target's wait may be lengthened.
  static let spreads = 0...1
  /// The maximum length of a list of statuses.
  static let mostStatuses = 100

  /// The members that builds from before the first release have stored, and what they are called now; nil for one that has
  /// gone, because it had only one value.
  static let earlierNames: [String: String?] = ["minimumAttemptTime": "minAttemptTime", "onExhausted": nil]

  private static let names = Member.allCases.map(\.rawValue)
  private static let members = Members(names, withNull: ["maxAttempts"])
  private static let storedMembers = Members(names + earlierNames.keys, withNull: ["maxAttempts"])

  /// The policy, completed with the defaults for a request that may be repeated or not.
  func finished(mayRepeat: Bool) -> RetryPolicy {
    var policy = policy
    let defaults: RetryConditions = mayRepeat ? .idempotent : .nonIdempotent
    policy.retryOn = RetryConditions(
      network: network ?? defaults.network, statuses: statuses ?? defaults.statuses,
      statusesWithRetryAfter: statusesWithRetryAfter ?? defaults.statusesWithRetryAfter)
    return policy
  }

  mutating func read(from reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/policy", "must be an object") else { return }
    try reader.json.beginObject()
    var members = reader.limits.isAccepted ? Self.storedMembers : Self.members
    while let key = try reader.nextMember(&members, of: "policy", at: "/policy") {
      let earlier = Self.earlierNames[key]
      if earlier != nil { isOutdated = true }
      if let member = Member(rawValue: (earlier ?? key) ?? "") {
        try readMember(member, &reader)
      } else {
        _ = try reader.json.skipValue()
      }
    }
  }

  private mutating func readMember(_ member: Member, _ reader: inout DescriptorReader) throws(JSONError) {
    switch member {
    case .maxAttempts:
      if try reader.json.peek() == .null {
        _ = try reader.json.skipValue()
        policy.maxAttempts = RetryPolicy.unlimited
      } else if let value = try reader.integer("/policy/maxAttempts", in: Self.attempts) {
        policy.maxAttempts = value
      }
    case .deadline:
      if let value = try reader.duration("/policy/deadline", in: .milliseconds(1)...BackoffParts.longest) {
        policy.deadline = value
      }
    case .attemptTimeout:
      if let value = try reader.duration("/policy/attemptTimeout", in: .milliseconds(1)...Duration.seconds(3600)) {
        policy.attemptTimeout = value
      }
    case .lastAttempt:
      if let value = try Self.value(in: PolicyVocabulary.lastAttempts, "/policy/lastAttempt", &reader) {
        policy.deadlineRule.lastAttempt = value
      }
    case .minAttemptTime:
      if let value = try reader.duration("/policy/minAttemptTime", in: .zero...Duration.seconds(3600)) {
        policy.deadlineRule.minimumAttemptTime = value
      }
    case .backoff:
      var draft = BackoffDraft()
      if let backoff = try draft.read(from: &reader) { policy.backoff = backoff }
    case .retryOn: try readRetryOn(&reader)
    case .stopOn: try readStopOn(&reader)
    case .retryAfter: try readRetryAfter(&reader)
    case .onTrip:
      if let value = try Self.value(in: PolicyVocabulary.trips, "/policy/onTrip", &reader) { policy.onTrip = value }
    }
  }

  private mutating func readRetryOn(_ reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/policy/retryOn", "must be an object") else { return }
    try reader.json.beginObject()
    var members = Members(of: RetryOn.self)
    while let member = try reader.nextMember(
      &members, as: RetryOn.self, of: "policy/retryOn", at: "/policy/retryOn")
    {
      switch member {
      case .network: network = try Self.network(&reader)
      case .statuses: statuses = try Self.statuses("/policy/retryOn/statuses", &reader)
      case .statusesWithRetryAfter:
        statusesWithRetryAfter = try Self.statuses("/policy/retryOn/statusesWithRetryAfter", &reader)
      }
    }
  }

  private mutating func readStopOn(_ reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/policy/stopOn", "must be an object") else { return }
    try reader.json.beginObject()
    var members = Members(Self.stopOnNames)
    while try reader.nextMember(&members, of: "policy/stopOn", at: "/policy/stopOn") != nil {
      if let value = try Self.statuses("/policy/stopOn/statuses", &reader) { policy.stopOn = value }
    }
  }

  private mutating func readRetryAfter(_ reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/policy/retryAfter", "must be an object") else { return }
    try reader.json.beginObject()
    var members = Members(of: RetryAfter.self)
    while let member = try reader.nextMember(
      &members, as: RetryAfter.self, of: "policy/retryAfter", at: "/policy/retryAfter")
    {
      switch member {
      case .mode:
        if let value = try Self.value(in: PolicyVocabulary.respects, "/policy/retryAfter/mode", &reader) {
          policy.retryAfter.isRespected = value
        }
      case .max:
        if let value = try reader.duration("/policy/retryAfter/max", in: .zero...BackoffParts.longest) {
          policy.retryAfter.maximum = value
        }
      case .beyond:
        if let value = try Self.value(in: PolicyVocabulary.beyond, "/policy/retryAfter/beyond", &reader) {
          policy.retryAfter.beyond = value
        }
      case .statuses:
        if let value = try Self.statuses("/policy/retryAfter/statuses", &reader) { policy.retryAfter.statuses = value }
      case .spread:
        if let value = try reader.number("/policy/retryAfter/spread", in: Self.spreads) {
          policy.retryAfter.spread = value
        }
      }
    }
  }

  /// `true`, `false`, or a more precise word.
  private static func network(_ reader: inout DescriptorReader) throws(JSONError) -> NetworkRetry? {
    let pointer = "/policy/retryOn/network"
    if try reader.json.peek() == .bool { return try reader.json.bool() ? .always : .never }
    return try value(in: PolicyVocabulary.networks, pointer, &reader)
  }

  private static func statuses(_ pointer: String, _ reader: inout DescriptorReader) throws(JSONError) -> StatusSet? {
    guard try reader.expect(.array, pointer, "must be an array such as [\"408\", \"500-599\"]") else { return nil }
    var ranges: [ClosedRange<Int>] = []
    try reader.json.beginArray()
    while try reader.json.nextElement() {
      func element() -> String { "\(pointer)/\(ranges.count)" }
      let text = try reader.json.peek() == .number ? "\(try reader.json.integer())" : try reader.string(element())
      let range = text.flatMap(PolicyVocabulary.statusRange)
      if range == nil {
        reader.fault(element(), "must be a status from 100 to 999 or a range such as \"500-599\"")
      }
      ranges.append(range ?? 100...100)
    }
    if ranges.count > mostStatuses { reader.fault(pointer, "has more than \(mostStatuses) elements") }
    return StatusSet(ranges)
  }

  /// The value of a word that is one of these; nil, and a fault reported, for another.
  private static func value<Value>(
    in words: [(word: String, value: Value)], _ pointer: String, _ reader: inout DescriptorReader
  ) throws(JSONError) -> Value? {
    try word(of: words.map(\.word), pointer, &reader).map { PolicyVocabulary.value(of: $0, in: words) }
  }

  static func word(
    of words: [String], _ pointer: String, _ reader: inout DescriptorReader
  ) throws(JSONError) -> String? {
    guard let word = try reader.string(pointer) else { return nil }
    if words.contains(word) { return word }
    reader.fault(pointer, "must be \(words.joined(separator: " or "))")
    return nil
  }
}
