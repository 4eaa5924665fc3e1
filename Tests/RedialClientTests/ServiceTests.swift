import Foundation
import HTTPServer
import RedialClient
import Testing

@Suite("The client and a real service", .timeLimit(.minutes(5)))
struct ServiceTests {
  private static func policy(_ waits: Duration...) -> RetryPolicy {
    RetryPolicy(maxAttempts: 5, backoff: Backoff(.schedule(waits, then: .stop), jitter: .none))
  }

  /// A target that fails so many times, and then succeeds.
  private static func failing(_ times: Int, status: Int = 503)
    -> @Sendable (ScriptedService.Request, Int) -> (
      ScriptedService.Act
    )
  {
    { request, number in
      .answer(
        HTTPResponse(
          status: number <= times ? status : 200, headers: [HTTPHeader("X-Number", "\(number)")], body: request.body))
    }
  }

  @Test("a call that fails twice and then succeeds is submitted, awaited and read, with the policy that was sent")
  func submitAndWait() async throws {
    try await withService { client in
      try await ScriptedService.run(Self.failing(2)) { url, target in
        var call = OutgoingCall(url, method: "POST", body: .json(["amount": 100]))
        call.policy = CallPolicy(Self.policy(.milliseconds(20), .milliseconds(40)))
        call.labels = ["team": "payments"]
        let submitted = try await client.submit(call)
        #expect(submitted.id.hasPrefix("call_"))
        #expect(submitted.idempotencyKey != nil)
        #expect(submitted.call.maxAttempts == 5)
        #expect(submitted.call.labels == ["team": "payments"])
        let done = try await client.result(of: submitted.id)
        #expect(done.state == .succeeded)
        #expect(done.failureReason == nil)
        #expect(done.attemptCount == 3)
        #expect(done.attempts.map(\.status) == [503, 503, 200])
        #expect(done.attempts.map(\.outcome) == [.answered, .answered, .answered])
        #expect(done.attempts.map { $0.decision?.action } == [.retry, .retry, .succeed])
        #expect(done.attempts.map { $0.decision?.after } == [.milliseconds(20), .milliseconds(40), nil])
        #expect(done.attempts.map { $0.decision?.computed } == [.milliseconds(20), .milliseconds(40), nil])
        #expect(done.response?.text == #"{"amount":100}"#)
        #expect(done.response?.headers["x-number"] == ["3"])
        #expect(done.response?.isTruncated == false)
        let finished = try #require(done.finishedAt)
        #expect(finished >= done.createdAt.addingTimeInterval(0.06))
        #expect(try await client.call(done.id) == done)
        let attempts = try await client.attempts(of: done.id)
        #expect(attempts.map { $0.response?.headers["x-number"] } == [["1"], ["2"], ["3"]])
        #expect(target.requests.count == 3)
      }
    }
  }

  @Test("bodies that are not text, and failures, are read back unchanged")
  func bytesAndFailure() async throws {
    try await withService { client in
      try await ScriptedService.run(Self.failing(.max, status: 404)) { url, _ in
        let bytes = Data([0xFF, 0x00, 0xFE])
        let done = try await client.submitAndWait(OutgoingCall(url, body: .data(bytes), captureBytes: 2))
        #expect(done.state == .failed)
        #expect(done.failureReason == .notRetryable)
        #expect(done.method == "POST")
        #expect(done.response?.body == bytes.prefix(2))
        #expect(done.response?.isTruncated == true)
        #expect(done.attempts.first?.decision?.reason == .notRetryable)
      }
      let refused = try await client.submitAndWait(
        OutgoingCall(loopback(unusedPort()), policy: CallPolicy(maxAttempts: 1)))
      #expect(refused.failureReason == .attemptsExhausted)
      #expect(refused.attempts.first?.outcome == .notSent)
      #expect(refused.attempts.first?.failure?.code == "connectionRefused")
    }
  }

  @Test("a refusal by the service is a typed problem that names each wrong place")
  func problems() async throws {
    try await withService { client in
      var call = OutgoingCall(loopback(1), method: "CONNECT", labels: ["": "x"])
      call.headers["Connection"] = "close"
      let problem = await #expect(throws: RedialProblem.self) { try await client.submit(call) }
      #expect(problem?.status == 422)
      #expect(problem?.code == "invalidDescriptor")
      #expect(Set(problem?.errors.map(\.pointer) ?? []) == ["/method", "/labels/", "/headers/Connection"])
      #expect(problem?.description.contains("/method must not be CONNECT") == true)
      for id in ["call_0000000000000", "nothing", "a/b", "..", ""] {
        let missing = await #expect(throws: RedialProblem.self) { try await client.call(id) }
        #expect(missing?.status == 404)
      }
      let missing = await #expect(throws: RedialProblem.self) { try await client.cancel("call_0000000000000") }
      #expect(missing?.code == "callNotFound")
      // The service takes the key, and each submit has one of its own.
      let first = try await client.submit(OutgoingCall(loopback(1), start: .after(.seconds(3600))))
      let second = try await client.submit(OutgoingCall(loopback(1), start: .after(.seconds(3600))))
      #expect(first.id != second.id && first.idempotencyKey != nil)
    }
  }

  @Test("a waiting call outlives its waiting client, can be cancelled, and can be run at once")
  func cancelAndRetry() async throws {
    try await withService { client in
      try await ScriptedService.run(Self.failing(0)) { url, target in
        let id = try await client.submit(OutgoingCall(url, start: .after(.seconds(3600)))).id
        let (waits, told) = AsyncStream.makeStream(of: Duration.self)
        var patient = client
        // Looks again and again, so that its waits can be seen.
        patient.longestWait = .zero
        patient.clock = HookedClock { wait in
          told.yield(wait)
          try await Task.sleep(for: .seconds(3600))
        }
        let waiting = Task { [patient] in try await patient.result(of: id) }
        for await _ in waits { break }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let seen = try await client.call(id)
        #expect(seen.state == .scheduled)
        #expect(seen.waitingOn == .startTime)
        #expect(try #require(seen.nextAttemptAt) > Date(timeIntervalSinceNow: 3500))

        #expect(try await client.cancel(id).state == .cancelled)
        #expect(try await client.result(of: id).state == .cancelled)
        #expect(try await client.cancel(id).state == .cancelled)
        #expect(target.requests.isEmpty)

        try await client.retry(id)
        #expect(try await client.result(of: id).state == .succeeded)
        #expect(target.requests.count == 1)
        let ended = await #expect(throws: RedialProblem.self) { try await client.cancel(id) }
        #expect(ended?.status == 409)
        #expect(ended?.code == "callEnded")
      }
    }
  }

  @Test("a call that failed is made again, with its earlier attempts")
  func again() async throws {
    try await withService { client in
      try await ScriptedService.run(Self.failing(1, status: 404)) { url, _ in
        let failed = try await client.submitAndWait(OutgoingCall(url))
        #expect(failed.state == .failed)
        try await client.retry(failed.id)
        let done = try await client.result(of: failed.id)
        #expect(done.state == .succeeded)
        #expect(done.attempts.map(\.status) == [404, 200])
      }
    }
  }

  @Test("lists are read page by page, newest first, by state and by target, whatever the target's name")
  func listing() async throws {
    try await withService { client in
      let name = "a&b=c/d% ü+"
      var ids: [String] = []
      for _ in 0..<7 {
        ids.append(try await client.submit(OutgoingCall(loopback(1), start: .after(.seconds(3600)), target: name)).id)
      }
      let other = try await client.submit(OutgoingCall(loopback(1), start: .at(Date(timeIntervalSinceNow: 3600)))).id
      try await client.cancel(ids[2])
      func listed(_ list: RedialPages<RedialCall>) async throws -> [String] {
        var found: [String] = []
        for try await call in list { found.append(call.id) }
        return found
      }
      let (log, lines) = AsyncStream.makeStream(of: String.self)
      var counting = client
      counting.log = { if $0.contains("succeeded") { lines.yield($0) } }
      #expect(try await listed(counting.calls(CallFilter(target: name), pageSize: 3)) == ids.reversed())
      lines.finish()
      var requests = 0
      for await _ in log { requests += 1 }
      #expect(requests == 3)
      #expect(try await listed(client.calls(pageSize: 0)) == [other] + ids.reversed())
      #expect(try await listed(client.calls(CallFilter(state: [.cancelled]))) == [ids[2]])
      #expect(try await listed(client.calls(CallFilter(state: [.running]))) == [])
      let either = CallFilter(state: [.scheduled, .cancelled], target: name)
      #expect(try await listed(client.calls(either, pageSize: 6)) == ids.reversed())
      let problem = await #expect(throws: RedialProblem.self) {
        try await listed(client.calls(CallFilter(state: [RedialCall.State(rawValue: "done")])))
      }
      #expect(problem?.errors.map(\.parameter) == ["state"])
    }
  }

  @Test("targets show their breakers")
  func targets() async throws {
    try await withService { client in
      let url = loopback(unusedPort())
      let policy = CallPolicy(maxAttempts: 1, onTrip: .fail)
      for _ in 0..<10 { _ = try await client.submitAndWait(OutgoingCall(url, policy: policy, target: "a/b")) }
      let target = try await client.getTarget("a/b")
      #expect(target.key == "a/b")
      #expect(target.breaker.state == .open)
      #expect(target.breaker.consecutiveFailures == 10)
      #expect(target.breaker.openUntil != nil)
      var keys: [String] = []
      for try await one in client.listTargets() { keys.append(one.key) }
      #expect(keys == ["a/b"])
      let tripped = try await client.submitAndWait(OutgoingCall(url, policy: policy, target: "a/b"))
      #expect(tripped.failureReason == .tripped)
      let problem = await #expect(throws: RedialProblem.self) { try await client.getTarget("none") }
      #expect(problem?.code == "targetNotFound")
    }
  }
}
