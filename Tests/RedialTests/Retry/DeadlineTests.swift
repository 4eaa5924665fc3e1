import Redial
import RedialTestSupport
import Synchronization
import Testing

@Suite("Deadlines of retriers")
struct RetrierDeadlineTests {
  @Test("a deadline that has passed makes no attempt", arguments: [Duration.zero, .seconds(-5)])
  func passed(deadline: Duration) async {
    for measure in DeadlineRule.Measure.allCases {
      let attempts = Notes<Int>()
      let policy = RetryPolicy(deadline: deadline, deadlineRule: DeadlineRule(measure: measure))
      let error = await Retrier.test(policy).failure { attempts.add($0.number) }
      #expect(error?.reason == .deadlineExceeded && attempts.count == 0 && error?.attempts == 0)
    }
  }

  @Test("an attempt has the policy's minimum time, also the first and one after a breaker's wait")
  func leastTime() async {
    let clock = TestClock()
    let breaker = SharedCircuitBreaker(.fe9lix, clock: clock)
    for _ in 0..<3 { try? await breaker.run { throw Flop() } }
    let rule = DeadlineRule(minimumAttemptTime: .seconds(5))
    var retrier = Retrier.test(RetryPolicy(deadline: .seconds(12), deadlineRule: rule, onTrip: .wait), clock: clock)
    retrier.breaker = breaker
    let attempts = Notes<Duration>()
    let error = await retrier.failure { attempts.add($0.timeout) }
    #expect(error?.reason == .deadlineExceeded && error?.retryAfter == .seconds(10))
    #expect(clock.waits.isEmpty && attempts.count == 0, "the wait of 10 s would leave 2 s")

    retrier.policy.deadline = .seconds(4)
    retrier.breaker = nil
    #expect(await retrier.failure { attempts.add($0.timeout) }?.reason == .deadlineExceeded && attempts.count == 0)
    retrier.policy.deadline = .seconds(16)
    retrier.breaker = breaker
    #expect(await retrier.failure { attempts.add($0.timeout) } == nil && attempts.all == [.seconds(6)])
  }

  @Test("a wait for another's probe also leaves the minimum time")
  func leastTimeAfterProbe() async {
    let clock = TestClock(.manual)
    let breaker = SharedCircuitBreaker(.fe9lix, clock: clock)
    for _ in 0..<3 { try? await breaker.run { throw Flop() } }
    clock.advance(by: .seconds(10))
    guard case .permitted(let probe) = breaker.acquire() else {
      Issue.record("no probe")
      return
    }
    let rule = DeadlineRule(minimumAttemptTime: .seconds(5))
    var retrier = Retrier.test(RetryPolicy(deadline: .seconds(12), deadlineRule: rule, onTrip: .wait), clock: clock)
    retrier.breaker = breaker
    let attempts = Notes<Int>()
    async let error = retrier.failure { attempts.add($0.number) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(8))
    breaker.record(.success, of: probe)
    #expect(await error?.reason == .deadlineExceeded && attempts.count == 0)
  }

  @Test("a clock that goes back does not put the deadline off")
  func clockGoesBack() async {
    let clock = UnsteadyClock()
    var retrier = Retrier(RetryPolicy(maxAttempts: 1000, deadline: .seconds(60), backoff: .constant(.seconds(1))))
    retrier.clock = clock
    let attempts = Notes<Duration>()
    let error = await retrier.failure { attempt in
      attempts.add(attempt.elapsed)
      // Half an hour back, every tenth attempt.
      if attempt.number % 10 == 0 { clock.move(by: .seconds(-1800)) }
      throw Flop()
    }
    #expect(error?.reason == .deadlineExceeded && (58...62).contains(attempts.count))
    #expect(attempts.all == attempts.all.sorted() && attempts.all.last.map { $0 < .seconds(60) } == true)
    #expect((error?.history.map(\.duration).min() ?? .zero) >= .zero)
  }
}

/// A clock that can be set back; its waits pass at once.
private final class UnsteadyClock: RetryClock {
  private let time = Mutex(Timestamp(microseconds: 1_790_000_000_000_000))

  var now: Timestamp { time.withLock { $0 } }
  var wallTime: Timestamp { now }

  func move(by span: Duration) { time.withLock { $0 = $0 + span } }
  func sleep(for wait: Duration) async throws { move(by: wait) }
  func timeout(after limit: Duration) async throws { try await Task.sleep(for: .seconds(600)) }
}
