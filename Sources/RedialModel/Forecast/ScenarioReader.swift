internal import RedialCore
internal import RedialJSON

extension OutageScenario {
  /// Reads a scenario from JSON.
  ///
  /// - Parameter policies: The policies that it may name.
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for everything else, which names each wrong
  ///   member.
  public static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, policies: NamedPolicies? = nil, in namespace: Namespace = .default
  ) throws(Problem) -> OutageScenario {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: .naming(policies, in: namespace))
    var draft = ScenarioDraft()
    try reader.readWhole { reader throws(JSONError) in try draft.read(from: &reader) }
    let scenario = draft.finished(&reader)
    try reader.refuseFaults(.invalidScenario)
    return scenario
  }
}

/// A scenario while it is being read.
struct ScenarioDraft {
  private(set) var mayRepeat = true
  private(set) var rate = 10.0
  private var duration: Duration?
  private(set) var target = OutageScenario.Target()
  private(set) var outage = OutageScenario.Outage(from: .seconds(60), to: .seconds(180))
  private(set) var hasBreaker = true
  private(set) var concurrency = 64
  private(set) var slowStart = Duration.seconds(10)
  private(set) var pace = Pace.adaptive
  private(set) var newCallShare = TargetSettings.newCallShareByDefault
  private(set) var seed: UInt64 = 1

  static let names = [
    "policy", "idempotent", "rate", "duration", "target", "outage", "breaker", "concurrency", "slowStart", "pace",
    "newCallShare", "seed",
  ]
  static let targetNames = ["capacity", "latency"]
  static let outageNames = ["from", "to", "errorRate", "failure", "latency"]
  static let rates = 0.001...100_000
  static let concurrencies = 1...100_000
  static let capacities = 1...1_000_000
  static let errorRates = 0...1
  static let failures = 300...599
  private static let longest = Duration.seconds(7 * 86_400)

  /// The scenario. By default the forecast continues after the outage until most of its effects have ended.
  func finished(_ reader: inout DescriptorReader) -> OutageScenario {
    let outageLength = outage.to - outage.from
    let duration = duration ?? min(Self.longest, outage.to + max(.seconds(300), outageLength * 2))
    if outage.to < outage.from { reader.fault("/outage/to", "must not be before from") }
    if outage.from > duration { reader.fault("/outage/from", "must not be after the duration of the forecast") }
    if rate * duration.inSeconds > OutageScenario.mostCalls {
      let calls = Int((rate * duration.inSeconds).rounded())
      reader.fault(
        "/rate", "makes \(calls) calls in that time; at most \(Int(OutageScenario.mostCalls)) are simulated")
    }
    return OutageScenario(
      policy: reader.policy.finished(mayRepeat: mayRepeat).policy, rate: rate,
      duration: duration,
      target: target, outage: outage, breaker: hasBreaker ? .service : nil, concurrency: concurrency,
      slowStart: slowStart, pace: pace, newCallShare: newCallShare, seed: seed)
  }

  mutating func read(from reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "", "must be a JSON object such as {\"rate\": 20, \"outage\": {\"to\": \"5m\"}}")
    else { return }
    try reader.json.beginObject()
    var members = Members(Self.names)
    while let key = try reader.nextMember(&members, of: "a scenario", at: "") {
      switch key {
      case "policy": try reader.readPolicy()
      case "idempotent": mayRepeat = try reader.bool("/idempotent") ?? mayRepeat
      case "rate":
        if let value = try reader.number("/rate") {
          if Self.rates.contains(value) {
            rate = value
          } else {
            reader.fault("/rate", "must be from 0.001 to 100000")
          }
        }
      case "duration": duration = try reader.duration("/duration", in: .seconds(1)...Self.longest)
      case "target": try readTarget(&reader)
      case "outage": try readOutage(&reader)
      case "breaker": hasBreaker = try reader.bool("/breaker") ?? hasBreaker
      case "slowStart": slowStart = try reader.duration("/slowStart", in: .zero...Duration.seconds(3600)) ?? slowStart
      case "pace": pace = try reader.pace("/pace") ?? pace
      case "newCallShare": newCallShare = try reader.newCallShare("/newCallShare") ?? newCallShare
      case "concurrency": concurrency = try reader.integer("/concurrency", in: Self.concurrencies) ?? concurrency
      default: seed = try reader.integer("/seed", in: 0...Int.max).map { UInt64($0) } ?? seed
      }
    }
  }

  private mutating func readTarget(_ reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/target", "must be an object") else { return }
    try reader.json.beginObject()
    var members = Members(Self.targetNames)
    while let key = try reader.nextMember(&members, of: "a target", at: "/target") {
      if key == "capacity" {
        target.capacity = try reader.integer("/target/capacity", in: Self.capacities)
      } else if let latency = try reader.duration("/target/latency", in: .microseconds(1)...Duration.seconds(3600)) {
        target.latency = latency
      }
    }
  }

  private mutating func readOutage(_ reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/outage", "must be an object") else { return }
    try reader.json.beginObject()
    var members = Members(Self.outageNames)
    while let key = try reader.nextMember(&members, of: "an outage", at: "/outage") {
      switch key {
      case "from": outage.from = try reader.duration("/outage/from", in: .zero...Self.longest) ?? outage.from
      case "to": outage.to = try reader.duration("/outage/to", in: .zero...Self.longest) ?? outage.to
      case "errorRate":
        outage.errorRate = try reader.number("/outage/errorRate", in: Self.errorRates) ?? outage.errorRate
      case "failure": try readFailure(&reader)
      default: outage.latency = try reader.duration("/outage/latency", in: .microseconds(1)...Duration.seconds(3600))
      }
    }
  }

  /// `"refused"`, `"unanswered"`, or a status.
  private mutating func readFailure(_ reader: inout DescriptorReader) throws(JSONError) {
    let pointer = "/outage/failure"
    if try reader.json.peek() == .number {
      if let status = try reader.integer(pointer, in: Self.failures) { outage.failure = .status(status) }
      return
    }
    guard let word = try reader.string(pointer) else { return }
    switch word {
    case "refused": outage.failure = .refused
    case "unanswered": outage.failure = .unanswered
    default: reader.fault(pointer, "must be \"refused\", \"unanswered\", or a status from 300 to 599")
    }
  }
}
