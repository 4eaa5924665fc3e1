import Redial
import RedialTestSupport
import Synchronization
import Testing

@Suite("Pipelines and their parts")
struct PipelineTests {
  private struct Broken: Error {}

  @Test("parts compose by order: a breaker inside of the retrier counts attempts, one outside counts calls")
  func order() async throws {
    let settings = CircuitBreakerSettings(consecutiveFailures: 10)
    let (inside, outside) = (SharedCircuitBreaker(settings), SharedCircuitBreaker(settings))
    let retrier = Retrier(RetryPolicy(maxAttempts: 3, backoff: .constant(.zero)))
    let pipeline = Pipeline<Int>().with(outside).with(retrier).with(inside)
    await #expect(throws: RetryError.self) { try await pipeline.run { throw Broken() } }
    #expect(inside.failureCount == 3 && outside.failureCount == 1)
  }

  @Test("a timeout outside of the retrier bounds the whole, one inside an attempt")
  func timeouts() async throws {
    let clock = TestClock(.manual)
    let attempts = Notes<Int>()
    let retrier = Retrier(RetryPolicy(maxAttempts: 3, backoff: .constant(.seconds(60))), clock: clock)
    let pipeline = Pipeline<Int>().with(Timeout(.seconds(100), clock: clock)).with(retrier)
      .with(Timeout(.seconds(10), clock: clock))
    let task = Task {
      try await pipeline.run {
        attempts.add(1)
        try await Task.sleep(for: .seconds(3600))
        return 1
      }
    }
    // The whole, the retrier's attempt, and the one inside. Their time runs beside the work, which may begin later.
    await clock.waitForSleepers(3, .timeout)
    #expect(await eventually { attempts.count == 1 })
    clock.advance(by: .seconds(10))
    await clock.waitForSleepers(1, .wait)
    clock.advance(by: .seconds(60))
    await clock.waitForSleepers(3, .timeout)
    #expect(await eventually { attempts.count == 2 })
    clock.advance(by: .seconds(10))
    await clock.waitForSleepers(1, .wait)
    clock.advance(by: .seconds(20))
    await #expect(throws: AttemptTimeout(limit: .seconds(100))) { try await task.value }
    #expect(attempts.count == 2)
  }

  @Test("a fallback replaces errors of the parts inside it, no others, and no cancellation")
  func fallback() async throws {
    let inner = Pipeline<String>().fallback(if: { $0 is Broken }) { _ in "stale" }
    #expect(try await inner.run { throw Broken() } == "stale")
    #expect(try await inner.run { "fresh" } == "fresh")
    await #expect(throws: Flop.self) { try await inner.run { throw Flop() } }
    await #expect(throws: CancellationError.self) {
      try await Pipeline<String>().fallback { _ in "stale" }.run { throw CancellationError() }
    }
    let retrier = Retrier(RetryPolicy(maxAttempts: 2, backoff: .constant(.zero)))
    let whole = Pipeline<String>().fallback { error in "\((error as? RetryError)?.attempts ?? 0)" }.with(retrier)
    #expect(try await whole.run { throw Broken() } == "2")
  }

  @Test("a concurrency limit keeps its number, serves waiting work in order, and refuses the rest")
  func concurrency() async throws {
    let limit = ConcurrencyLimit(2, maxWaiting: 2)
    let (entered, gate) = (Notes<Int>(), Gate())
    func start(_ number: Int) -> Task<Void, any Error> {
      Task {
        try await limit.perform {
          entered.add(number)
          await gate.wait()
        }
      }
    }
    let first = [start(1), start(2)]
    #expect(await eventually { entered.count == 2 })
    let third = start(3)
    #expect(await eventually { limit.waiting == 1 })
    let fourth = start(4)
    #expect(await eventually { limit.waiting == 2 })
    await #expect(throws: LimitReached(name: "concurrency limit", retryAfter: nil)) { try await limit.perform {} }
    #expect(limit.inFlight == 2 && entered.count == 2)
    third.cancel()
    await #expect(throws: CancellationError.self) { try await third.value }
    gate.open()
    for task in first + [fourth] { try await task.value }
    #expect(limit.inFlight == 0 && limit.waiting == 0 && Set(entered.all) == [1, 2, 4])
  }

  @Test("of 1,000 at once, a concurrency limit lets 7 be in flight, and cancelled ones lose no place")
  func concurrencyHolds() async throws {
    let limit = ConcurrencyLimit(7, maxWaiting: 1000)
    let counts = Notes<Int>()
    let tasks = (0..<1000).map { _ in
      Task {
        try await limit.perform {
          counts.add(limit.inFlight)
          await Task.yield()
        }
      }
    }
    for index in stride(from: 0, to: 1000, by: 3) { tasks[index].cancel() }
    for task in tasks { _ = await task.result }
    #expect(limit.inFlight == 0 && counts.all.max().map { $0 <= 7 } == true)
  }

  @Test("a rate limit spaces work, and refuses work that would wait for too long")
  func rate() async throws {
    let clock = TestClock()
    let limiter = RateLimiter(permits: 10, per: .seconds(1), burst: 2)
    let limit = RateLimit(limiter, longestWait: .milliseconds(150), clock: clock)
    let began = clock.now
    for _ in 0..<12 { try await limit.perform {} }
    #expect(clock.now - began == .seconds(1))
    let strict = RateLimit(limiter, name: "rate", clock: clock)
    for _ in 0..<2 { try await strict.perform {} }
    await #expect(throws: LimitReached(name: "rate", retryAfter: .milliseconds(100))) { try await strict.perform {} }
  }

  @Test("a rate limit lets work begin in the order of arrival, and refuses at once what would wait for too long")
  func inOrder() async throws {
    let clock = TestClock(.manual)
    let limit = RateLimit(RateLimiter(permits: 1), longestWait: .seconds(2), name: "rate", clock: clock)
    let done = Notes<Int>()
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<3 {
      tasks.append(Task { try await limit.perform { _ = done.add(number) } })
      if number == 0 { #expect(await eventually { done.count == 1 }) } else { await clock.waitForSleepers(number) }
    }
    // Nobody moves the clock: a wait here would never end.
    await #expect(throws: LimitReached(name: "rate", retryAfter: .seconds(3))) { try await limit.perform {} }
    #expect(clock.waits == [.seconds(1), .seconds(2)])
    clock.advance(by: .seconds(1))
    #expect(await eventually { done.all == [0, 1] })
    clock.advance(by: .seconds(1))
    for task in tasks { try await task.value }
    #expect(done.all == [0, 1, 2])
  }

  @Test("a retrier around a limit retries when it is reached, and a breaker does not count that")
  func limitInRetrier() async throws {
    let clock = TestClock()
    let limit = RateLimit(RateLimiter(permits: 1, per: .seconds(1)), clock: clock)
    let breaker = SharedCircuitBreaker(CircuitBreakerSettings(consecutiveFailures: 1), clock: clock)
    let retrier = Retrier(RetryPolicy(backoff: .constant(.seconds(2))), clock: clock)
    let pipeline = Pipeline<Int>().with(retrier).with(breaker).with(limit)
    for number in 0..<3 { #expect(try await pipeline.run { number } == number) }
    #expect(clock.waits == [.seconds(2), .seconds(2)] && breaker.current == .closed)
  }

  @Test("a hedge starts a second run when the first is slow, and the first answer counts")
  func hedge() async throws {
    let clock = TestClock(.manual)
    let runs = Notes<Int>()
    let hedge = Hedge(
      after: .milliseconds(300), isIdempotent: true, budget: SharedRetryBudget(.unlimited), clock: clock)
    let task = Task {
      try await hedge.perform {
        let number = runs.add(1)
        if number == 1 { try await Task.sleep(for: .seconds(3600)) }
        return number
      }
    }
    #expect(await eventually { runs.count == 1 })
    await clock.waitForSleepers(1, .timeout)
    clock.advance(by: .milliseconds(300))
    #expect(try await task.value == 2)
  }

  @Test("work that may not be executed twice is not hedged, nor any while the budget is empty")
  func noHedge() async throws {
    let clock = TestClock(.manual)
    let empty = SharedRetryBudget(.ratio(share: 0, minimumPerSecond: 0, window: .seconds(10)), clock: clock)
    for (isIdempotent, budget) in [(false, SharedRetryBudget(.unlimited)), (true, empty)] {
      let hedge = Hedge(after: .milliseconds(300), isIdempotent: isIdempotent, budget: budget, clock: clock)
      let (runs, gate) = (Notes<Int>(), Gate())
      let task = Task {
        try await hedge.perform {
          runs.add(1)
          await gate.wait()
        }
      }
      #expect(await eventually { runs.count == 1 })
      if isIdempotent { await clock.waitForSleepers(1, .timeout) }
      clock.advance(by: .seconds(10))
      gate.open()
      try await task.value
      #expect(runs.count == 1)
    }
  }

  @Test("a hedge ends with the last error when no run succeeds, and cancels the run that is not needed")
  func hedgeEnds() async throws {
    let clock = TestClock(.manual)
    let budget = SharedRetryBudget(.aws, clock: clock)
    let full = budget.balance
    let hedge = Hedge(after: .seconds(1), isIdempotent: true, budget: budget, clock: clock)
    await #expect(throws: Broken.self) { try await hedge.perform { throw Broken() } }
    #expect(budget.balance < full)
    let before = budget.balance
    let asked = Notes<Int>()
    await #expect(throws: Permanent.self) {
      try await hedge.perform {
        asked.add(1)
        throw Permanent(Broken())
      }
    }
    // What cannot pass, what this side has refused, and what the target wants to be asked later is not hedged.
    let outcomes: [AttemptOutcome] = [
      .unusable, .localFault, .answered(status: 404), .answered(status: 503, retryAfter: .seconds(9)),
    ]
    for outcome in outcomes {
      await #expect(throws: Flop.self) {
        try await hedge.perform {
          asked.add(1)
          throw Flop(retryOutcome: outcome)
        }
      }
    }
    #expect(budget.balance == before && asked.count == 5)
    let cancelled = Notes<Int>()
    let runs = Notes<Int>()
    let task = Task {
      try await hedge.perform {
        guard runs.add(1) == 1 else { return "second" }
        do {
          try await Task.sleep(for: .seconds(3600))
        } catch {
          cancelled.add(1)
          throw error
        }
        return "first"
      }
    }
    #expect(await eventually { runs.count == 1 })
    await clock.waitForSleepers(1, .timeout)
    clock.advance(by: .seconds(1))
    #expect(try await task.value == "second" && cancelled.count == 1)
  }

  @Test("a hedge gives its budget back, also for a run that was not needed and succeeds all the same")
  func hedgeBudget() async throws {
    let clock = TestClock(.manual)
    let budget = SharedRetryBudget(.envoy, clock: clock)
    let full = budget.balance
    let hedge = Hedge(after: .seconds(1), isIdempotent: true, budget: budget, clock: clock)
    for _ in 0..<5 {
      let (runs, first) = (Notes<Int>(), Gate())
      let task = Task {
        try await hedge.perform {
          if runs.add(1) == 1 {
            await first.wait()
            return "first"
          }
          while !Task.isCancelled { await Task.yield() }
          return "second"
        }
      }
      #expect(await eventually { runs.count == 1 })
      await clock.waitForSleepers(1, .timeout)
      clock.advance(by: .seconds(1))
      #expect(await eventually { runs.count == 2 })
      #expect(budget.balance == full - 1)
      first.open()
      #expect(try await task.value == "first")
    }
    #expect(budget.balance == full)
  }

  @Test("a hedge begins the next run at once when one has failed, and not again when its time would be up")
  func hedgeAfterFailure() async throws {
    let clock = TestClock(.manual)
    let (runs, last) = (Notes<Int>(), Gate())
    let hedge = Hedge(
      after: .seconds(1), additional: 2, isIdempotent: true, budget: SharedRetryBudget(.unlimited), clock: clock)
    let task = Task {
      try await hedge.perform {
        let number = runs.add(1)
        if number == 1 { throw Broken() }
        await last.wait()
        return number
      }
    }
    #expect(await eventually { runs.count == 2 })
    // That of the first run has no meaning any more; that of the second begins the third.
    await clock.waitForSleepers(2, .timeout)
    clock.advance(by: .seconds(1))
    #expect(await eventually { runs.count == 3 })
    last.open()
    #expect([2, 3].contains(try await task.value))
  }

  @Test("each part tells what it has done")
  func partEvents() async throws {
    struct Lines: RetryObserver {
      let notes = Notes<String>()
      func tell(_ event: RetryEvent) { notes.add(event.line) }
    }
    let (lines, clock) = (Lines(), TestClock())
    let manual = TestClock(.manual)
    let slow = Task {
      try await Timeout(.seconds(2), clock: manual, events: lines).perform { try await Task.sleep(for: .seconds(3600)) }
    }
    await manual.waitForSleepers(1, .timeout)
    manual.advance(by: .seconds(2))
    _ = await slow.result
    let rate = RateLimit(RateLimiter(permits: 1), longestWait: .seconds(1), clock: clock, events: lines)
    for _ in 0..<2 { try await rate.perform {} }
    let strict = RateLimit(RateLimiter(permits: 1), name: "strict", clock: clock, events: lines)
    for _ in 0..<2 { try? await strict.perform {} }
    let places = ConcurrencyLimit(1, events: lines)
    try await places.perform { try? await places.perform {} }
    let hedge = Hedge(
      after: .seconds(60), isIdempotent: true, budget: SharedRetryBudget(.unlimited), clock: TestClock(.manual),
      events: lines)
    _ = try? await hedge.perform { throw Broken() }
    _ = try await Pipeline<Int>().fallback(events: lines) { _ in 1 }.run { throw Broken() }
    #expect(
      lines.notes.all == [
        "timeout: cancelled the work after 2 s", "rate limit: waits 1 s (rateLimit)",
        "strict: the strict is reached; try again in 1 s", "concurrency limit: the concurrency limit is reached",
        "hedge: run 2 begins beside those in flight", "fallback: a value in place of an error: Broken()",
      ])
  }

  @Test("a throttle refuses more the more the target refuses, and what says nothing about it does not count")
  func throttle() async throws {
    let clock = TestClock()
    let throttle = Throttle(clock: clock, seed: 3)
    let asked = Notes<Int>()
    func run(_ outcome: AttemptOutcome?) async -> Bool {
      do {
        try await throttle.perform {
          asked.add(1)
          if let outcome { throw Flop(retryOutcome: outcome) }
        }
        return true
      } catch {
        return error is Flop
      }
    }
    // A burst at a target that is well: none is refused.
    let gate = Gate()
    let burst = (0..<50).map { _ in Task { try await throttle.perform { await gate.wait() } } }
    gate.open()
    for task in burst { try await task.value }
    for _ in 0..<500 { #expect(await run(.localFault)) }
    for _ in 0..<50 { #expect(await run(.answered(status: 500))) }
    #expect(throttle.refusalProbability == 0)
    let before = asked.count
    for _ in 0..<1000 { _ = await run(.answered(status: 503)) }
    #expect(throttle.refusalProbability > 0.7)
    #expect((120..<500).contains(asked.count - before))
    await #expect(throws: LimitReached(name: "throttle", retryAfter: nil)) {
      for _ in 0..<100 { try await throttle.perform {} }
    }
  }

  @Test("work in a pipeline knows which attempt it is")
  func currentAttempt() async throws {
    let pipeline = Pipeline<Int>().with(Retrier(RetryPolicy(backoff: .constant(.zero)))).with(Timeout(.seconds(60)))
    #expect(RetryAttempt.current == nil)
    let number = try await pipeline.run {
      let number = RetryAttempt.current?.number ?? 0
      if number < 3 { throw Broken() }
      return number
    }
    #expect(number == 3 && RetryAttempt.current == nil)
  }

  @Test("custom observers receive each event, several of them in order")
  func observers() async throws {
    struct Lines: RetryObserver {
      let name: String
      let notes: Notes<String>
      func tell(_ event: RetryEvent) { notes.add("\(name) \(event.line)") }
    }
    let notes = Notes<String>()
    var retrier = Retrier.test(RetryPolicy(maxAttempts: 1))
    retrier.events = RetryObservers(Lines(name: "a", notes: notes), Lines(name: "b", notes: notes))
    try await retrier.run { _ in }
    #expect(
      notes.all.map { $0.prefix(25) }
        == [
          "a test: attempt 1 begins", "b test: attempt 1 begins", "a test: succeeded at attem",
          "b test: succeeded at attem",
        ].map { $0.prefix(25) })
  }
}

/// Holds work until it is opened.
private final class Gate: Sendable {
  private let state = Mutex((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}
