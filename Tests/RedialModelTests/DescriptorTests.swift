import RedialCore
import RedialText
import Testing

@testable import RedialModel
import RedialJSON

@Suite("Call descriptors")
struct DescriptorTests {
  static func read(_ text: String, limits: CallDescriptor.Limits = .init()) throws(Problem) -> CallDescriptor {
    let result: Result<CallDescriptor, Problem> = Array(text.utf8).withUnsafeBufferPointer { bytes in
      do throws(Problem) {
        return .success(try CallDescriptor.read(bytes, limits: limits))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  static let full = """
    { "url": "https://api.example.com/charges", "method": "PATCH",
      "headers": {"content-type": "text/plain", "x-two": ["a", "b"]}, "body": "h\\u00e9llo",
      "policy": { "maxAttempts": 8, "deadline": "20m", "attemptTimeout": "10s",
        "backoff": {"strategy": "exponential", "initial": "100ms", "multiplier": 2, "max": "30s", "jitter": "full"},
        "retryOn": {"network": "notSent", "statuses": ["408", 429, "500-599"]}, "stopOn": {"statuses": ["501"]},
        "retryAfter": {"mode": "ignore", "max": "2h"}, "onTrip": "fail" },
      "delay": "10s", "target": "billing", "idempotent": false, "labels": {"team": "payments"},
      "callback": {"url": "https://me.example.com/hooks", "events": ["call.failed"]}, "capture": {"maxBytes": 10, "redactHeaders": ["X-Pin", "x-pin"]},
      "redirects": {"max": 3} }
    """

  @Test("every member is read")
  func everything() throws {
    let descriptor = try Self.read(Self.full)
    let spec = descriptor.spec
    #expect(spec.url == "https://api.example.com/charges" && spec.method == "PATCH" && spec.target == "billing")
    #expect(
      spec.headers == [HeaderField("content-type", "text/plain"), HeaderField("x-two", "a"), HeaderField("x-two", "b")])
    #expect(descriptor.body == Array("héllo".utf8))
    #expect(descriptor.start == .after(.seconds(10)))
    #expect(!spec.idempotent && spec.labels == [.init(name: "team", value: "payments")] && spec.captureLimit == 10)
    #expect(spec.maxRedirects == 3 && spec.redactedHeaders == ["x-pin"])
    #expect(spec.callback == Callback(url: "https://me.example.com/hooks", events: [.callFailed]))
    #expect(
      spec.policy
        == RetryPolicy(
          maxAttempts: 8, deadline: .seconds(1200), attemptTimeout: .seconds(10),
          backoff: Backoff(initial: .milliseconds(100), multiplier: 2, maximum: .seconds(30), jitter: .full),
          retryOn: RetryConditions(network: .whenNotSent, statuses: StatusSet([408...408, 429...429, 500...599])),
          stopOn: StatusSet(statuses: [501]), retryAfter: RetryAfterRule(isRespected: false, maximum: .seconds(7200)),
          onTrip: .fail))
  }

  static let backoffs: [(String, Backoff)] = [
    (#"{"strategy": "constant", "initial": "2s"}"#, Backoff(.constant(.seconds(2)), maximum: .seconds(600))),
    (
      #"{"strategy": "linear", "initial": "1s", "increment": "3s", "jitter": "equal"}"#,
      Backoff(.linear(initial: .seconds(1), increment: .seconds(3)), maximum: .seconds(600), jitter: .equal)
    ),
    (
      #"{"strategy": "polynomial", "initial": "1s", "exponent": 4, "offset": "15s", "first": 0, "jitter": "additivePerRetry", "spread": "10s"}"#,
      Backoff(
        .polynomial(unit: .seconds(1), exponent: 4, offset: .seconds(15), first: 0), maximum: .seconds(600),
        jitter: .additivePerRetry(.seconds(10)))
    ),
    (#"{"strategy": "fibonacci"}"#, Backoff(.fibonacci(initial: .milliseconds(500)), maximum: .seconds(600))),
    (
      #"{"strategy": "power", "initial": "2s", "jitter": "none", "cap": "beforeJitter"}"#,
      Backoff(.power(base: .seconds(2)), maximum: .seconds(600), jitter: .none, cap: .beforeJitter)
    ),
    (
      #"{"strategy": "doublingsThenLinear", "initial": "10s", "doublings": 3, "max": "300s", "cap": "afterJitter"}"#,
      Backoff(.doublingsThenLinear(initial: .seconds(10), doublings: 3), maximum: .seconds(300), cap: .afterJitter)
    ),
    (
      #"{"schedule": ["5s", "5m", "10h"], "then": "stop", "factor": 0.2}"#,
      Backoff(
        .schedule([.seconds(5), .seconds(300), .seconds(36_000)], then: .stop), maximum: .seconds(366 * 86_400),
        jitter: .proportional(factor: 0.2))
    ),
    (
      #"{"strategy": "decorrelated", "initial": "1s", "max": "20s"}"#,
      Backoff(.decorrelated(base: .seconds(1)), maximum: .seconds(20), jitter: .none)
    ),
    (
      #"{"strategy": "decorrelatedSmooth", "initial": "1s"}"#,
      Backoff(.decorrelatedSmooth(median: .seconds(1)), maximum: .seconds(600), jitter: .none)
    ),
    (
      #"{"jitter": "additive", "spread": "5s"}"#,
      Backoff(multiplier: 2, maximum: .seconds(600), jitter: .additive(.seconds(5)))
    ), (#"{"max": "1h"}"#, Backoff(multiplier: 2, maximum: .seconds(3600))),
  ]

  @Test("every backoff is read, and read again from its stored form", arguments: backoffs)
  func backoff(text: String, expected: Backoff) throws {
    let descriptor = try Self.read(
      #"{"url": "http://x/", "policy": {"backoff": \#(text), "lastAttempt": "pullForward", "minAttemptTime": "2s","#
        + #" "retryOn": {"statusesWithRetryAfter": [413]}, "retryAfter": {"beyond": "park", "statuses": ["429", "500-599"]}}}"#
    )
    let policy = descriptor.spec.policy
    #expect(policy.backoff == expected)
    #expect(policy.deadlineRule == DeadlineRule(lastAttempt: .pullForward, minimumAttemptTime: .seconds(2)))
    #expect(policy.retryOn.statusesWithRetryAfter == StatusSet(statuses: [413]) && policy.retryAfter.beyond == .park)
    #expect(policy.retryAfter.statuses == StatusSet([429...429, 500...599]))
    let stored = try descriptor.spec.canonicalJSON.withUnsafeBufferPointer { bytes in
      try CallSpec.read(canonicalJSON: bytes)
    }
    #expect(stored.policy == policy)
  }

  @Test("a target from the longest possible host name can be stored")
  func longHost() throws {
    let name = String(repeating: String(repeating: "a", count: 63) + ".", count: 3) + String(repeating: "a", count: 61)
    let descriptor = try Self.read("{\"url\": \"https://\(name):65535/\"}")
    #expect(descriptor.spec.target.text.utf8.count == 267)
    let stored = try descriptor.spec.canonicalJSON.withUnsafeBufferPointer { try CallSpec.read(canonicalJSON: $0) }
    #expect(stored.target == descriptor.spec.target)
    #expect(throws: Problem.self) { try Self.read("{\"url\": \"https://\(name)a/\"}") }
    #expect(throws: Problem.self) {
      try Self.read("{\"url\": \"http://x\", \"target\": \"\(String(repeating: "t", count: 256))\"}")
    }
  }

  @Test("a URL alone is a call with the defaults")
  func least() throws {
    let descriptor = try Self.read(#"{"url": "https://Example.com:443/x"}"#)
    #expect(descriptor.spec.method == "GET" && descriptor.spec.target == "https://example.com")
    #expect(
      descriptor.spec.policy == .service && descriptor.spec.policyName == "default" && descriptor.body.isEmpty
        && descriptor.start == .after(.zero))
    #expect(descriptor.spec.captureLimit == 65_536 && descriptor.spec.headers.isEmpty)
  }

  @Test("every method is retried by default, and naming one part changes only that part")
  func idempotency() throws {
    let (all, careful) = (RetryConditions.idempotent, RetryConditions.nonIdempotent)
    let listed = StatusSet(statuses: [500])
    let cases: [(String, RetryConditions)] = [
      (#""method": "PUT""#, all), (#""method": "POST""#, all), (#""body": "x""#, all),
      (#""method": "PATCH", "idempotent": true"#, all), (#""idempotent": false"#, careful),
      (#""method": "POST", "headers": {"Idempotency-Key": "1"}, "idempotent": false"#, careful),
      (#""policy": {"maxAttempts": 2}, "method": "POST""#, all),
      (#""policy": {"maxAttempts": 2}, "idempotent": false"#, careful),
      (
        #""idempotent": false, "policy": {"retryOn": {"network": true}}"#,
        RetryConditions(network: .always, statuses: careful.statuses)
      ),
      (
        #""idempotent": false, "policy": {"retryOn": {"statuses": [500]}}"#,
        RetryConditions(network: .whenNotSent, statuses: listed)
      ),
      (
        #""policy": {"retryOn": {"statuses": [500]}}"#,
        RetryConditions(network: .always, statuses: listed, statusesWithRetryAfter: .temporary)
      ),
      (
        #""policy": {"retryOn": {"network": false, "statusesWithRetryAfter": []}}"#,
        RetryConditions(network: .never, statuses: .transient)
      ),
    ]
    for (members, expected) in cases {
      #expect(try Self.read(#"{"url": "http://x/", "# + members + "}").spec.policy.retryOn == expected, "\(members)")
    }
  }

  @Test("bodies are given as text, as JSON byte for byte, and as base 64")
  func bodies() throws {
    let json = try Self.read(#"{"url": "http://x/", "json": { "a" : [1.0, "é"] } }"#)
    #expect(json.body == Array(#"{ "a" : [1.0, "é"] }"#.utf8) && json.spec.method == "POST")
    #expect(json.spec.headers == [HeaderField("content-type", "application/json")])
    let typed = try Self.read(#"{"url": "http://x/", "json": null, "headers": {"Content-Type": "application/x+json"}}"#)
    #expect(typed.body == Array("null".utf8) && typed.spec.headers.count == 1)
    #expect(try Self.read(#"{"url": "http://x/", "bodyBase64": "/wA="}"#).body == [0xFF, 0])
    #expect(try Self.read(#"{"url": "http://x/", "body": ""}"#).spec.method == "POST")
  }

  static let faults: [(String, String)] = [
    (#""url": "x""#, "/url"), (#""url": 1"#, "/url"), (#""url": null"#, "/url"), ("", "/url"),
    (#""url": "http://x/", "x~/y": 1"#, "/x~0~1y"), (#""url": "http://x/", "url": "http://y/""#, "/url"),
    (#""url": "http://x/", "method": """#, "/method"), (#""url": "http://x/", "method": "CONNECT""#, "/method"),
    (#""url": "http://x/", "method": "HEAD", "json": 1"#, "/json"),
    (#""url": "http://x/", "headers": []"#, "/headers"), (#""url": "http://x/", "headers": {"": "1"}"#, "/headers/"),
    (#""url": "http://x/", "headers": {"a": "1", "a": "2"}"#, "/headers/a"),
    (#""url": "http://x/", "headers": {"a": " 1"}"#, "/headers/a"),
    (#""url": "http://x/", "headers": {"a": ["1", 2]}"#, "/headers/a"),
    (#""url": "http://x/", "headers": {"host": ["a", "b"]}"#, "/headers/host"),
    (#""url": "http://x/", "headers": {"Host": "a", "host": "b"}"#, "/headers/host"),
    (#""url": "http://x/", "headers": {"Transfer-Encoding": "x"}"#, "/headers/Transfer-Encoding"),
    (#""url": "http://x/", "body": 1"#, "/body"), (#""url": "http://x/", "bodyBase64": "A""#, "/bodyBase64"),
    (#""url": "http://x/", "body": "", "bodyBase64": """#, "/bodyBase64"),
    (#""url": "http://x/", "delay": "1""#, "/delay"), (#""url": "http://x/", "delay": "367d""#, "/delay"),
    (#""url": "http://x/", "startAt": "2026-01-01""#, "/startAt"),
    (#""url": "http://x/", "startAt": "9999-12-31T23:59:59-23:59""#, "/startAt"),
    // Decomposed: equal to its composed form in memory, and other bytes in the store.
    (#""url": "http://x/", "target": "cafe\u0301""#, "/target"),
    (#""url": "http://x/", "orderingKey": "cafe\u0301""#, "/orderingKey"),
    (#""url": "http://x/", "labels": {"cafe\u0301": "x"}"#, "/labels/cafe\u{301}"),
    (#""url": "http://x/", "startAt": "2026-01-01T00:00:00Z", "delay": "1s""#, "/delay"),
    (#""url": "http://x/", "target": "\u0000""#, "/target"), (#""url": "http://x/", "idempotent": 1"#, "/idempotent"),
    (#""url": "http://x/", "labels": {"a": null}"#, "/labels/a"),
    (#""url": "http://x/", "labels": {"": "x"}"#, "/labels/"),
    (#""url": "http://x/", "labels": {"a": "1", "a": "2"}"#, "/labels/a"),
    (#""url": "http://x/", "callback": "http://x/""#, "/callback"),
    (#""url": "http://x/", "callback": {}"#, "/callback/url"),
    (#""url": "http://x/", "callback": {"url": "x"}"#, "/callback/url"),
    (#""url": "http://x/", "callback": {"url": "http://x/", "url": "http://y/"}"#, "/callback/url"),
    (#""url": "http://x/", "callback": {"url": "http://x/", "events": []}"#, "/callback/events"),
    (#""url": "http://x/", "callback": {"url": "http://x/", "events": ["x"]}"#, "/callback/events/0"),
    (#""url": "http://x/", "callback": {"url": "http://x/", "x": 1}"#, "/callback/x"),
    (#""url": "http://x/", "capture": {"maxBytes": 1048577}"#, "/capture/maxBytes"),
    (#""url": "http://x/", "capture": {"maxBytes": 1.5}"#, "/capture/maxBytes"),
    (#""url": "http://x/", "redirects": {"max": 21}"#, "/redirects/max"),
    (#""url": "http://x/", "redirects": 5"#, "/redirects"),
    (#""url": "http://x/", "redirects": {"limit": 5}"#, "/redirects/limit"),
    (#""url": "http://x/", "capture": {"redactHeaders": "x"}"#, "/capture/redactHeaders"),
    (#""url": "http://x/", "capture": {"redactHeaders": ["a", "b c"]}"#, "/capture/redactHeaders/1"),
    (#""url": "http://x/", "capture": {"redactHeaders": [1]}"#, "/capture/redactHeaders/0"),
    (#""url": "http://x/", "orderingKey": """#, "/orderingKey"), (#""url": "http://x/", "priority": 10"#, "/priority"),
    (#""url": "http://x/", "orderingKey": "a\nb""#, "/orderingKey"),
    (#""url": "http://x/", "priority": "high""#, "/priority"),
    (#""url": "http://x/", "policy": 1"#, "/policy"), (#""url": "http://x/", "policy": {"x": 1}"#, "/policy/x"),
    (#""url": "http://x/", "policy": {"maxAttempts": 1, "maxAttempts": 2}"#, "/policy/maxAttempts"),
    (#""url": "http://x/", "policy": {"maxAttempts": 1001}"#, "/policy/maxAttempts"),
    (#""url": "http://x/", "policy": {"deadline": "0s"}"#, "/policy/deadline"),
    (#""url": "http://x/", "policy": {"attemptTimeout": "61m"}"#, "/policy/attemptTimeout"),
    (#""url": "http://x/", "policy": {"onTrip": "explode"}"#, "/policy/onTrip"),
    (#""url": "http://x/", "policy": {"backoff": {"strategy": "x"}}"#, "/policy/backoff/strategy"),
    (
      #""url": "http://x/", "policy": {"backoff": {"strategy": "constant", "multiplier": 2}}"#,
      "/policy/backoff/multiplier"
    ),
    (#""url": "http://x/", "policy": {"backoff": {"initial": "11m"}}"#, "/policy/backoff/initial"),
    (#""url": "http://x/", "policy": {"backoff": {"strategy": "schedule"}}"#, "/policy/backoff/schedule"),
    (#""url": "http://x/", "policy": {"backoff": {"schedule": []}}"#, "/policy/backoff/schedule"),
    (#""url": "http://x/", "policy": {"backoff": {"schedule": ["1s", "x"]}}"#, "/policy/backoff/schedule/1"),
    (#""url": "http://x/", "policy": {"backoff": {"increment": "1s"}}"#, "/policy/backoff/increment"),
    (
      #""url": "http://x/", "policy": {"backoff": {"strategy": "decorrelated", "jitter": "full"}}"#,
      "/policy/backoff/jitter"
    ),
    (#""url": "http://x/", "policy": {"backoff": {"jitter": "full", "spread": "1s"}}"#, "/policy/backoff/spread"),
    (#""url": "http://x/", "policy": {"lastAttempt": "x"}"#, "/policy/lastAttempt"),
    (#""url": "http://x/", "policy": {"backoff": {"multiplier": 0.5}}"#, "/policy/backoff/multiplier"),
    (#""url": "http://x/", "policy": {"backoff": {"jitter": "full", "factor": 0.1}}"#, "/policy/backoff/factor"),
    (#""url": "http://x/", "policy": {"backoff": {"initial": "1s", "initial": "2s"}}"#, "/policy/backoff/initial"),
    (#""url": "http://x/", "policy": {"retryOn": {"statuses": "500"}}"#, "/policy/retryOn/statuses"),
    (#""url": "http://x/", "policy": {"retryOn": {"statuses": [500, "599-500"]}}"#, "/policy/retryOn/statuses/1"),
    (#""url": "http://x/", "policy": {"retryOn": {"network": "sometimes"}}"#, "/policy/retryOn/network"),
    (#""url": "http://x/", "policy": {"stopOn": {"x": []}}"#, "/policy/stopOn/x"),
    (#""url": "http://x/", "policy": {"retryAfter": {"mode": 1}}"#, "/policy/retryAfter/mode"),
  ]

  @Test("each fault is reported once, with a JSON Pointer to its member", arguments: faults.indices)
  func fault(index: Int) {
    let (members, pointer) = Self.faults[index]
    let problem = #expect(throws: Problem.self) { try Self.read("{\(members)}") }
    #expect(problem?.status == 422 && problem?.code == .invalidDescriptor)
    #expect(problem?.errors.map(\.pointer) == [pointer], "\(members): \(problem?.errors ?? [])")
  }

  @Test("a time for the start is refused if it is later than the latest")
  func latestStart() throws {
    var limits = CallDescriptor.Limits()
    limits.latestStart = TimestampText.parse("2027-01-01T00:00:00Z")
    func read(_ time: String, _ limits: CallDescriptor.Limits) throws -> CallDescriptor.Start {
      try Array(#"{"url": "http://x/", "startAt": "\#(time)"}"#.utf8).withUnsafeBufferPointer {
        try CallDescriptor.read($0, limits: limits).start
      }
    }
    let last = try #require(limits.latestStart)
    #expect(try read("2027-01-01T00:00:00Z", limits) == .at(last))
    let problem = #expect(throws: Problem.self) { try read("2027-01-01T00:00:00.001Z", limits) }
    #expect(problem?.errors.map(\.pointer) == ["/startAt"])
    #expect(problem?.errors.first?.detail.contains("366d") == true)
    // A call that was accepted before is read as it is.
    #expect(throws: Never.self) { try read("9999-01-01T00:00:00Z", .unlimited) }
  }

  @Test("priority and ordering key are kept, and read back as they were stored")
  func ordering() throws {
    let spec = try Self.read(#"{"url": "http://x/", "priority": 9, "orderingKey": "account-9"}"#).spec
    #expect(spec.priority == 9 && spec.orderingKey == "account-9")
    let again = try spec.canonicalJSON.withUnsafeBufferPointer { bytes in
      try Result { () throws(JSONError) in try CallSpec.read(canonicalJSON: bytes) }.get()
    }
    #expect(again.priority == 9 && again.orderingKey == "account-9")
    let usual = try Self.read(#"{"url": "http://x/"}"#).spec
    #expect(usual.priority == 5 && usual.orderingKey == nil)
  }

  @Test("a callback is refused where nothing signs it, and its other faults come first")
  func unsigned() throws {
    var limits = CallDescriptor.Limits()
    limits.mayHaveCallbacks = false
    _ = try Self.read(#"{"url": "http://a.example"}"#, limits: limits)
    let call = #"{"url": "http://a.example", "callback": {"url": "http://b.example"}, "priority": "#
    let problem = #expect(throws: Problem.self) { try Self.read(call + "1}", limits: limits) }
    #expect(problem?.code == .noEncryptionKey)
    let fault = #expect(throws: Problem.self) { try Self.read(call + "1000}", limits: limits) }
    #expect(fault?.code == .invalidDescriptor)
  }

  @Test("limits on bodies, fields and labels hold")
  func bounds() {
    let limits = CallDescriptor.Limits(bodyBytes: 3)
    #expect(throws: Never.self) { try Self.read(#"{"url": "http://x/", "body": "abc"}"#, limits: limits) }
    for body in [#""body": "abcd""#, #""json": 1234"#, #""bodyBase64": "QUJDRA==""#] {
      let problem = #expect(throws: Problem.self) {
        try Self.read(#"{"url": "http://x/", "# + body + "}", limits: limits)
      }
      #expect(problem?.status == 413 && problem?.code == .bodyTooLarge)
    }
    let fields = (0..<101).map { "\"x-\($0)\": \"1\"" }.joined(separator: ",")
    let labels = (0..<33).map { "\"l\($0)\": \"1\"" }.joined(separator: ",")
    let problem = #expect(throws: Problem.self) {
      try Self.read(#"{"url": "http://x/", "headers": {"# + fields + #"}, "labels": {"# + labels + "}}")
    }
    #expect(problem?.errors.map(\.pointer) == ["/headers", "/labels"])
  }

  @Test("text that is not JSON is a 400 with the position, and a value that is not an object a 422")
  func noJSON() {
    for text in ["", "{", #"{"url": "http://x/"} x"#, "{\"url\": \"\u{1}\"}"] {
      #expect(#expect(throws: Problem.self) { try Self.read(text) }?.status == 400, "\(text)")
    }
    for text in ["[]", "1", "\"http://x/\"", "null"] {
      let problem = #expect(throws: Problem.self) { try Self.read(text) }
      #expect(problem?.status == 422 && problem?.errors.map(\.pointer) == [""], "\(text)")
    }
  }

  @Test("a stored spec is the spec that was accepted")
  func canonical() throws {
    for text in [Self.full, #"{"url": "http://x/"}"#, #"{"url": "http://x/", "json": [], "headers": {"é": "1"}}"#] {
      guard let spec = try? Self.read(text).spec else { continue }
      let again = try spec.canonicalJSON.withUnsafeBufferPointer { try CallSpec.read(canonicalJSON: $0) }
      #expect(again.canonicalJSON == spec.canonicalJSON)
      #expect(again.policy == spec.policy && again.headers == spec.headers && again.labels == spec.labels)
      #expect(
        again.url == spec.url && again.callback == spec.callback && again.maxRedirects == spec.maxRedirects
          && again.captureLimit == spec.captureLimit)
    }
  }

  @Test("descriptors with random damage never crash the reader, and accepted ones can be stored")
  func fuzz() {
    let full = Array(Self.full.utf8)
    var (accepted, refused) = (0, 0)
    for seed in UInt64(0)..<4000 {
      var random = RandomSource(seed: seed)
      var bytes = full
      for _ in 0...(random.next() % 4) {
        let place = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 4 {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(UInt8(0x20 + random.next() % 0x5F), at: place)
        default:
          let end = min(bytes.count, place + Int(random.next() % 12))
          bytes.replaceSubrange(place..<end, with: [])
        }
      }
      do {
        let spec = try bytes.withUnsafeBufferPointer { try CallDescriptor.read($0) }.spec
        accepted += 1
        let again = try spec.canonicalJSON.withUnsafeBufferPointer { try CallSpec.read(canonicalJSON: $0) }
        #expect(again.canonicalJSON == spec.canonicalJSON, "seed \(seed)")
      } catch let problem as Problem {
        refused += 1
        #expect(!problem.errors.isEmpty && [400, 413, 422].contains(problem.status), "seed \(seed)")
      } catch {
        Issue.record("seed \(seed): accepted, and cannot be stored: \(error)")
      }
    }
    #expect(accepted > 50 && refused > 1000, "\(accepted) accepted, \(refused) refused")
  }
}
