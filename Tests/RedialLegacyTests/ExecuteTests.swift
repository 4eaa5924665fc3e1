import Redial
import RedialLegacy
import RedialTestSupport
import Testing

@Suite("Calls that report by a callback, under a shared breaker")
struct ExecuteTests {
  private func breaker(_ clock: any RetryClock, _ settings: CircuitBreakerSettings = .fe9lix) -> SharedCircuitBreaker {
    SharedCircuitBreaker(settings, name: "billing", clock: clock)
  }

  @Test("execute makes the call until the breaker trips, then reports the last error and makes no more calls")
  func c3() async throws {
    let clock = TestClock()
    let breaker = breaker(clock)
    let calls = Notes<Int>()
    let trips = Notes<String>()
    func execute() async {
      let task = breaker.execute(.fe9lix) { call in
        calls.add(1)
        call.failure(Flop(retryOutcome: .notSent))
      } didTrip: { error in
        trips.add("\(error as? Flop == Flop(retryOutcome: .notSent))")
      }
      _ = await task.result
    }
    await execute()
    #expect(calls.count == 3 && breaker.failureCount == 3 && trips.all == ["true"])
    #expect(clock.waits == [.seconds(2), .seconds(4)], "waits 2 s, then 2 s to the power of 2")
    await execute()
    #expect(calls.count == 3 && trips.all == ["true", "true"])
    clock.advance(by: .seconds(10))
    #expect(breaker.current.word == "halfOpen")
    await execute()
    #expect(calls.count == 4, "one probe, and none while it is open again")
  }

  @Test("a call that succeeds or fails before execute returns is neither repeated nor loses its retry")
  func synchronous() async throws {
    let clock = TestClock()
    let calls = Notes<Int>()
    let task = breaker(clock).execute(.fe9lix) { call in
      calls.add(1)
      if calls.count == 1 { call.failure(Flop()) } else { call.success() }
    }
    try await task.value
    clock.advance(by: .seconds(3600))
    #expect(calls.count == 2)
  }

  @Test("a call that reports nothing in time counts as failed; a late or second report changes nothing")
  func c2() async throws {
    let clock = TestClock(.manual)
    let breaker = breaker(clock)
    let tokens = Notes<CallbackAttempt>()
    let task = breaker.execute(.fe9lix) { call in
      tokens.add(call)
      if tokens.count == 2 {
        call.success()
        call.failure(Flop())
        call.success()
      }
    }
    await clock.waitForSleepers(1, .timeout)
    #expect(await eventually { tokens.count == 1 })
    clock.advance(by: .seconds(10))
    #expect(await eventually { breaker.failureCount == 1 })
    tokens.all.first?.success()
    tokens.all.first?.failure(Flop())
    #expect(breaker.failureCount == 1)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(2))
    try await task.value
    #expect(tokens.count == 2 && breaker.failureCount == 0 && breaker.current == .closed)
  }

  @Test("a timeout does not wipe the last error")
  func lastError() async {
    let clock = TestClock(.manual)
    let breaker = breaker(clock)
    let calls = Notes<Int>()
    let told = Notes<String>()
    let task = breaker.execute(.fe9lix) { call in
      calls.add(1)
      // The others report nothing.
      if calls.count == 1 { call.failure(Flop(retryOutcome: .notSent)) }
    } didTrip: { error in
      told.add("\(type(of: error))")
    }
    for (begun, wait) in [(2, Duration.seconds(2)), (3, .seconds(4))] {
      await clock.waitForSleepers(1)
      clock.advance(by: wait)
      await clock.waitForSleepers(1, .timeout)
      #expect(await eventually { calls.count == begun })
      clock.advance(by: .seconds(10))
    }
    _ = await task.result
    #expect(told.all == ["AttemptTimeout"] && calls.count == 3)
    #expect(breaker.lastError as? Flop == Flop(retryOutcome: .notSent))
  }

  @Test("didTrip has the error that tripped the breaker: not one from before it last closed, and always one")
  func didTripsError() async throws {
    let clock = TestClock()
    let breaker = breaker(clock)
    let told = Notes<String>()
    func execute(_ outcome: AttemptOutcome?) async {
      let task = breaker.execute(.fe9lix) { call in
        if let outcome { call.failure(Flop(retryOutcome: outcome)) } else { call.success() }
      } didTrip: { error in
        told.add((error as? Flop).map { "\($0.retryOutcome)" } ?? "\(type(of: error))")
      }
      _ = await task.result
    }
    // It fails, and recovers.
    await execute(.notSent)
    clock.advance(by: .seconds(10))
    await execute(nil)
    #expect(told.all == ["notSent"] && breaker.lastError == nil)
    // It fails in another way, for somebody who does not use execute.
    for _ in 0..<3 { try? await breaker.run { throw Flop(retryOutcome: .maybeSent) } }
    await execute(nil)
    #expect(told.all == ["notSent", "maybeSent"])
    // Nobody has failed, and an operator opens it.
    breaker.reset()
    breaker.trip()
    await execute(nil)
    #expect(told.all == ["notSent", "maybeSent", "CircuitOpen"])
  }
}
