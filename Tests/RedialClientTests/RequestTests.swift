import Foundation
import HTTPServer
@testable import RedialClient
import Synchronization
import Testing

@Suite("Any other request of the API", .timeLimit(.minutes(5)))
struct RequestTests {
  private static func client(_ url: URL) -> RedialClient {
    var client = RedialClient(url, policy: RetryPolicy(maxAttempts: 3, backoff: .constant(.seconds(1))))
    client.clock = TestClock()
    return client
  }

  private struct Stored: Decodable {
    var name: String
  }

  @Test("a real service is asked, with a body, with parameters, and with neither")
  func real() async throws {
    try await withService { client in
      let key = "https://a.example/ü"
      let path = "/v1/targets/https%3A%2F%2Fa.example%2F%C3%BC"
      let paused = try await client.request("POST", path + "/pause", as: RedialAPI.Target.self)
      #expect(paused.key == key)
      let waiting = try await client.submit(OutgoingCall(loopback(1), target: key))
      #expect(waiting.call.waitingOn == .paused)
      let stored = try await client.request(
        "PUT", "/v1/policies/patient", json: ["deadline": "7d"], as: Stored.self)
      #expect(stored.name == "patient")
      let page = try await client.request("GET", "/v1/calls", query: ["label": "a b=c&d", "limit": "1"])
      #expect(String(decoding: page, as: UTF8.self) == #"{"data":[],"nextCursor":null}"#)
      #expect(try await client.request("DELETE", "/v1/policies/patient").isEmpty)
      let problem = await #expect(throws: RedialProblem.self) {
        try await client.request("GET", "v1/policies/patient")
      }
      #expect(problem?.code == "policyNotFound")
      await #expect(throws: UnexpectedAnswer.self) {
        try await client.request("GET", "/v1/policies", as: Stored.self)
      }
    }
  }

  @Test("the path always follows the host, and may have a query; the namespace goes along")
  func path() async throws {
    try await ScriptedService.run { _, _ in
      .answer(HTTPResponse(status: 200, text: "{}"))
    } body: { url, service in
      var client = Self.client(url)
      client.namespace = "acme"
      try await client.request("GET", "@127.0.0.1:1/x?a=b", query: ["c": "d e"])
      try await client.request("GET", ".example/y")
      #expect(service.requests.map(\.path) == ["/@127.0.0.1:1/x", "/.example/y"])
      #expect(service.requests.map(\.query) == ["a=b&c=d%20e", nil])
      #expect(service.requests.allSatisfy { $0.headers["redial-namespace"] == "acme" })
    }
  }

  @Test("a GET is repeated whatever failed, anything else only if nothing was done")
  func repetition() async throws {
    for (method, requests) in [("GET", 3), ("POST", 1), ("PUT", 1), ("DELETE", 1)] {
      try await ScriptedService.run { _, _ in
        .reset
      } body: { url, service in
        let error = await #expect(throws: RedialTransportError.self) {
          try await Self.client(url).request(method, "/v1/x")
        }
        #expect(service.requests.count == requests && error?.mayHaveBeenAccepted == true, "\(method)")
      }
    }
    try await ScriptedService.run { _, number in
      number < 3 ? .problem(503) : .answer(HTTPResponse(status: 200, text: "{}"))
    } body: { url, service in
      try await Self.client(url).request("DELETE", "/v1/x")
      #expect(service.requests.count == 3)
    }
    // The body that was never begun proves it.
    let refused = await #expect(throws: RedialTransportError.self) {
      try await Self.client(loopback(unusedPort())).request("POST", "/v1/targets/a/pause")
    }
    #expect(refused?.mayHaveBeenAccepted == false)
  }

  @Test(
    "a change whose result is unknown is not repeated, and a read is",
    arguments: ["outcomeUnknown", "leaseLost", "leaderUnreachable"])
  func unknownResult(code: String) async throws {
    try await ScriptedService.run { request, number in
      let problem = #"{"title":"t","code":"\#(code)","detail":"d"}"#
      return request.method == "GET" && number > 2
        ? .call(.running) : .answer(HTTPResponse(status: 503, text: problem))
    } body: { url, service in
      let client = Self.client(url)
      let problem = await #expect(throws: RedialProblem.self) { try await client.retry("call_1") }
      #expect(problem?.code.rawValue == code && service.requests.count == 1)
      let call = try await client.call("call_1")
      #expect(call.state == .running && service.requests.count == 3)
    }
  }

  @Test("a key with spaces, commas or quotes is sent as a quoted string, and others as they are")
  func keys() async throws {
    try await ScriptedService.run { _, _ in
      .call(.running, status: 202)
    } body: { url, service in
      for key in ["order-7", #"a\b"#, "a b", "a,b", #"a"\"#] {
        _ = try await Self.client(url).submit(OutgoingCall(loopback(1)), idempotencyKey: key)
      }
      #expect(service.requests.map(\.idempotencyKey) == ["order-7", #"a\b"#, #""a b""#, #""a,b""#, #""a\"\\""#])
    }
  }

  @Test("a call says who has run it again, which policy it has, and what it repeats")
  func shown() async throws {
    try await withService { client in
      try await ScriptedService.run { _, _ in
        .answer(HTTPResponse(status: 200, text: "ok"))
      } body: { url, _ in
        try await client.request("PUT", "/v1/policies/patient", json: ["deadline": "7d"])
        let done = try await client.submitAndWait(
          OutgoingCall(url, policy: .stored("patient"), orderingKey: "a", priority: 0, maxRedirects: 2))
        #expect(done.policy == "patient@1" && done.maxRedirects == 2 && done.retries.isEmpty && done.replayOf == nil)
        #expect(done.orderingKey == "a" && done.priority == 0)
        let again = try await client.retry(done.id, by: "Ada", reason: "The target was repaired.")
        #expect(again.retries.map(\.by) == ["Ada"] && again.retries.map(\.afterAttempt) == [1])
        #expect(again.retries.map(\.reason) == ["The target was repaired."])
        let replay = try await client.request("POST", "/v1/calls/\(done.id)/replay", as: RedialCall.self)
        #expect(replay.replayOf == done.id && replay.id != done.id)
        var own = CallPolicy(maxAttempts: 3)
        own.attemptTimeout = .seconds(3600)
        own.deadline = .seconds(1)
        let warned = try await client.submit(OutgoingCall(url, policy: own)).call
        #expect(warned.priority == RedialCall.defaultPriority && warned.orderingKey == nil)
        #expect(warned.policy == nil && !warned.warnings.isEmpty)
        let wrong = await #expect(throws: RedialProblem.self) {
          try await client.submit(OutgoingCall(url, orderingKey: "", priority: 10, maxRedirects: 21))
        }
        #expect(Set(wrong?.errors.map(\.pointer) ?? []) == ["/orderingKey", "/priority", "/redirects/max"])
      }
    }
  }

  @Test("calls with one ordering key run one at a time")
  func ordering() async throws {
    try await withService { client in
      let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
      try await ScriptedService.run { _, number in
        arrived.yield()
        return number == 1 ? .silence : .answer(HTTPResponse(status: 200, text: "ok"))
      } body: { url, target in
        let first = try await client.submit(OutgoingCall(url, orderingKey: "customer-7"))
        for await _ in arrivals { break }
        let second = try await client.submit(OutgoingCall(url, orderingKey: "customer-7"))
        #expect(try await client.call(second.id).waitingOn == .ordering)
        try await client.cancel(first.id)
        #expect(try await client.result(of: second.id).state == .succeeded)
        #expect(target.requests.count == 2)
      }
    }
  }

  @Test("a name and a password in the service's URL are in no text")
  func password() async throws {
    let port = unusedPort()
    let url = try #require(URL(string: "http://ada:s3cret@127.0.0.1:\(port)/redial"))
    let lines = Mutex<[String]>([])
    var logging = Self.client(url)
    logging.log = { line in lines.withLock { $0.append(line) } }
    let client = logging
    let error = await #expect(throws: RedialTransportError.self) { try await client.call("call_1") }
    #expect(
      error?.localizedDescription.hasPrefix("no answer from http://127.0.0.1:\(port)/redial to GET /v1/calls/call_1: ")
        == true)
    var dumped = ""
    dump(client, to: &dumped)
    let texts = lines.withLock { $0 } + ["\(client)", dumped, error?.description ?? ""]
    #expect(texts.count > 4 && !texts.contains { $0.contains("s3cret") })
  }
}
