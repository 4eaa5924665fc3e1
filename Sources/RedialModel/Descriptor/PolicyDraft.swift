internal import RedialCore

/// A policy while it is being read: what the client said, and nothing else yet.
///
/// What is worth a retry by default depends on the method, which may come later
/// in the text than the policy does.
struct PolicyDraft {
  private var policy = RetryPolicy()
  private var network: NetworkRetry?
  private var statuses: StatusSet?
  private var strategy: String?
  private var multiplier: Double?
  private var jitter: String?
  private var factor: Double?

  private static let members = [
    "maxAttempts", "deadline", "attemptTimeout", "backoff", "retryOn", "stopOn", "retryAfter", "onTrip", "onExhausted",
  ]
  private static let backoffMembers = ["strategy", "initial", "max", "multiplier", "jitter", "factor"]
  private static let longest = Duration.seconds(366 * 86_400)

  /// The policy, its gaps filled for a request that may, or may not, be executed more than once. A client that
  /// says what to retry on has thereby said that its request may be.
  func finished(repeatable: Bool) -> RetryPolicy {
    var policy = policy
    let saidSo = network != nil || statuses != nil
    let defaults: RetryConditions = repeatable || saidSo ? .idempotent : .nonIdempotent
    policy.retryOn = RetryConditions(network: network ?? defaults.network, statuses: statuses ?? defaults.statuses)
    return policy
  }

  mutating func read(from reader: inout DescriptorReader) throws(JSONError) {
    if try reader.json.peek() == .string {
      _ = try reader.json.string()
      return reader.fault("/policy", "names a stored policy, which this version does not have; give an object")
    }
    guard try reader.expect(.object, "/policy", "must be an object") else { return }
    try reader.json.beginObject()
    var members = Members(Self.members)
    while let key = try reader.nextMember(&members, of: "policy", at: "/policy") { try readMember(key, &reader) }
  }

  private mutating func readMember(_ key: String, _ reader: inout DescriptorReader) throws(JSONError) {
    switch key {
    case "maxAttempts":
      if let value = try reader.integer("/policy/maxAttempts", in: 1...1000) { policy.maxAttempts = value }
    case "deadline":
      if let value = try reader.duration("/policy/deadline", in: .milliseconds(1)...Self.longest) {
        policy.deadline = value
      }
    case "attemptTimeout":
      if let value = try reader.duration("/policy/attemptTimeout", in: .milliseconds(1)...Duration.seconds(3600)) {
        policy.attemptTimeout = value
      }
    case "backoff": try readBackoff(&reader)
    case "retryOn": try readRetryOn(&reader)
    case "stopOn": try readStopOn(&reader)
    case "retryAfter": try readRetryAfter(&reader)
    case "onTrip":
      if let word = try Self.word(of: ["wait", "fail"], "/policy/onTrip", &reader) {
        policy.onTrip = word == "wait" ? .wait : .fail
      }
    case "onExhausted":
      _ = try Self.word(of: ["fail"], "/policy/onExhausted", &reader)
    default: break
    }
  }

  private mutating func readBackoff(_ reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/policy/backoff", "must be an object") else { return }
    try reader.json.beginObject()
    var members = Members(Self.backoffMembers)
    while let key = try reader.nextMember(&members, of: "policy/backoff", at: "/policy/backoff") {
      switch key {
      case "strategy": strategy = try Self.word(of: ["exponential", "constant"], "/policy/backoff/strategy", &reader)
      case "initial":
        if let value = try reader.duration("/policy/backoff/initial", in: .zero...Self.longest) {
          policy.backoff.initial = value
        }
      case "max":
        if let value = try reader.duration("/policy/backoff/max", in: .milliseconds(1)...Self.longest) {
          policy.backoff.maximum = value
        }
      case "multiplier": multiplier = try reader.number("/policy/backoff/multiplier", in: 1...100)
      case "jitter":
        jitter = try Self.word(of: ["none", "full", "equal", "proportional"], "/policy/backoff/jitter", &reader)
      case "factor": factor = try reader.number("/policy/backoff/factor", in: 0...1)
      default: break
      }
    }
    finishBackoff(&reader)
  }

  private mutating func finishBackoff(_ reader: inout DescriptorReader) {
    if strategy == "constant" {
      policy.backoff.multiplier = 1
      if multiplier != nil { reader.fault("/policy/backoff/multiplier", "does not go with the constant strategy") }
    } else if let multiplier {
      policy.backoff.multiplier = multiplier
    }
    switch jitter {
    case "none": policy.backoff.jitter = .none
    case "full": policy.backoff.jitter = .full
    case "equal": policy.backoff.jitter = .equal
    default: policy.backoff.jitter = .proportional(factor: factor ?? 0.5)
    }
    if factor != nil, let jitter, jitter != "proportional" {
      reader.fault("/policy/backoff/factor", "goes with proportional jitter only")
    }
    if policy.backoff.initial > policy.backoff.maximum {
      reader.fault("/policy/backoff/initial", "is longer than the longest wait, which max sets")
    }
  }

  private mutating func readRetryOn(_ reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/policy/retryOn", "must be an object") else { return }
    try reader.json.beginObject()
    var members = Members(["network", "statuses"])
    while let key = try reader.nextMember(&members, of: "policy/retryOn", at: "/policy/retryOn") {
      if key == "network" {
        network = try Self.network(&reader)
      } else {
        statuses = try Self.statuses("/policy/retryOn/statuses", &reader)
      }
    }
  }

  private mutating func readStopOn(_ reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/policy/stopOn", "must be an object") else { return }
    try reader.json.beginObject()
    var members = Members(["statuses"])
    while try reader.nextMember(&members, of: "policy/stopOn", at: "/policy/stopOn") != nil {
      if let value = try Self.statuses("/policy/stopOn/statuses", &reader) { policy.stopOn = value }
    }
  }

  private mutating func readRetryAfter(_ reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/policy/retryAfter", "must be an object") else { return }
    try reader.json.beginObject()
    var members = Members(["mode", "max"])
    while let key = try reader.nextMember(&members, of: "policy/retryAfter", at: "/policy/retryAfter") {
      if key == "mode" {
        if let word = try Self.word(of: ["respect", "ignore"], "/policy/retryAfter/mode", &reader) {
          policy.retryAfter.isRespected = word == "respect"
        }
      } else if let value = try reader.duration("/policy/retryAfter/max", in: .zero...Self.longest) {
        policy.retryAfter.maximum = value
      }
    }
  }

  /// `true`, `false`, or one of the words that say it more exactly.
  private static func network(_ reader: inout DescriptorReader) throws(JSONError) -> NetworkRetry? {
    let pointer = "/policy/retryOn/network"
    if try reader.json.peek() == .bool { return try reader.json.bool() ? .always : .never }
    switch try word(of: ["always", "notSent", "never"], pointer, &reader) {
    case "always": return .always
    case "notSent": return .whenNotSent
    case "never": return .never
    default: return nil
    }
  }

  private static func statuses(_ pointer: String, _ reader: inout DescriptorReader) throws(JSONError) -> StatusSet? {
    guard try reader.expect(.array, pointer, "must be an array such as [\"408\", \"500-599\"]") else { return nil }
    var ranges: [ClosedRange<Int>] = []
    try reader.json.beginArray()
    while try reader.json.nextElement() {
      func element() -> String { "\(pointer)/\(ranges.count)" }
      let text = try reader.json.peek() == .number ? "\(try reader.json.integer())" : try reader.string(element())
      let range = text.flatMap(Vocabulary.statusRange)
      if range == nil {
        reader.fault(element(), "must be a status from 100 to 599 or a range such as \"500-599\"")
      }
      ranges.append(range ?? 100...100)
    }
    if ranges.count > 100 { reader.fault(pointer, "has more than 100 elements") }
    return StatusSet(ranges)
  }

  private static func word(
    of words: [String], _ pointer: String, _ reader: inout DescriptorReader
  ) throws(JSONError) -> String? {
    guard let word = try reader.string(pointer) else { return nil }
    if words.contains(word) { return word }
    reader.fault(pointer, "must be \(words.joined(separator: " or "))")
    return nil
  }
}
