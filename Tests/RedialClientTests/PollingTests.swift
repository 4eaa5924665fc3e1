import Foundation
import HTTPServer
@testable import RedialClient
import Testing

@Suite("Waiting for a result", .timeLimit(.minutes(5)))
struct PollingTests {
  private static func client(_ url: URL, _ clock: TestClock, _ polling: Backoff) -> RedialClient {
    var client = RedialClient(url, polling: polling)
    // As of a service that does not hold its answers back.
    client.longestWait = .zero
    client.clock = clock
    client.seed = { 7 }
    return client
  }

  /// Still running so many times, and then at its end.
  private static func ending(after looks: Int, _ end: RedialCall.State = .succeeded)
    -> @Sendable (
      ScriptedService.Request, Int
    ) -> ScriptedService.Act
  {
    { _, number in number > looks ? .call(end) : .call(number == 1 ? .scheduled : .running) }
  }

  @Test("the waits between polls are those of the polling backoff", arguments: [RedialCall.State.succeeded, .failed])
  func pace(end: RedialCall.State) async throws {
    let clock = TestClock()
    let polling = Backoff(initial: .milliseconds(100), multiplier: 2, maximum: .seconds(1), jitter: .none)
    try await ScriptedService.run(Self.ending(after: 6, end)) { url, service in
      let call = try await Self.client(url, clock, polling).result(of: "call_1")
      #expect(call.state == end)
      #expect(service.requests.count == 7)
      #expect(service.requests.allSatisfy { $0.method == "GET" && $0.path == "/v1/calls/call_1" })
      #expect(
        clock.waits == [
          .milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800), .seconds(1), .seconds(1),
        ])
    }
  }

  @Test("by default the waits grow from a tenth of a second to ten seconds, and are spread")
  func defaults() async throws {
    let clock = TestClock()
    try await ScriptedService.run(Self.ending(after: 30)) { url, _ in
      _ = try await Self.client(url, clock, RedialClient.defaultPolling).result(of: "call_1")
      #expect(clock.waits.count == 30)
      #expect(clock.waits.allSatisfy { $0 >= .milliseconds(80) && $0 <= .seconds(10) })
      #expect(clock.waits[20...].allSatisfy { $0 > .seconds(6) })
      #expect(Set(clock.waits).count > 20)
    }
  }

  @Test(
    "no backoff makes a tight loop of it, and a schedule that ends goes on",
    arguments: [
      Backoff(.constant(.zero), jitter: .none), Backoff(.schedule([.zero], then: .stop), jitter: .none),
      Backoff(.schedule([], then: .stop)), Backoff(.constant(.milliseconds(-5)), maximum: .zero),
    ])
  func noTightLoop(polling: Backoff) async throws {
    let clock = TestClock()
    try await ScriptedService.run(Self.ending(after: 4)) { url, _ in
      _ = try await Self.client(url, clock, polling).result(of: "call_1")
      #expect(clock.waits == Array(repeating: RedialClient.shortestPoll, count: 4))
    }
  }

  @Test("a poll is as late as the service requests, up to the policy's maximum")
  func retryAfter() async throws {
    let clock = TestClock()
    try await ScriptedService.run { _, number in
      switch number {
      case 1: .call(.running, [HTTPHeader("retry-after", "9")])
      case 2: .problem(503, retryAfter: 11)
      case 3: .call(.running, [HTTPHeader("retry-after", "99999999999999")])
      default: .call(.succeeded)
      }
    } body: { url, _ in
      let polling = Backoff(.constant(.seconds(1)), jitter: .none)
      _ = try await Self.client(url, clock, polling).result(of: "call_1")
      #expect(clock.waits == [.seconds(9), .seconds(11), .seconds(3600)])
    }
  }

  @Test("a wait with a limit ends with a last poll at the limit, and has the call's state")
  func limit() async throws {
    let clock = TestClock()
    try await ScriptedService.run(Self.ending(after: .max)) { url, _ in
      let polling = Backoff(.constant(.seconds(4)), jitter: .none)
      let client = Self.client(url, clock, polling)
      let error = await #expect(throws: CallUnfinished.self) {
        try await client.result(of: "call_1", within: .seconds(10))
      }
      #expect(error?.call.state == .running)
      #expect(error?.description.contains("call_1 is still running after 10") == true)
      #expect(clock.waits == [.seconds(4), .seconds(4), .seconds(2)])
    }
  }

  @Test("a clock that goes back does not put the limit off")
  func clockGoesBack() async throws {
    let clock = TestClock()
    try await ScriptedService.run { _, number in
      // Ten seconds back, at every third look.
      if number % 3 == 0 { clock.advance(by: .seconds(-10)) }
      return .call(.running)
    } body: { url, service in
      let client = Self.client(url, clock, Backoff(.constant(.seconds(4)), jitter: .none))
      await #expect(throws: CallUnfinished.self) { try await client.result(of: "call_1", within: .seconds(30)) }
      #expect(service.requests.count < 20)
    }
  }

  @Test("a cancelled wait ends at once and sends nothing more")
  func cancellation() async throws {
    try await ScriptedService.run(Self.ending(after: .max)) { url, service in
      let (waits, told) = AsyncStream.makeStream(of: Duration.self)
      var client = RedialClient(url)
      // An answer that a busy machine delays must not count as one that the service kept back.
      client.longestWait = .zero
      client.clock = HookedClock { wait in
        told.yield(wait)
        try await Task.sleep(for: .seconds(3600))
      }
      let waiting = Task { [client] in try await client.result(of: "call_1") }
      for await _ in waits { break }
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
      #expect(service.requests.count == 1)
    }
  }

  @Test("a list ends when a page leads to no new one, and an error can be retried")
  func endlessList() async throws {
    try await ScriptedService.run { request, number in
      number == 2
        ? .problem(404) : .answer(HTTPResponse(status: 200, text: #"{"data": [], "nextCursor": "call_1"}"#))
    } body: { url, service in
      var calls = RedialClient(url).calls(pageSize: 1000).makeAsyncIterator()
      await #expect(throws: RedialProblem.self) { _ = try await calls.next() }
      for _ in 1...2 {
        let next = try await calls.next()
        #expect(next == nil)
      }
      #expect(service.requests.map(\.query) == ["limit=250", "limit=250&cursor=call_1", "limit=250&cursor=call_1"])
    }
  }
}
