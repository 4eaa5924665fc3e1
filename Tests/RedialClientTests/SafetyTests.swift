import Foundation
import HTTPServer
@testable import RedialClient
import Synchronization
import Testing

@Suite("What the client repeats, and what it never does", .timeLimit(.minutes(5)))
struct SafetyTests {
  private static let call = OutgoingCall(loopback(1))

  private static func client(_ url: URL, _ clock: any RetryClock) -> RedialClient {
    var client = RedialClient(url, policy: RetryPolicy(maxAttempts: 4, backoff: .constant(.seconds(1))))
    client.clock = clock
    client.idempotentSubmit = false
    return client
  }

  @Test("a submit is repeated after 429, 503 and 507, when the service says", arguments: [429, 503, 507])
  func refusedSubmit(status: Int) async throws {
    let clock = TestClock()
    try await ScriptedService.run { _, number in
      number == 1 ? .problem(status, retryAfter: 7) : number == 2 ? .problem(status) : .call(.running, status: 202)
    } body: { url, service in
      let submitted = try await Self.client(url, clock).submit(Self.call)
      #expect(submitted.id == "call_1")
      #expect(service.requests.map(\.method) == ["POST", "POST", "POST"])
      #expect(Set(service.requests.map(\.body)).count == 1)
      #expect(service.requests.allSatisfy { $0.idempotencyKey == nil })
      #expect(clock.waits == [.seconds(7), .seconds(1)])
    }
  }

  @Test(
    "a submission is not repeated after an answer that leaves the result open", arguments: [408, 500, 502, 504])
  func failedSubmit(status: Int) async throws {
    try await ScriptedService.run { _, _ in
      .problem(status)
    } body: { url, service in
      let problem = await #expect(throws: RedialProblem.self) {
        try await Self.client(url, TestClock()).submit(Self.call)
      }
      #expect(problem?.status == status)
      #expect(problem?.code == "someCode")
      #expect(problem?.errors.count == 2)
      #expect(problem?.description == "\(status) someCode: Some title. Some detail. (/a is bad; /b too)")
      #expect(service.requests.count == 1)
    }
  }

  @Test("an answer from something in the service's place is a problem without a code")
  func foreignAnswer() async throws {
    try await ScriptedService.run { _, _ in
      .answer(HTTPResponse(status: 404, text: "<html>"))
    } body: { url, _ in
      let problem = await #expect(throws: RedialProblem.self) { try await RedialClient(url).call("call_1") }
      #expect(problem?.status == 404)
      #expect(problem?.code == RedialProblem.unknownCode)
    }
    try await ScriptedService.run { _, _ in
      .answer(HTTPResponse(status: 200, text: "<html>"))
    } body: { url, service in
      let client = Self.client(url, TestClock())
      let error = await #expect(throws: UnexpectedAnswer.self) { try await client.submit(Self.call) }
      #expect(error?.request == "POST /v1/calls")
      #expect(service.requests.count == 1)
    }
  }

  @Test(
    "a change is not repeated if its connection fails after it was read, even after other requests",
    arguments: [false, true])
  func deadConnection(afterOthers: Bool) async throws {
    let clock = TestClock()
    try await ScriptedService.run { request, _ in
      request.method == "GET" ? .call(.running) : .reset
    } body: { url, service in
      let client = Self.client(url, clock)
      func lost(_ body: () async throws -> Void) async throws {
        if afterOthers { _ = try await client.call("call_1") }
        let before = service.requests.count
        let error = await #expect(throws: RedialTransportError.self) { try await body() }
        #expect(error?.mayHaveBeenAccepted == true)
        #expect(error?.description.contains("may have been done") == true)
        #expect(service.requests.count == before + 1)
      }
      try await lost { _ = try await client.submit(Self.call) }
      try await lost { _ = try await client.submit(Self.call) }
      try await lost { try await client.cancel("call_1") }
      try await lost { try await client.retry("call_1") }
      #expect(clock.waits.isEmpty)
    }
  }

  @Test("if one address of a host refuses and another accepts the request, it was accepted")
  func severalAddresses() async throws {
    let clock = TestClock()
    try await ScriptedService.run { _, _ in
      .reset
    } body: { url, service in
      // Its other address, ::1 where there is one, is one that nobody listens on.
      let name = try #require(URL(string: url.absoluteString.replacing("127.0.0.1", with: "localhost")))
      let error = await #expect(throws: RedialTransportError.self) {
        try await Self.client(name, clock).submit(Self.call)
      }
      #expect(error?.mayHaveBeenAccepted == true)
      #expect(service.requests.count == 1)
    }
  }

  @Test("with a key, the same for all its attempts and another for each call, a submit is repeated whatever failed")
  func keyedSubmit() async throws {
    let clock = TestClock()
    try await ScriptedService.run { _, number in
      switch number {
      case 1: .reset
      case 2: .problem(500)
      default: .call(.running, status: 202)
      }
    } body: { url, service in
      var client = Self.client(url, clock)
      client.idempotentSubmit = true
      let first = try await client.submit(Self.call)
      let second = try await client.submit(Self.call)
      let keys = service.requests.map(\.idempotencyKey)
      #expect(keys == [first.idempotencyKey, first.idempotencyKey, first.idempotencyKey, second.idempotencyKey])
      #expect(first.idempotencyKey != second.idempotencyKey)
      #expect(UUID(uuidString: first.idempotencyKey ?? "") != nil)
      #expect(clock.waits == [.seconds(1), .seconds(1)])
    }
  }

  @Test("a read is repeated whatever failed")
  func question() async throws {
    let clock = TestClock()
    try await ScriptedService.run { _, number in
      number == 1 ? .reset : number == 2 ? .problem(502) : .call(.running)
    } body: { url, service in
      let call = try await Self.client(url, clock).call("call_1")
      #expect(call.state == .running)
      #expect(service.requests.count == 3)
      #expect(clock.waits.count == 2)
    }
  }

  @Test("a refused connection is retried until the service is there, or the attempts are used up")
  func refusedConnection() async throws {
    let port = unusedPort()
    let clock = TestClock()
    let client = Self.client(loopback(port), clock)
    for body: @Sendable () async throws -> Void in [
      { _ = try await client.submit(Self.call) }, { try await client.cancel("call_1") },
      { _ = try await client.getStatistics() },
    ] {
      let before = clock.waits.count
      let error = await #expect(throws: RedialTransportError.self) { try await body() }
      #expect(clock.waits.count == before + 3)
      #expect(error?.description.contains("the connection was refused") == true)
    }
    let error = await #expect(throws: RedialTransportError.self) { try await client.submit(Self.call) }
    #expect(error?.retryOutcome == .notSent)
    #expect(error?.mayHaveBeenAccepted == false)

    let server = Mutex<HTTPServer?>(nil)
    let answering = Answering()
    let starting = HookedClock { _ in
      let made = HTTPServer(configuration: HTTPServerConfiguration(port: port), handler: answering)
      try made.start()
      server.withLock { $0 = made }
    }
    #expect(try await Self.client(loopback(port), starting).submit(Self.call).id == "call_1")
    server.withLock { $0 }?.stop()
  }

  private struct Answering: HTTPHandler {
    func handle(_ request: borrowing HTTPRequest, _ responder: HTTPResponder) {
      if case .answer(let response) = ScriptedService.Act.call(.running, status: 202) { responder.respond(response) }
    }
  }

  @Test("a submission that is not answered in time ends and is not repeated")
  func timeout() async throws {
    let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
    try await ScriptedService.run { _, _ in
      arrived.yield()
      return .silence
    } body: { url, service in
      let clock = TestClock(.manual)
      var impatient = RedialClient(url, policy: RetryPolicy(attemptTimeout: .seconds(200)))
      impatient.idempotentSubmit = false
      impatient.clock = clock
      let client = impatient
      let submitted = Task { try await client.submit(Self.call) }
      for await _ in arrivals { break }
      await clock.waitForSleepers(1, .timeout)
      clock.advance(by: .seconds(200))
      let error = await #expect(throws: RedialTransportError.self) { try await submitted.value }
      #expect(error?.underlying is AttemptTimeout)
      #expect(error?.mayHaveBeenAccepted == true)
      #expect(service.requests.count == 1)
    }
  }

  @Test("a submit that is cancelled ends at once")
  func cancelledSubmit() async throws {
    let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
    try await ScriptedService.run { _, _ in
      arrived.yield()
      return .silence
    } body: { url, service in
      let task = Task { try await RedialClient(url).submit(Self.call) }
      for await _ in arrivals { break }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(service.requests.count == 1)
    }
  }

  @Test("requests that are cancelled at whatever moment either end well or are cancelled")
  func cancelledAnywhere() async throws {
    try await ScriptedService.run { _, _ in
      .call(.running, status: 202)
    } body: { url, _ in
      let client = RedialClient(url)
      var cancelled = 0
      for round in 0..<600 {
        let task = Task {
          round % 2 == 0 ? try await client.submit(Self.call).call : try await client.call("call_1")
        }
        if round % 3 == 0 { await Task.yield() }
        if round % 5 == 0 { _ = try await client.call("call_1") }
        task.cancel()
        switch await task.result {
        case .success: break
        case .failure(let error):
          #expect(error is CancellationError)
          cancelled += 1
        }
      }
      #expect(cancelled > 0)
    }
  }

  @Test("a redirect is not followed, and takes no key elsewhere")
  func redirect() async throws {
    try await ScriptedService.run { _, _ in
      .call(.running)
    } body: { elsewhere, other in
      try await ScriptedService.run { _, _ in
        .answer(HTTPResponse(status: 302, headers: [HTTPHeader("location", elsewhere.absoluteString)]))
      } body: { url, service in
        let client = RedialClient(url, apiKey: "secret")
        for ask: @Sendable () async throws -> Void in [
          { _ = try await client.submit(Self.call) }, { _ = try await client.call("call_1") },
        ] {
          let problem = await #expect(throws: RedialProblem.self) { try await ask() }
          #expect(problem?.status == 302)
        }
        #expect(service.requests.count == 2)
        #expect(other.requests.isEmpty)
      }
    }
  }

  @Test("the key goes into its field, without white space, and into no text; the base URL may have a path")
  func apiKey() async throws {
    try await ScriptedService.run { _, number in
      number == 1 ? .problem(503) : .call(.running)
    } body: { url, service in
      let lines = Mutex<[String]>([])
      var client = RedialClient(url.appendingPathComponent("redial/"), apiKey: "s3cret\n")
      client.clock = TestClock()
      client.log = { line in lines.withLock { $0.append(line) } }
      _ = try await client.call("call_1")
      #expect(service.requests.map(\.authorization) == ["Bearer s3cret", "Bearer s3cret"])
      #expect(service.requests.first?.path == "/redial/v1/calls/call_1")
      var dumped = ""
      dump(client, to: &dumped)
      let texts = lines.withLock { $0 } + ["\(client)", String(reflecting: client), dumped]
      #expect(texts.count > 5)
      #expect(!texts.contains { $0.contains("s3cret") })
    }
  }
}
