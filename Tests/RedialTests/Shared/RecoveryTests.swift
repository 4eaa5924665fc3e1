import Redial
import RedialTestSupport
import Synchronization
import Testing

@Suite("Calls that come back when a breaker has closed")
struct RecoveryTests {
  /// Work that stays in flight until the test lets it go.
  private final class Held: Sendable {
    private struct State {
      var inFlight = 0
      var peak = 0
      var ended = 0
      var isOpen = false
      var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())

    var inFlight: Int { state.withLock { $0.inFlight } }
    var ended: Int { state.withLock { $0.ended } }

    /// The most in flight since this was last asked.
    func takePeak() -> Int {
      state.withLock { state in
        defer { state.peak = state.inFlight }
        return state.peak
      }
    }

    func work() async {
      await withCheckedContinuation { continuation in
        let passes = state.withLock { state in
          state.inFlight += 1
          state.peak = max(state.peak, state.inFlight)
          if !state.isOpen { state.waiting.append(continuation) }
          return state.isOpen
        }
        if passes { continuation.resume() }
      }
      state.withLock { state in
        state.inFlight -= 1
        state.ended += 1
      }
    }

    /// Lets go of those in flight; and, if for good, of all that come later.
    func release(forGood: Bool = false) {
      let waiting = state.withLock { state in
        state.isOpen = forGood
        defer { state.waiting = [] }
        return state.waiting
      }
      for continuation in waiting { continuation.resume() }
    }
  }

  private static let settings = CircuitBreakerSettings(
    consecutiveFailures: 1, openInterval: .seconds(10), halfOpenProbes: 1)

  @Test("of 10,000 that wait, no more go than the slow start's share", .timeLimit(.minutes(5)))
  func tenThousand() async throws {
    let (count, full) = (10_000, 200)
    let clock = TestClock(.manual)
    let slowStart = SlowStart(duration: .seconds(30))
    let breaker = SharedCircuitBreaker(
      Self.settings, recovery: BreakerRecovery(slowStart, fullLoad: full), clock: clock)
    try? await breaker.run { throw Flop() }
    let held = Held()
    let runs = (0..<count).map { _ in
      Task {
        var retrier = Retrier.test(
          RetryPolicy(deadline: .seconds(3600), attemptTimeout: .seconds(3600), onTrip: .wait), clock: clock)
        retrier.breaker = breaker
        try await retrier.run { _ in await held.work() }
      }
    }
    await clock.waitForSleepers(count)
    clock.advance(by: .seconds(10))
    #expect(await eventually { held.inFlight == 1 }, "one probe")
    await clock.waitForSleepers(count - 1)
    #expect(held.takePeak() == 1)
    // The probe succeeds, the breaker closes, and the ramp begins.
    var ramp = slowStart
    ramp.start(at: clock.now)
    held.release()
    for step in [Duration.zero, .seconds(6), .seconds(9), .seconds(12)] {
      clock.advance(by: step)
      let limit = ramp.limit(of: full, at: clock.now)
      held.release()
      #expect(await eventually { held.inFlight == limit }, "\(held.inFlight) of \(limit)")
      // Nobody else comes, however long one waits: those in flight have all of the places.
      #expect(breaker.inFlight == limit && held.takePeak() <= limit)
    }
    // The ramp is over, and the queue still does not go all at once.
    clock.advance(by: .seconds(6))
    held.release(forGood: true)
    for run in runs { try await run.value }
    #expect(held.ended == count && breaker.inFlight == 0)
    #expect(held.takePeak() <= full * 33 / 30)
  }

  @Test("where all are limited, calls that do not wait end as recovering while the places are taken")
  func noWait() async throws {
    let clock = TestClock(.manual)
    let breaker = SharedCircuitBreaker(
      Self.settings, recovery: BreakerRecovery(SlowStart(duration: .seconds(10)), fullLoad: 10, limitsAll: true),
      clock: clock)
    try? await breaker.run { throw Flop() }
    clock.advance(by: .seconds(10))
    try await breaker.run {}
    let held = Held()
    let first = Task { try await breaker.run { await held.work() } }
    #expect(await eventually { held.inFlight == 1 })
    await #expect(throws: CircuitRecovering(name: "breaker", retryAfter: .seconds(1))) { try await breaker.run {} }
    var retrier = Retrier.test(RetryPolicy(onTrip: .fail), clock: clock)
    retrier.breaker = breaker
    let error = await retrier.failure { _ in }
    #expect(error?.reason == .recovering && error?.attempts == 0 && error?.retryAfter == .seconds(1))
    clock.advance(by: .seconds(11))
    let others = (0..<50).map { _ in Task { try await breaker.run { await held.work() } } }
    #expect(await eventually { held.inFlight == 51 })
    held.release()
    try await first.value
    for other in others { try await other.value }
    #expect(breaker.inFlight == 0)
  }

  @Test("a breaker that has closed refuses no call that does not wait")
  func refusesNothing() async throws {
    let clock = TestClock(.manual)
    let breaker = SharedCircuitBreaker(Self.settings, clock: clock)
    try? await breaker.run { throw Flop() }
    clock.advance(by: .seconds(10))
    try await breaker.run {}
    let held = Held()
    let calls = (0..<5).map { _ in Task { try await breaker.run { await held.work() } } }
    #expect(await eventually { held.inFlight == 5 } && breaker.current == .closed)
    var retrier = Retrier.test(RetryPolicy(onTrip: .fail), clock: clock)
    retrier.breaker = breaker
    #expect(try await retrier.run { $0.number } == 1)
    held.release()
    for call in calls { try await call.value }
    #expect(breaker.inFlight == 0)
  }

  @Test("an error names the breaker that let nothing through, and says whether it is half-open")
  func namesTheBreaker() async throws {
    let clock = TestClock(.manual)
    let breaker = SharedCircuitBreaker(Self.settings, name: "db", clock: clock)
    try? await breaker.run { throw Flop() }
    var retrier = Retrier.test(RetryPolicy(deadline: .seconds(5), onTrip: .wait), clock: clock)
    retrier.breaker = breaker
    let late = await retrier.failure { _ in }
    #expect(late?.reason == .deadlineExceeded && late?.breaker == CircuitOpen(name: "db", retryAfter: .seconds(10)))
    #expect(
      late?.description == "not tried: the circuit breaker db is open, for another 10 s, and the deadline comes first")
    clock.advance(by: .seconds(10))
    let held = Held()
    let probe = Task { try await breaker.run { await held.work() } }
    #expect(await eventually { held.inFlight == 1 })
    let refused = await #expect(throws: CircuitOpen.self) { try await breaker.run {} }
    #expect(refused?.isHalfOpen == true)
    #expect(refused?.description == "the circuit breaker db is half-open, and its probes are in flight")
    retrier.policy.onTrip = .fail
    #expect(
      await retrier.failure { _ in }?.description.hasPrefix("not tried: the circuit breaker db is half-open") == true)
    held.release()
    try await probe.value
  }

  @Test("who is cancelled in the queue, or out of time, leaves it, and gives back a place that it was given")
  func departing() async throws {
    let clock = TestClock(.manual)
    let breaker = SharedCircuitBreaker(Self.settings, recovery: BreakerRecovery(fullLoad: 1), clock: clock)
    try? await breaker.run { throw Flop() }
    clock.advance(by: .seconds(10))
    try await breaker.run {}
    let held = Held()
    func start(_ deadline: Duration) -> Task<Void, any Error> {
      Task {
        var retrier = Retrier.test(RetryPolicy(deadline: deadline, onTrip: .wait), clock: clock)
        retrier.breaker = breaker
        try await retrier.run { _ in await held.work() }
      }
    }
    let first = start(.seconds(60))
    #expect(await eventually { held.inFlight == 1 })
    let (cancelled, late) = (start(.seconds(60)), start(.seconds(5)))
    // The first one's time, and the two that queue.
    await clock.waitForSleepers(3, .timeout)
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    clock.advance(by: .seconds(5))
    await #expect(throws: RetryError.self) { try await late.value }
    held.release(forGood: true)
    try await first.value
    #expect(breaker.inFlight == 0)
    for _ in 0..<200 {
      let race = [start(.seconds(60)), start(.seconds(60)), start(.seconds(60))]
      race[1].cancel()
      for run in race { _ = await run.result }
    }
    #expect(breaker.inFlight == 0)
  }

  @Test("a breaker that opens again sends those in the queue to wait for it")
  func opensAgain() async throws {
    let clock = TestClock(.manual)
    let breaker = SharedCircuitBreaker(Self.settings, recovery: BreakerRecovery(fullLoad: 1), clock: clock)
    try? await breaker.run { throw Flop() }
    clock.advance(by: .seconds(10))
    try await breaker.run {}
    let held = Held()
    var retrier = Retrier.test(RetryPolicy(attemptTimeout: .seconds(600), onTrip: .wait), clock: clock)
    retrier.breaker = breaker
    let runs = (0..<4).map { _ in Task { [retrier] in try await retrier.run { _ in await held.work() } } }
    await clock.waitForSleepers(4, .timeout)
    #expect(await eventually { held.inFlight == 1 })
    breaker.trip()
    await clock.waitForSleepers(3, .wait)
    #expect(held.inFlight == 1 && breaker.inFlight == 1)
    held.release(forGood: true)
    clock.advance(by: .seconds(10))
    for run in runs { try await run.value }
    #expect(breaker.inFlight == 0 && breaker.current == .closed)
  }

  @Test("without a recovery everybody goes at once")
  func none() async throws {
    let clock = TestClock(.manual)
    let breaker = SharedCircuitBreaker(Self.settings, recovery: .none, clock: clock)
    try? await breaker.run { throw Flop() }
    clock.advance(by: .seconds(10))
    try await breaker.run {}
    let held = Held()
    let runs = (0..<50).map { _ in Task { try await breaker.run { await held.work() } } }
    #expect(await eventually { held.inFlight == 50 })
    held.release()
    for run in runs { try await run.value }
  }
}
