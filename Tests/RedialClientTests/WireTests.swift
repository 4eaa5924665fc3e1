import Foundation
@testable import RedialClient
import RedialModel
import Testing
import RedialText

@Suite("The client's JSON, as the service reads it")
struct WireTests {
  private static let base = OutgoingCall(loopback(1, "/a/b?c=d"))

  private static func read(_ call: OutgoingCall) throws -> CallDescriptor {
    let bytes = Array(try call.descriptor())
    return try bytes.withUnsafeBufferPointer { try CallDescriptor.read($0) }
  }

  private static func read(_ policy: RetryPolicy) throws -> RetryPolicy {
    var call = base
    call.policy = CallPolicy(policy)
    return try read(call).spec.policy
  }

  static let curves: [BackoffCurve] = [
    .constant(.seconds(2)), .constant(.zero), .linear(initial: .milliseconds(1500), increment: .microseconds(1)),
    .exponential(initial: .microseconds(12_182_494), multiplier: 12.182_493_960_703_473),
    .exponential(initial: .zero, multiplier: 1), .polynomial(unit: .seconds(1), exponent: 4),
    .polynomial(unit: .seconds(1), exponent: 0.1, offset: .seconds(15)), .fibonacci(initial: .milliseconds(7)),
    .power(base: .seconds(2)), .doublingsThenLinear(initial: .milliseconds(100), doublings: 3),
    .schedule([.seconds(5), .zero, .seconds(100 * 86_400), .microseconds(1_000_001)], then: .stop),
    .schedule([.seconds(1)], then: .repeatLast),
  ]
  static let jitters: [Jitter] = [
    .none, .full, .equal, .proportional(factor: 0.1), .proportional(factor: 0), .additive(.microseconds(999_999)),
    .additivePerRetry(.seconds(30)),
  ]

  @Test("every curve with every jitter and every cap is read as it was sent", arguments: curves, jitters)
  func backoffs(curve: BackoffCurve, jitter: Jitter) throws {
    for cap in CapMode.allCases {
      for maximum in [Duration.seconds(100), .seconds(366 * 86_400)] {
        let policy = RetryPolicy(backoff: Backoff(curve, maximum: maximum, jitter: jitter, cap: cap))
        #expect(try Self.read(policy) == policy.asRead)
      }
    }
  }

  @Test(
    "a curve that is random itself is read with its cap, and without a jitter",
    arguments: [BackoffCurve.decorrelated(base: .milliseconds(50)), .decorrelatedSmooth(median: .seconds(2))])
  func randomCurves(curve: BackoffCurve) throws {
    for cap in CapMode.allCases {
      let policy = RetryPolicy(backoff: Backoff(curve, jitter: .full, cap: cap))
      var expected = policy.asRead
      expected.backoff.jitter = .none
      #expect(try Self.read(policy) == expected)
      #expect(try Self.read(expected) == expected)
    }
  }

  static let options: [RetryPolicy] = [
    RetryPolicy(), RetryPolicy(maxAttempts: 1), RetryPolicy(maxAttempts: 1000), .service,
    RetryPolicy(maxAttempts: RetryPolicy.unlimited),
    RetryPolicy(deadline: .milliseconds(1)), RetryPolicy(deadline: .seconds(366 * 86_400)),
    RetryPolicy(deadlineRule: DeadlineRule(lastAttempt: .pullForward, minimumAttemptTime: .microseconds(1_500_001))),
    RetryPolicy(deadlineRule: DeadlineRule(minimumAttemptTime: .seconds(3600))),
    RetryPolicy(attemptTimeout: .milliseconds(1)), RetryPolicy(attemptTimeout: .seconds(3600)),
    RetryPolicy(retryOn: .nonIdempotent), RetryPolicy(retryOn: RetryConditions(network: .never, statuses: .none)),
    RetryPolicy(
      retryOn: RetryConditions(
        network: .always, statuses: StatusSet([100...999, 404...404]),
        statusesWithRetryAfter: StatusSet([413...413, 503...504]))),
    RetryPolicy(stopOn: .none), RetryPolicy(stopOn: StatusSet([400...499, 501...501])),
    RetryPolicy(retryAfter: RetryAfterRule(isRespected: false)),
    RetryPolicy(retryAfter: RetryAfterRule(maximum: .zero, beyond: .park)),
    RetryPolicy(retryAfter: RetryAfterRule(statuses: StatusSet([429...429, 500...599]))),
    RetryPolicy(retryAfter: RetryAfterRule(statuses: .none)),
    RetryPolicy(retryAfter: RetryAfterRule(maximum: .seconds(30), beyond: .clamp, spread: 0.25)),
    RetryPolicy(retryAfter: RetryAfterRule(maximum: .seconds(90_061), beyond: .stop)), RetryPolicy(onTrip: .fail),
  ]

  @Test("every option of a policy is read as it was sent", arguments: options)
  func policies(policy: RetryPolicy) throws {
    #expect(try Self.read(policy) == policy.asRead)
    var call = Self.base
    call.method = "POST"
    call.isIdempotent = false
    call.policy = CallPolicy(policy)
    #expect(try Self.read(call).spec.policy == policy.asRead)
  }

  @Test("what a repetition does is read as it was sent", arguments: [nil, OutgoingCall.OnRepeat.rerun, .answer])
  func repetitions(rule: OutgoingCall.OnRepeat?) throws {
    var call = Self.base
    call.onRepeat = rule
    #expect(try Self.read(call).spec.repetitionRule.rawValue == rule?.rawValue ?? "rerun")
  }

  /// The words of the JSON, and the same in Swift.
  static let words: [(String, CallPolicy)] = [
    ("", CallPolicy()), (#""deadline": "3s""#, CallPolicy(deadline: .seconds(3))),
    (#""maxAttempts": 3"#, CallPolicy(maxAttempts: 3)),
    (#""maxAttempts": null"#, CallPolicy(maxAttempts: nil)),
    (#""attemptTimeout": "5s""#, CallPolicy(attemptTimeout: .seconds(5))),
    (#""lastAttempt": "pullForward""#, CallPolicy(lastAttempt: .pullForward)),
    (#""minAttemptTime": "5s""#, CallPolicy(minAttemptTime: .seconds(5))),
    (#""retryOn": {"network": false}"#, CallPolicy(network: .never)),
    (#""retryOn": {"network": "notSent"}"#, CallPolicy(network: .whenNotSent)),
    (#""retryOn": {"statuses": [503]}"#, CallPolicy(statuses: StatusSet(statuses: [503]))),
    (#""retryOn": {"statusesWithRetryAfter": []}"#, CallPolicy(statusesWithRetryAfter: StatusSet.none)),
    (#""stopOn": {"statuses": [404]}"#, CallPolicy(stopOn: StatusSet(statuses: [404]))),
    (#""retryAfter": {"mode": "ignore", "max": "1h"}"#, CallPolicy(retryAfter: RetryAfterRule(isRespected: false))),
    (#""onTrip": "fail""#, CallPolicy(onTrip: .fail)),
    (
      #""backoff": {"strategy": "constant", "initial": "2s", "max": "60s", "jitter": "none"}"#,
      CallPolicy(backoff: Backoff(.constant(.seconds(2)), maximum: .seconds(60), jitter: .none))
    ),
  ]

  @Test("the same words mean the same in Swift and in JSON, whatever may be repeated", arguments: words, [true, false])
  func sameWords(words: (String, CallPolicy), isIdempotent: Bool) throws {
    for method in ["GET", "POST", "PATCH"] {
      let json = #"{"url": "http://127.0.0.1:1/a", "method": "\#(method)", "idempotent": \#(isIdempotent), "policy": {"#
      let said = Array((json + words.0 + "}}").utf8)
      let spoken = try said.withUnsafeBufferPointer { try CallDescriptor.read($0) }
      let call = OutgoingCall(loopback(1, "/a"), method: method, policy: words.1, isIdempotent: isIdempotent)
      let sent = try Self.read(call)
      #expect(sent.spec.policy == spoken.spec.policy, "\(words.0) with \(method)")
      #expect(sent.spec.idempotent == spoken.spec.idempotent)
    }
  }

  @Test("a call without a policy has the default, in Swift and in JSON")
  func unsaid() throws {
    let read = try Self.read(Self.base).spec
    #expect(read.policy == .service && read.policyName == "default" && read.idempotent)
  }

  @Test("a stored policy is sent by its name")
  func storedPolicy() throws {
    let text = String(decoding: try OutgoingCall(loopback(1), policy: .stored("patient@3")).descriptor(), as: UTF8.self)
    #expect(text.contains(#""policy":"patient@3""#))
  }

  @Test("an endless maximum is read as the longest that the service accepts")
  func longest() throws {
    let policy = RetryPolicy(backoff: .constant(.seconds(2)), retryAfter: RetryAfterRule(maximum: .longest))
    #expect(try Self.read(policy).retryAfter.maximum == .seconds(366 * 86_400))
    #expect(try Self.read(policy) == policy.asRead)
  }

  static let sayable: [RetryPolicy] = [
    .awsBefore2026, .gRPC(), .polly, .resilience4j, .resilience4jExponential, .failsafe, .curl(retries: 5),
    .urllib3(retries: 5, factor: 0.3), .fe9lix, .alley, .svix, .cloudTasks, .restate, .river, .qstash, .outpost,
    .convoy, .convoyExponential, .sns, .eventGrid, .sidekiq, .faktory,
  ]

  @Test(
    "a preset that the service supports is read as it was sent, an endless deadline as a year, timeout as an hour",
    arguments: sayable)
  func presets(preset: RetryPolicy) throws {
    #expect(try Self.read(preset) == preset.asRead)
  }

  static let unsayable: [(String, RetryPolicy)] = [
    ("policy.maxAttempts", RetryPolicy(maxAttempts: 1001)), ("policy.maxAttempts", RetryPolicy(maxAttempts: 0)),
    ("policy.initialDelay", RetryPolicy(initialDelay: .fixed(.seconds(1)))),
    ("policy.initialDelay", RetryPolicy(initialDelay: .backoff)),
    ("policy.deadlineRule.measure", RetryPolicy(deadlineRule: DeadlineRule(measure: .sumOfWaits))),
    ("policy.throttlingBackoff", RetryPolicy(throttlingBackoff: Backoff())),
    ("policy.deadline", RetryPolicy(deadline: .zero)),
    ("policy.attemptTimeout", RetryPolicy(attemptTimeout: .seconds(3601))),
    (
      "policy.deadlineRule.minimumAttemptTime",
      RetryPolicy(deadlineRule: DeadlineRule(minimumAttemptTime: .seconds(3601)))
    ),
    ("policy.backoff.curve.first", polynomial(first: -1)), ("policy.backoff.curve.first", polynomial(first: 1001)),
    ("policy.backoff.curve.exponent", backoff(.polynomial(unit: .seconds(1), exponent: 11))),
    ("policy.backoff.curve.offset", backoff(.polynomial(unit: .seconds(1), exponent: 1, offset: .seconds(-1)))),
    ("policy.backoff.curve.multiplier", backoff(.exponential(initial: .seconds(1), multiplier: 0.5))),
    ("policy.backoff.curve.multiplier", backoff(.exponential(initial: .seconds(1), multiplier: .nan))),
    ("policy.backoff.curve.multiplier", backoff(.exponential(initial: .seconds(1), multiplier: .infinity))),
    ("policy.backoff.curve.initial", backoff(.constant(.seconds(61)))),
    ("policy.backoff.curve.initial", backoff(.fibonacci(initial: .seconds(-1)))),
    ("policy.backoff.curve.increment", backoff(.linear(initial: .zero, increment: .longest))),
    ("policy.backoff.curve.doublings", backoff(.doublingsThenLinear(initial: .zero, doublings: 101))),
    ("policy.backoff.curve.schedule", backoff(.schedule([], then: .stop))),
    ("policy.backoff.curve.schedule", backoff(.schedule(Array(repeating: .zero, count: 101), then: .stop))),
    ("policy.backoff.curve.schedule", backoff(.schedule([.longest], then: .stop))),
    ("policy.backoff.maximum", RetryPolicy(backoff: Backoff(.constant(.zero), maximum: .zero))),
    ("policy.backoff.jitter.factor", RetryPolicy(backoff: Backoff(jitter: .proportional(factor: 1.5)))),
    ("policy.backoff.jitter.spread", RetryPolicy(backoff: Backoff(jitter: .additive(.longest)))),
    ("policy.retryAfter.maximum", RetryPolicy(retryAfter: RetryAfterRule(maximum: .seconds(-1)))),
    (
      "policy.retryOn.statuses",
      RetryPolicy(retryOn: RetryConditions(network: .always, statuses: StatusSet(statuses: [1000])))
    ),
    ("policy.stopOn", RetryPolicy(stopOn: StatusSet(statuses: Array(repeating: 400, count: 101)))),
    ("policy.initialDelay", .exponentialBackOff), ("policy.throttlingBackoff", .aws),
  ]

  private static func backoff(_ curve: BackoffCurve) -> RetryPolicy { RetryPolicy(backoff: Backoff(curve)) }

  private static func polynomial(first: Int) -> RetryPolicy {
    backoff(.polynomial(unit: .seconds(1), exponent: 4, first: first))
  }

  @Test("an unsupported part is named, and nothing is sent", arguments: unsayable)
  func unsupported(part: String, policy: RetryPolicy) async throws {
    try await ScriptedService.run { _, _ in
      .call(.running, status: 202)
    } body: { url, service in
      let call = OutgoingCall(loopback(1), policy: CallPolicy(policy))
      let error = await #expect(throws: UnsupportedByService.self) { try await RedialClient(url).submit(call) }
      #expect(error?.part == part)
      #expect(error?.description.contains(part) == true)
      #expect(service.requests.isEmpty)
    }
  }

  @Test("a call contains only its URL by default")
  func least() throws {
    let text = String(decoding: try Self.base.descriptor(), as: UTF8.self)
    #expect(text == #"{"url":"http://127.0.0.1:1/a/b?c=d"}"#)
  }

  @Test("every part of a call is read as it was sent")
  func whole() throws {
    let hooks = loopback(2, "/hooks")
    let start = Date(timeIntervalSince1970: 1_800_000_000.123_456)
    let call = OutgoingCall(
      loopback(1, "/%C3%BC"), method: "PATCH", headers: ["X-Tenant": "a, b", "Accept": "*/*"],
      body: .text("grüße \"\\/\u{1}"), policy: CallPolicy(.svixWithin(.seconds(60))), start: .at(start),
      target: "billing",
      isIdempotent: false, labels: ["team": "payments", "ü": ""],
      callback: OutgoingCall.Callback(hooks, events: [.tripped, .failed]), captureBytes: 0, orderingKey: "customer-7",
      priority: 9,
      maxRedirects: 3, redactedHeaders: ["X-Secret"], isSensitive: true, redact: ["/card/number"])
    let read = try Self.read(call)
    #expect(read.spec.url == "http://127.0.0.1:1/%C3%BC")
    #expect(read.spec.method == "PATCH")
    #expect(Dictionary(uniqueKeysWithValues: read.spec.headers.map { ($0.name, $0.value) }) == call.headers)
    #expect(String(decoding: read.body, as: UTF8.self) == "grüße \"\\/\u{1}")
    #expect(read.start == .at(Timestamp(microseconds: 1_800_000_000_123_456)))
    #expect(read.spec.target.bare == "billing")
    #expect(!read.spec.idempotent)
    #expect(Dictionary(uniqueKeysWithValues: read.spec.labels.map { ($0.name, $0.value) }) == call.labels)
    #expect(read.spec.callback?.url == hooks.absoluteString)
    #expect(read.spec.callback.map { Set($0.events) } == [.callFailed, .callTripped])
    #expect(read.spec.captureLimit == 0)
    #expect(read.spec.orderingKey == "customer-7")
    #expect(read.spec.priority == 9)
    #expect(read.spec.maxRedirects == 3)
    let spec = String(decoding: read.spec.canonicalJSON, as: UTF8.self)
    #expect(read.spec.isSensitive && spec.contains(#""redact":["/card/number"]"#))
    #expect(read.spec.redactedHeaders == ["x-secret"] || read.spec.redactedHeaders == ["X-Secret"])
  }

  private struct Charge: Encodable {
    var url = "https://a/b"
    var amount: Int? = 1
    var tags = ["b": 1.5, "a": 2]
  }

  @Test("bodies are read as they were given: JSON, text, bytes, none")
  func bodies() throws {
    var call = Self.base
    #expect(try Self.read(call).body.isEmpty)
    #expect(try Self.read(call).spec.method == "GET")
    call.body = .json(Charge())
    var read = try Self.read(call)
    #expect(String(decoding: read.body, as: UTF8.self) == #"{"amount":1,"tags":{"a":2,"b":1.5},"url":"https://a/b"}"#)
    #expect(read.spec.method == "POST")
    #expect(read.spec.headers.map(\.value) == ["application/json"])
    call.body = .json([1, nil] as [Int?])
    #expect(String(decoding: try Self.read(call).body, as: UTF8.self) == "[1,null]")
    call.body = .data(Data(0...255))
    read = try Self.read(call)
    #expect(read.body == Array(0...255))
    #expect(read.spec.headers.isEmpty)
    call.body = .json(Double.nan)
    #expect(throws: EncodingError.self) { try call.descriptor() }
  }

  @Test("a start is now, after a delay, or at a time; one that cannot be written is named")
  func starts() throws {
    var call = Self.base
    call.start = .after(.milliseconds(90_500))
    #expect(try Self.read(call).start == .after(.milliseconds(90_500)))
    call.start = .at(Date(timeIntervalSince1970: -1.5))
    #expect(try Self.read(call).start == .at(Timestamp(microseconds: -1_500_000)))
    for start in [
      OutgoingCall.Start.after(.longest), .after(.seconds(-1)), .at(.distantFuture.addingTimeInterval(1e12)),
      .at(Date(timeIntervalSince1970: .nan)),
    ] {
      call.start = start
      let error = #expect(throws: UnsupportedByService.self) { try call.descriptor() }
      #expect(error?.part == "start")
    }
  }

  @Test("times are read back to the microsecond, and none is written that the service would not read")
  func times() {
    for microseconds: Int64 in [0, 1, 1_790_000_000_123_000, 1_790_000_000_999_999, -1, 951_782_400_000_000] {
      let date = Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
      let text = WireTime.text(date) ?? ""
      #expect(WireTime.date(text) == date)
      #expect(TimestampText.parse(text) == Timestamp(microseconds: microseconds))
    }
    for seconds in [-1e12, 1e12, .nan, .infinity] {
      #expect(WireTime.text(Date(timeIntervalSince1970: seconds)) == nil)
    }
  }
}

extension RetryPolicy {
  fileprivate static func svixWithin(_ deadline: Duration) -> RetryPolicy {
    var policy = svix
    policy.deadline = deadline
    return policy
  }
}

extension RetryPolicy {
  /// As the service reads it: nothing is endless, and a breaker that is open is waited for.
  var asRead: RetryPolicy {
    let year = Duration.seconds(366 * 86_400)
    var policy = self
    policy.deadline = min(deadline, year)
    policy.backoff.maximum = min(backoff.maximum, year)
    policy.retryAfter.maximum = min(retryAfter.maximum, year)
    if attemptTimeout == .longest { policy.attemptTimeout = .seconds(3600) }
    policy.onTrip = onTrip ?? .wait
    return policy
  }
}
