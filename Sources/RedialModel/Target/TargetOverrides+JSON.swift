internal import RedialCore
public import RedialJSON

extension TargetOverrides {
  /// Reads the overrides for a target: one object whose members are all optional.
  ///
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for everything else, which names each member
  ///   at fault.
  public static func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(Problem) -> TargetOverrides {
    var overrides = TargetOverrides()
    try overrides.read(bytes, nullRemoves: false)
    return overrides
  }

  /// Reads what a store has: also what builds from before the first release wrote in other words.
  ///
  /// - Throws: Like ``read(_:)``.
  public static func read(stored bytes: UnsafeBufferPointer<UInt8>) throws(Problem) -> TargetOverrides {
    var overrides = TargetOverrides()
    try overrides.read(bytes, nullRemoves: false, limits: .unlimited)
    return overrides
  }

  /// Reads an object over these: a member that is left out stays.
  ///
  /// - Parameter nullRemoves: Whether null removes a member, and instead of an object all of them. Then what is read is a
  ///   JSON Merge Patch, and the result may be one that ``read(_:)`` refuses.
  mutating func read(
    _ bytes: UnsafeBufferPointer<UInt8>, nullRemoves: Bool, limits: CallDescriptor.Limits = CallDescriptor.Limits()
  ) throws(Problem) {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: limits)
    reader.nullRemoves = nullRemoves
    try reader.readWhole { reader throws(JSONError) in
      if try reader.expect(.object, "", "must be a JSON object such as {\"maxInFlight\": 10}") {
        try readMembers(&reader)
      } else {
        self = TargetOverrides()
      }
    }
    try reader.refuseFaults(.invalidTargetSettings)
  }

  private mutating func readMembers(_ reader: inout DescriptorReader) throws(JSONError) {
    try reader.json.beginObject()
    var members = Members(Self.names)
    while let key = try reader.nextMember(&members, of: "a target's settings", at: "") {
      switch key {
      case "breaker": try readBreaker(&reader)
      case "maxInFlight": maxInFlight = try reader.integer("/maxInFlight", in: Self.inFlightBounds)
      case "rate": try readRate(&reader)
      case "retryBudget": try readRetryBudget(&reader)
      case "pace": pace = try reader.pace("/pace")
      case "newCallShare": newCallShare = try reader.newCallShare("/newCallShare")
      case "sensitive": isSensitive = try reader.bool("/sensitive")
      case "redact": redact = try reader.json.null() ? nil : reader.pointers("/redact")
      case "tls": tls = try TargetTLS(&reader, over: tls ?? TargetTLS())
      case "credential": credential = try reader.name("/credential")
      case "sign": signing = try RequestSigning(at: "/sign", from: &reader)
      case "slowStart": slowStart = try reader.duration("/slowStart", in: .zero...Self.longest)
      default:
        attemptTimeout = try reader.duration(
          "/attemptTimeout", in: .milliseconds(1)...TargetSettings.longestAttempt)
      }
    }
  }

  static let names = [
    "breaker", "maxInFlight", "rate", "retryBudget", "pace", "newCallShare", "slowStart", "attemptTimeout", "sensitive",
    "redact", "tls", "credential", "sign",
  ]
  static let breakerNames = [
    "consecutiveFailures", "significance", "failureTime", "failureRate", "window", "minCalls", "openInterval",
    "maxOpenInterval", "probes",
  ]
  /// What builds from before the first release have called `minCalls`.
  private static let earlierMinCalls = "minimumCalls"
  static let rateNames = ["perSecond", "burst"]
  static let retryBudgetNames = ["share", "minPerSecond"]

  static let inFlightBounds = 1...100_000
  static let failureCounts = 0...1_000_000
  static let callCounts = 1...1_000_000
  static let probeCounts = 1...CircuitBreakerSettings.mostProbes
  /// The significance, the failure rate, and the share of retries.
  static let shares = 0...1
  static let rates = 0.001...1_000_000
  static let bursts = 1...1_000_000
  static let retryRates = 1...1_000_000
  private static let longest = Duration.seconds(86_400)
  private static let shortest = Duration.milliseconds(1)

  private mutating func readBreaker(_ reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/breaker", "must be an object") else {
      (consecutiveFailures, significance, failureTime, failureRate, window) = (nil, nil, nil, nil, nil)
      (minimumCalls, openInterval, maxOpenInterval, probes) = (nil, nil, nil, nil)
      return
    }
    try reader.json.beginObject()
    var members = Members(Self.breakerNames + (reader.limits.isAccepted ? [Self.earlierMinCalls] : []))
    while let key = try reader.nextMember(&members, of: "breaker", at: "/breaker") {
      let pointer = "/breaker/\(key)"
      switch key {
      case "consecutiveFailures": consecutiveFailures = try reader.integer(pointer, in: Self.failureCounts)
      case "significance": significance = try reader.number(pointer, in: Self.shares)
      case "failureTime": failureTime = try reader.duration(pointer, in: .zero...Self.longest)
      case "failureRate": failureRate = try reader.number(pointer, in: Self.shares)
      case "window": window = try reader.duration(pointer, in: .milliseconds(10)...Self.longest)
      case "minCalls", Self.earlierMinCalls: minimumCalls = try reader.integer(pointer, in: Self.callCounts)
      case "openInterval": openInterval = try reader.duration(pointer, in: Self.shortest...Self.longest)
      case "maxOpenInterval": maxOpenInterval = try reader.duration(pointer, in: Self.shortest...Self.longest)
      default: probes = try reader.integer(pointer, in: Self.probeCounts)
      }
    }
  }

  private mutating func readRate(_ reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/rate", "must be an object") else {
      (ratePerSecond, rateBurst) = (nil, nil)
      return
    }
    try reader.json.beginObject()
    var members = Members(Self.rateNames, withNull: ["perSecond"])
    while let key = try reader.nextMember(&members, of: "rate", at: "/rate") {
      if key == "burst" {
        rateBurst = try reader.integer("/rate/burst", in: Self.bursts)
      } else {
        ratePerSecond = try reader.formerlyNone() ? 0 : reader.limit("/rate/perSecond", in: Self.rates)
      }
    }
  }

  private mutating func readRetryBudget(_ reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/retryBudget", "must be an object") else {
      (retryShare, retriesPerSecond) = (nil, nil)
      return
    }
    try reader.json.beginObject()
    var members = Members(Self.retryBudgetNames, withNull: ["minPerSecond"])
    while let key = try reader.nextMember(&members, of: "retryBudget", at: "/retryBudget") {
      if key == "share" {
        retryShare = try reader.number("/retryBudget/share", in: Self.shares)
      } else {
        let isNone = try reader.json.null() ? true : reader.formerlyNone()
        retriesPerSecond = try isNone ? 0 : reader.integer("/retryBudget/minPerSecond", in: Self.retryRates)
      }
    }
  }

  /// The overrides as one JSON object, which ``read(_:)`` reads.
  public var json: [UInt8] {
    var writer = JSONWriter()
    write(hidingSecrets: false, to: &writer)
    return writer.bytes
  }

  /// Writes the overrides as one object.
  ///
  /// - Parameter hidingSecrets: Whether people read it.
  public func write(hidingSecrets: Bool, to writer: inout JSONWriter) {
    writer.beginObject()
    if consecutiveFailures != nil || significance != nil || failureTime != nil || failureRate != nil || window != nil
      || minimumCalls != nil || openInterval != nil
      || maxOpenInterval != nil || probes != nil
    {
      writeBreaker(to: &writer)
    }
    if let maxInFlight { writer.field("maxInFlight", maxInFlight) }
    if ratePerSecond != nil || rateBurst != nil {
      writer.key("rate")
      writer.beginObject()
      if let ratePerSecond { writer.field("perSecond", limit: ratePerSecond) }
      if let rateBurst { writer.field("burst", rateBurst) }
      writer.endObject()
    }
    if retryShare != nil || retriesPerSecond != nil {
      writer.key("retryBudget")
      writer.beginObject()
      if let retryShare { writer.field("share", retryShare) }
      if let retriesPerSecond { writer.field("minPerSecond", limit: Double(retriesPerSecond)) }
      writer.endObject()
    }
    if let pace { writer.field("pace", pace.rawValue) }
    if let newCallShare { writer.field("newCallShare", newCallShare) }
    if let slowStart { writer.field("slowStart", slowStart) }
    if let attemptTimeout { writer.field("attemptTimeout", attemptTimeout) }
    if let isSensitive { writer.field("sensitive", isSensitive) }
    if let redact { redact.write("redact", to: &writer) }
    if let tls {
      writer.key("tls")
      tls.write(to: &writer)
    }
    if let credential { writer.field("credential", credential) }
    if let signing {
      writer.key("sign")
      signing.write(hidingSecrets: hidingSecrets, to: &writer)
    }
    writer.endObject()
  }

  private func writeBreaker(to writer: inout JSONWriter) {
    writer.key("breaker")
    writer.beginObject()
    if let consecutiveFailures { writer.field("consecutiveFailures", consecutiveFailures) }
    if let significance { writer.field("significance", significance) }
    if let failureTime { writer.field("failureTime", failureTime) }
    if let failureRate { writer.field("failureRate", failureRate) }
    if let window { writer.field("window", window) }
    if let minimumCalls { writer.field("minCalls", minimumCalls) }
    if let openInterval { writer.field("openInterval", openInterval) }
    if let maxOpenInterval { writer.field("maxOpenInterval", maxOpenInterval) }
    if let probes { writer.field("probes", probes) }
    writer.endObject()
  }
}

extension DescriptorReader {
  /// Passes a stored 0, which has meant no limit before that was null; false for another value, which stays.
  fileprivate mutating func formerlyNone() throws(JSONError) -> Bool {
    guard limits.isAccepted, try json.peek() == .number else { return false }
    var ahead = json
    guard try ahead.double() == 0 else { return false }
    json = ahead
    return true
  }
}

extension JSONWriter {
  /// Writes a limit, of which 0 is none: null.
  fileprivate mutating func field(_ name: StaticString, limit: Double) {
    guard limit != 0 else {
      key(name)
      return null()
    }
    if let whole = Int(exactly: limit) { field(name, whole) } else { field(name, limit) }
  }
}
