import Redial
import RedialTestSupport
import Testing

@Suite("Retriers")
struct RetrierTests {
  /// Work that fails so many times.
  private func failing(_ times: Int, _ notes: Notes<RetryAttempt> = Notes()) -> @Sendable (RetryAttempt) throws -> Int {
    { attempt in
      notes.add(attempt)
      if attempt.number <= times { throw Flop() }
      return attempt.number
    }
  }

  @Test("one line retries until it succeeds")
  func oneLine() async throws {
    let calls = Notes<Int>()
    let answer = try await retry(RetryPolicy(backoff: .constant(.zero))) {
      calls.add(1)
      if calls.count < 3 { throw Flop() }
      return "done"
    }
    #expect(answer == "done" && calls.count == 3)
  }

  @Test("the work receives the wait before it and the time since the start")
  func e6() async throws {
    let clock = TestClock()
    let notes = Notes<RetryAttempt>()
    var policy = RetryPolicy.patient
    policy.backoff.jitter = .none
    #expect(try await Retrier.test(policy, clock: clock).run(failing(3, notes)) == 4)
    #expect(notes.all.map(\.wait) == [.zero, .milliseconds(500), .milliseconds(750), .milliseconds(1125)])
    #expect(notes.all.map(\.elapsed) == [.zero, .milliseconds(500), .milliseconds(1250), .milliseconds(2375)])
    #expect(clock.waits == [.milliseconds(500), .milliseconds(750), .milliseconds(1125)])
  }

  @Test("gives up by real elapsed time, and no wait ends after the deadline")
  func e4() async throws {
    let clock = TestClock()
    let error = await #expect(throws: RetryError.self) {
      try await Retrier.test(clock: clock).run { _ in
        // Each attempt takes 29 s, which counts.
        clock.advance(by: .seconds(29))
        throw Flop()
      }
    }
    #expect(error?.reason == .deadlineExceeded)
    let last = try #require(error?.history.last)
    #expect(last.startedAfter < .seconds(900) && last.startedAfter > .seconds(780))
    #expect((error?.attempts ?? 0) < 22)
  }

  @Test("gives up by the sum of its waits, with a wait before the first run, as ExponentialBackOff does")
  func sumOfWaits() async throws {
    let clock = TestClock()
    var policy = RetryPolicy.exponentialBackOff
    policy.backoff.jitter = .none
    let error = await #expect(throws: RetryError.self) {
      try await Retrier.test(policy, clock: clock).run { _ in throw Flop() }
    }
    #expect(error?.attempts == 25 && clock.waits.count == 25)
    #expect(Int(clock.waits.map(\.inSeconds).reduce(0, +) * 1000) == 908_746)
  }

  @Test("a user's own strategy drives the retrier")
  func e8() async throws {
    struct Countdown: BackoffStrategy {
      func wait(
        beforeRetry retry: Int, after history: WaitHistory, using random: inout some RandomNumberGenerator
      ) -> BackoffWait? {
        retry < 3 ? BackoffWait(.seconds(3 - retry)) : nil
      }
    }
    let clock = TestClock()
    var retrier = Retrier.test(clock: clock)
    retrier.strategy = Countdown()
    let error = await retrier.failure { _ in throw Flop() }
    #expect(error?.reason == .attemptsExhausted && clock.waits == [.seconds(3), .seconds(2), .seconds(1)])
  }

  @Test("a wait can see the error; the deadline and the target's request still count")
  func waitSeesError() async throws {
    struct Busy: Error { var freeAfter: Duration }
    let clock = TestClock()
    var retrier = Retrier.test(RetryPolicy(maxAttempts: 4, deadline: .seconds(100)), clock: clock)
    retrier.policy.backoff.jitter = .none
    retrier.wait = { error, computed in (error as? Busy)?.freeAfter ?? computed }
    try await retrier.run { attempt in
      switch attempt.number {
      case 1: throw Busy(freeAfter: .seconds(30))
      case 2: throw Flop()
      case 3: throw Flop(retryOutcome: .answered(status: 503, retryAfter: .seconds(9)))
      default: return
      }
    }
    #expect(clock.waits == [.seconds(30), .milliseconds(750), .seconds(9)])
    // A strategy that depends on its earlier waits does not take the user's for its own.
    let before = clock.waits.count
    retrier.policy = .pollyJittered
    try await retrier.run { attempt in
      if attempt.number == 1 { throw Busy(freeAfter: .seconds(50)) }
      if attempt.number < 4 { throw Flop() }
    }
    let waits = clock.waits.dropFirst(before)
    #expect(waits.count == 3 && waits.first == .seconds(50))
    #expect(waits.dropFirst().allSatisfy { $0 > .milliseconds(100) }, "\(waits)")
    retrier.policy = RetryPolicy(maxAttempts: 4, deadline: .seconds(100))
    let late = await retrier.failure { _ in throw Busy(freeAfter: .seconds(200)) }
    #expect(late?.reason == .deadlineExceeded && late?.attempts == 1)
  }

  @Test("by default there are three attempts, and an open breaker ends them at once")
  func defaults() async throws {
    let clock = TestClock()
    var retrier = Retrier(clock: clock)
    let spent = await retrier.failure { _ in throw Flop() }
    #expect(spent?.attempts == 3 && spent?.reason == .attemptsExhausted)
    let breaker = SharedCircuitBreaker(clock: clock)
    breaker.trip()
    retrier.breaker = breaker
    let before = clock.waits
    #expect(await retrier.failure { _ in }?.reason == .tripped && clock.waits == before)
  }

  @Test("work that does not ask for its attempt needs no parameter")
  func withoutParameter() async throws {
    let calls = Notes<Int>()
    let retrier = Retrier.test()
    #expect(try await retrier.run { calls.add(1) } == 1)
    #expect(try await retrier.result { calls.add(1) }.get() == 2)
  }

  @Test("the final error has the reason, the last error and the history with its decisions")
  func exhausted() async throws {
    let error = await #expect(throws: RetryError.self) {
      try await Retrier.test(RetryPolicy(maxAttempts: 3)).run { attempt in
        throw Flop(retryOutcome: attempt.number == 3 ? .notSent : .maybeSent)
      }
    }
    let end = try #require(error)
    #expect(end.reason == .attemptsExhausted && end.attempts == 3)
    #expect(end.lastError as? Flop == Flop(retryOutcome: .notSent))
    #expect(end.history.map(\.number) == [1, 2, 3])
    #expect(end.history.map(\.decision.rule) == [.retryableFailure, .retryableFailure, .attemptsSpent])
    #expect("\(end)".contains("3 attempts") && "\(end)".contains("Flop"))
  }

  @Test("N attempts are exactly N, and N retries are N + 1 attempts", arguments: 1...6)
  func exact(attempts: Int) async throws {
    let calls = Notes<RetryAttempt>()
    await #expect(throws: RetryError.self) {
      try await Retrier.test(RetryPolicy(maxAttempts: attempts)).run(failing(100, calls))
    }
    #expect(calls.count == attempts)
    let again = Notes<RetryAttempt>()
    await #expect(throws: RetryError.self) {
      try await Retrier.test(RetryPolicy(maxRetries: attempts)).run(failing(100, again))
    }
    #expect(again.count == attempts + 1)
  }

  @Test("an error that is not retried ends at once; the error's own outcome counts")
  func outcomes() async throws {
    func run(_ policy: RetryPolicy, _ outcome: AttemptOutcome) async -> (RetryError?, [Duration]) {
      let clock = TestClock()
      let error = await #expect(throws: RetryError.self) {
        try await Retrier.test(policy, clock: clock).run { _ in throw Flop(retryOutcome: outcome) }
      }
      return (error, clock.waits)
    }
    #expect(await run(RetryPolicy(), .unusable).0?.attempts == 1)
    #expect(await run(RetryPolicy(), .answered(status: 404)).0?.reason == .notRetryable)
    #expect(await run(RetryPolicy(retryOn: .nonIdempotent), .maybeSent).0?.attempts == 1)
    #expect(await run(RetryPolicy(maxAttempts: 4, retryOn: .nonIdempotent), .notSent).0?.attempts == 4)
    let asked = await run(RetryPolicy(maxAttempts: 3), .answered(status: 503, retryAfter: .seconds(7)))
    #expect(asked.1 == [.seconds(7), .seconds(7)])
    #expect(await run(RetryPolicy(), .answered(status: 503, directive: .stop)).0?.attempts == 1)
    var retrier = Retrier.test()
    retrier.outcome = { _ in .unusable }
    let judged = await retrier.failure { _ in throw Flop() }
    #expect(judged?.attempts == 1)
  }

  @Test("a long Retry-After parks the work until then, if the policy says so")
  func parked() async throws {
    let clock = TestClock()
    var policy = RetryPolicy(deadline: .seconds(86_400))
    policy.retryAfter.beyond = .park
    let result = try await Retrier.test(policy, clock: clock).run { attempt in
      if attempt.number == 1 { throw Flop(retryOutcome: .answered(status: 503, retryAfter: .seconds(7200))) }
      return attempt.number
    }
    #expect(result == 2 && clock.waits == [.seconds(7200)])
  }

  @Test("an attempt that exceeds its timeout counts as failed, is cancelled, and is repeated")
  func timeout() async throws {
    let clock = TestClock(.manual)
    let cancelled = Notes<Int>()
    let policy = RetryPolicy(attemptTimeout: .seconds(10), backoff: .constant(.zero))
    let (starts, started) = AsyncStream.makeStream(of: Int.self)
    async let result = Retrier.test(policy, clock: clock).run { attempt in
      if attempt.number == 2 { return "second" }
      started.yield(attempt.number)
      // Not in a cancellation handler: work that ends as soon as it sees the cancellation may end before its handler runs.
      while !Task.isCancelled { await Task.yield() }
      cancelled.add(attempt.number)
      return "late"
    }
    await clock.waitForSleepers(1, .timeout)
    // An attempt whose time is over before it has begun is not made at all.
    for await _ in starts { break }
    clock.advance(by: .seconds(10))
    // The wait of nothing between the attempts is one on this clock, too.
    await clock.waitForSleepers(1)
    clock.advance(by: .zero)
    #expect(try await result == "second" && cancelled.all == [1])
  }

  @Test("a cancellation during an attempt or a wait is reported as cancellation, at once")
  func cancellation() async throws {
    for isWaiting in [false, true] {
      let clock = TestClock(.manual)
      let attempts = Notes<Int>()
      let task = Task {
        try await Retrier.test(clock: clock).run { attempt in
          attempts.add(attempt.number)
          if isWaiting { throw Flop() }
          try await clock.timeout(after: .seconds(5))
        }
      }
      await clock.waitForSleepers(isWaiting ? 1 : 2, isWaiting ? .wait : .timeout)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(attempts.count == 1)
    }
    let early = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await Retrier.test().run { _ in 1 }
    }
    early.cancel()
    await #expect(throws: CancellationError.self) { try await early.value }
  }

  @Test("an initial delay beyond the deadline ends at once")
  func lateStart() async {
    let clock = TestClock()
    let error = await Retrier.test(
      RetryPolicy(deadline: .seconds(1), initialDelay: .fixed(.seconds(10))), clock: clock
    ).failure { _ in }
    #expect(error?.reason == .deadlineExceeded && error?.attempts == 0 && clock.waits.isEmpty)
  }

  @Test("streams of events end with the events")
  func eventsEnd() async {
    var events: RetryEvents? = RetryEvents()
    let stream = events?.stream()
    events?.tell(.cancelled(name: "x", attempts: 0))
    events = nil
    var count = 0
    if let stream { for await _ in stream { count += 1 } }
    #expect(count == 1)
  }

  @Test("the same seed gives the same waits, another seed others")
  func deterministic() async throws {
    func waits(_ seed: UInt64) async -> [Duration] {
      let clock = TestClock()
      var retrier = Retrier.test(RetryPolicy(maxAttempts: 8), clock: clock)
      retrier.seed = { seed }
      _ = await retrier.failure { _ in throw Flop() }
      return clock.waits
    }
    let first = await waits(1)
    #expect(first.count == 7)
    #expect(await waits(1) == first)
    #expect(await waits(2) != first)
  }

  @Test("events and log lines report every step in order")
  func events() async throws {
    let events = RetryEvents()
    let lines = Notes<String>()
    var retrier = Retrier.test(RetryPolicy(maxAttempts: 3))
    retrier.events = events
    retrier.log = { lines.add($0) }
    let stream = events.stream()
    _ = try await retrier.run(failing(2))
    events.finish()
    var words: [String] = []
    for await event in stream {
      switch event {
      case .attemptStarted(_, let number): words.append("start \(number)")
      case .attemptFailed(_, let number, _, _): words.append("failed \(number)")
      case .waiting(_, let reason, _): words.append("wait \(reason)")
      case .succeeded(_, let attempts, _): words.append("succeeded \(attempts)")
      default: words.append("\(event)")
      }
    }
    #expect(
      words == [
        "start 1", "failed 1", "wait backoff", "start 2", "failed 2", "wait backoff", "start 3", "succeeded 3",
      ])
    #expect(lines.count == words.count && lines.all.last?.hasPrefix("test: succeeded at attempt 3") == true)
  }

  @Test("a slow listener loses the oldest events, and delays nobody")
  func slowListener() async throws {
    let events = RetryEvents()
    let stream = events.stream(limit: 5)
    for number in 1...100 { events.tell(.attemptStarted(name: "x", number: number)) }
    events.finish()
    var numbers: [Int] = []
    for await case .attemptStarted(_, let number) in stream { numbers.append(number) }
    #expect(numbers == [96, 97, 98, 99, 100])
  }
}
