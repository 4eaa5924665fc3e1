import Redial
import RedialTestSupport
import Testing

@Suite("Shared breakers, budgets and registries")
struct SharedCircuitBreakerTests {
  private func breaker(_ clock: any RetryClock, _ settings: CircuitBreakerSettings = .fe9lix) -> SharedCircuitBreaker {
    SharedCircuitBreaker(settings, name: "billing", clock: clock)
  }

  @Test("success, failure, reset, state and count can be used from any thread")
  func c6() async {
    let settings = CircuitBreakerSettings(consecutiveFailures: 5, openInterval: .zero, halfOpenProbes: 2)
    let breaker = SharedCircuitBreaker(settings)
    let changes = Notes<String>()
    breaker.onChange { from, to in changes.add("\(from.word) \(to.word)") }
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          var random = RandomSource(seed: UInt64(worker))
          for _ in 0..<2000 {
            switch random.next() % 8 {
            case 0: breaker.reset()
            case 1: _ = breaker.current
            case 2: _ = breaker.failureCount
            default:
              if case .permitted(let permit) = breaker.acquire() {
                breaker.record(random.next() % 3 == 0 ? .success : .failure, of: permit)
              }
            }
          }
        }
      }
    }
    breaker.reset()
    #expect(breaker.current == .closed && breaker.failureCount == 0 && changes.count > 0)
  }

  @Test("a closure and events report each change of the breaker once")
  func c7() async throws {
    let clock = TestClock()
    let events = RetryEvents()
    let stream = events.stream()
    let breaker = SharedCircuitBreaker(.fe9lix, name: "billing", clock: clock, events: events)
    let changes = Notes<String>()
    breaker.onChange { from, to in
      // It may use the breaker.
      changes.add("\(from.word) \(to.word) \(breaker.failureCount)")
    }
    for _ in 0..<3 { try? await breaker.run { throw Flop() } }
    await #expect(throws: CircuitOpen(name: "billing", retryAfter: .seconds(10))) { try await breaker.run {} }
    clock.advance(by: .seconds(10))
    try await breaker.run {}
    #expect(changes.all == ["closed open 3", "open halfOpen 3", "halfOpen closed 0"])
    events.finish()
    var told = 0
    for await case .breakerChanged(let name, _, _) in stream where name == "billing" { told += 1 }
    #expect(told == 3)
  }

  @Test("work that waits for an open breaker goes on when it closes, and is not charged an attempt")
  func waits() async throws {
    let clock = TestClock()
    let breaker = breaker(clock)
    for _ in 0..<3 { try? await breaker.run { throw Flop() } }
    var retrier = Retrier.test(clock: clock)
    retrier.breaker = breaker
    #expect(try await retrier.run { $0.number } == 1)
    #expect(clock.waits == [.seconds(10)] && breaker.current == .closed)
  }

  @Test("work that waits for another's probe goes on when that has ended, not only when its time is up")
  func waitsForProbe() async throws {
    let clock = TestClock(.manual)
    let breaker = breaker(clock)
    for _ in 0..<3 { try? await breaker.run { throw Flop() } }
    clock.advance(by: .seconds(10))
    guard case .permitted(let probe) = breaker.acquire() else {
      Issue.record("no probe")
      return
    }
    var retrier = Retrier.test(clock: clock)
    retrier.breaker = breaker
    async let result = retrier.run { $0.number }
    await clock.waitForSleepers(1)
    breaker.record(.success, of: probe)
    #expect(try await result == 1)
  }

  @Test("a policy that does not wait ends as tripped; one whose deadline is nearer than the breaker's end, at once")
  func tripped() async throws {
    let clock = TestClock()
    let breaker = breaker(clock)
    for _ in 0..<3 { try? await breaker.run { throw Flop() } }
    var retrier = Retrier.test(RetryPolicy(onTrip: .fail), clock: clock)
    retrier.breaker = breaker
    let error = await retrier.failure { _ in }
    #expect(error?.reason == .tripped && error?.retryAfter == .seconds(10) && error?.attempts == 0)
    retrier.policy = RetryPolicy(deadline: .seconds(5), onTrip: .wait)
    let late = await retrier.failure { _ in }
    #expect(late?.reason == .deadlineExceeded && clock.waits.isEmpty)
  }

  @Test("a failure that opens the breaker ends a policy that does not wait at once, without a wait or a debit")
  func trippedByItself() async throws {
    let clock = TestClock()
    let budget = SharedRetryBudget(.aws, clock: clock)
    let retrier = Retrier(
      RetryPolicy(onTrip: .fail), name: "test",
      breaker: SharedCircuitBreaker(CircuitBreakerSettings(consecutiveFailures: 2), clock: clock), budget: budget,
      clock: clock)
    let error = await retrier.failure { _ in throw Flop() }
    #expect(error?.reason == .tripped && error?.attempts == 2 && error?.lastError is Flop)
    #expect(clock.waits.count == 1 && budget.balance == 500 - 14)
    #expect(error?.description.contains("gave up after 2 attempts") == true)
  }

  @Test("half-open lets exactly its probes through, however many ask at once")
  func probes() async throws {
    let clock = TestClock()
    var settings = CircuitBreakerSettings.fe9lix
    settings.halfOpenProbes = 3
    let breaker = breaker(clock, settings)
    for _ in 0..<3 { try? await breaker.run { throw Flop() } }
    clock.advance(by: .seconds(10))
    let permitted = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<200 {
        group.addTask { if case .permitted = breaker.acquire() { true } else { false } }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(permitted == 3)
  }

  @Test("a budget that runs share bounds what retries add, and is paid before the wait")
  func budget() async throws {
    let clock = TestClock()
    let budget = SharedRetryBudget(.ratio(share: 0.1, minimumPerSecond: 0, window: .seconds(10)), clock: clock)
    let attempts = Notes<Int>()
    let reasons = Notes<RetryError.Reason>()
    for _ in 0..<100 {
      var retrier = Retrier.test(RetryPolicy(maxAttempts: 25, backoff: .constant(.zero)), clock: clock)
      retrier.budget = budget
      do {
        try await retrier.run { attempt in
          attempts.add(attempt.number)
          throw Flop()
        }
      } catch let error as RetryError {
        reasons.add(error.reason)
      }
    }
    #expect(attempts.count <= 110 && attempts.count > 100)
    #expect(reasons.all.allSatisfy { $0 == .budgetExhausted })
  }

  @Test("answers that are not worth a retry cost a shared budget nothing")
  func permanentIsFree() async {
    let clock = TestClock()
    let budget = SharedRetryBudget(.gRPC, clock: clock)
    let full = budget.balance
    for _ in 0..<20 {
      let retrier = Retrier(RetryPolicy(), name: "test", budget: budget, clock: clock)
      let error = await retrier.failure { _ in throw Flop(retryOutcome: .answered(status: 404)) }
      #expect(error?.reason == .notRetryable)
    }
    #expect(budget.balance == full)
  }

  @Test("work that is cancelled says nothing about the target, whatever it throws")
  func cancelledWork() async {
    let breaker = SharedCircuitBreaker(CircuitBreakerSettings(consecutiveFailures: 1))
    let task = Task {
      try await breaker.run {
        while !Task.isCancelled { await Task.yield() }
        throw Flop()
      }
    }
    task.cancel()
    _ = await task.result
    try? await breaker.run { throw CancellationError() }
    #expect(breaker.current == .closed && breaker.failureCount == 0)
    let retrier = Retrier(RetryPolicy(maxAttempts: 3), name: "test", breaker: breaker, clock: TestClock())
    #expect(await retrier.failure { _ in throw CancellationError() }?.attempts == 3)
    #expect(breaker.failureCount == 0)
  }

  @Test("to look at an open breaker does not move it")
  func looking() async {
    let clock = TestClock()
    let breaker = breaker(clock)
    for _ in 0..<3 { try? await breaker.run { throw Flop() } }
    clock.advance(by: .seconds(10))
    #expect(breaker.current.word == "halfOpen" && breaker.snapshot.state.word == "open")
  }

  @Test("a retry that was paid for and cancelled in its wait is given back")
  func budgetGivenBack() async throws {
    let clock = TestClock(.manual)
    let budget = SharedRetryBudget(.aws, clock: clock)
    let full = budget.balance
    var retrier = Retrier.test(clock: clock)
    retrier.budget = budget
    let task = Task { [retrier] in try await retrier.run { _ in throw Flop() } }
    await clock.waitForSleepers(1)
    #expect(budget.balance < full)
    task.cancel()
    _ = await task.result
    #expect(budget.balance == full)
  }

  @Test("a registry makes each value once, and forgets what was not used for the longest")
  func registry() async {
    let made = Notes<String>()
    let registry = SharedRegistry<String, SharedCircuitBreaker>(limit: 3) { key in
      made.add(key)
      return SharedCircuitBreaker(name: key)
    }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<50 { group.addTask { _ = registry["a"] } }
    }
    #expect(made.all == ["a"] && registry["a"] === registry["a"])
    _ = (registry["b"], registry["c"], registry["a"], registry["d"])
    #expect(Set(registry.all.keys) == ["a", "c", "d"])
    registry.remove("a")
    _ = registry["a"]
    #expect(made.all == ["a", "b", "c", "d", "a"])
  }

  @Test("a registry at its limit keeps the breakers that are open or forced open, and never the closed in their place")
  func registryKeepsOrders() {
    let registry = SharedRegistry<String, SharedCircuitBreaker>(limit: 3) { SharedCircuitBreaker(name: $0) }
    registry["forced"].force(.open)
    registry["open"].trip()
    for number in 0..<100 { _ = registry["\(number)"] }
    #expect(registry["forced"].current == .forced(.open) && registry["open"].current.word == "open")
    #expect(registry.all.count == 3)
    // Where all are bad, an order counts for more than what is only known.
    registry["99"].force(.disabled)
    _ = registry["new"]
    #expect(Set(registry.all.keys) == ["forced", "99", "new"])
    registry["new"].force(.open)
    let further = registry["further"]
    #expect(further.current == .closed && Set(registry.all.keys) == ["forced", "99", "new"])
  }

  @Test("a registry that is full takes a new key as fast as an empty one")
  func registryIsQuick() throws {
    let limit = 100_000
    let registry = SharedRegistry<Int, SharedRetryBudget>(limit: limit) { _ in SharedRetryBudget() }
    let began = ContinuousClock.now
    // If each looked through all the others, it would take many minutes.
    for key in 0..<(2 * limit) {
      _ = registry[key]
      if key % 1000 == 0 { try #require(ContinuousClock.now - began < .seconds(60), "\(key) keys") }
    }
    #expect(registry.all.count == limit)
  }
}
