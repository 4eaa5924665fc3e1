import Dispatch
import Redial
import RedialLegacy
import RedialTestSupport
import Testing

@Suite("Runs that can be stopped and started again")
struct RetryRunTests {
  private let registry = RetryRunRegistry()

  private func ended(_ run: RetryRun) -> Notes<RetryRun.State> {
    let ends = Notes<RetryRun.State>()
    run.onEnd { ends.add($0) }
    return ends
  }

  @Test("reports by callback lead from idle to running to succeeded, and attempts are counted")
  func succeeds() async {
    let run = RetryRun(.test(), registry: registry, reporting: { attempt, report in report(attempt.number == 3) })
    let ends = ended(run)
    #expect(run.state == .idle && run.attempts == 0)
    #expect(run.start())
    #expect(await run.ended() == .succeeded)
    #expect(run.attempts == 3 && run.state == .succeeded)
    #expect(await eventually { ends.all == [.succeeded] })
    #expect(!run.start(), "a run that has ended has to be reset first")
  }

  @Test("an object can do the work in place of a closure")
  func object() async {
    struct Ping: RetryableTask {
      let notes: Notes<Int>
      func attempt(_ attempt: RetryAttempt, report: @escaping @Sendable (Bool) -> Void) {
        notes.add(attempt.number)
        DispatchQueue.global().async { report(attempt.number == 2) }
      }
    }
    let notes = Notes<Int>()
    let run = RetryRun(.test(), registry: registry, task: Ping(notes: notes))
    run.start()
    #expect(await run.ended() == .succeeded)
    #expect(notes.all == [1, 2])
  }

  @Test("the state machine makes its allowed transitions and no others")
  func transitions() async {
    let clock = TestClock(.manual)
    let run = RetryRun(.test(clock: clock), registry: registry) { _ in try await clock.timeout(after: .seconds(1)) }
    #expect(!run.stop())
    #expect(run.reset() && run.state == .idle)
    #expect(run.start() && !run.start() && !run.reset() && run.state == .running)
    await clock.waitForSleepers(2, .timeout)
    #expect(run.stop() && !run.stop() && run.state == .stopped)
    #expect(!run.start() && run.reset() && run.state == .idle)
    let failing = RetryRun(.test(RetryPolicy(maxAttempts: 2)), registry: registry) { _ in throw Flop() }
    failing.start()
    #expect(await failing.ended() == .failed)
    #expect(failing.lastError?.attempts == 2 && !failing.stop() && failing.reset() && failing.lastError == nil)
  }

  @Test("a run whose policy says to stop has failed, whatever its retrier throws", arguments: RetryThrowing.allCases)
  func throwing(_ throwing: RetryThrowing) async {
    var retrier = Retrier.test(RetryPolicy(maxAttempts: 2))
    retrier.throwing = throwing
    let run = RetryRun(retrier, registry: registry) { _ in throw Flop() }
    run.start()
    #expect(await run.ended() == .failed)
    #expect(run.lastError?.reason == .attemptsExhausted && run.lastError?.lastError is Flop)
  }

  @Test("stopped during a wait, a run ends at once, and later reports do not change that")
  func stopInWait() async {
    let clock = TestClock(.manual)
    let attempts = Notes<Int>()
    let run = RetryRun(.test(clock: clock), registry: registry) { attempt in
      attempts.add(attempt.number)
      throw Flop()
    }
    let ends = ended(run)
    run.start()
    await clock.waitForSleepers(1)
    run.stop()
    clock.advance(by: .seconds(3600))
    #expect(await eventually { ends.count == 1 })
    #expect(run.state == .stopped && ends.all == [.stopped] && attempts.count == 1)
  }

  @Test("stopped during an attempt, a run ignores its late success and calls its completion once")
  func stopInAttempt() async throws {
    let reports = Notes<@Sendable (Bool) -> Void>()
    let run = RetryRun(.test(), registry: registry, reporting: { _, report in reports.add(report) })
    let ends = ended(run)
    run.start()
    #expect(await eventually { reports.count == 1 })
    run.stop()
    let report = try #require(reports.all.first)
    report(true)
    report(true)
    #expect(run.state == .stopped)
    #expect(await eventually { ends.count == 1 })
    #expect(ends.all == [.stopped] && reports.count == 1)
  }

  @Test("after a reset the same work runs again, and its completion is called again")
  func reset() async {
    let run = RetryRun(.test(), registry: registry, reporting: { attempt, report in report(attempt.number == 2) })
    let ends = ended(run)
    for round in 1...3 {
      #expect(run.start())
      #expect(await run.ended() == .succeeded)
      #expect(run.attempts == 2)
      #expect(await eventually { ends.count == round })
      #expect(run.reset())
    }
  }

  @Test("a callback is not begun again before it has reported, unless that is asked for", arguments: [false, true])
  func overlapping(isAsked: Bool) async throws {
    let clock = TestClock(.manual)
    let policy = RetryPolicy(maxAttempts: 3, attemptTimeout: .seconds(10), backoff: .constant(.seconds(1)))
    let reports = Notes<@Sendable (Bool) -> Void>()
    let run = RetryRun(
      .test(policy, clock: clock), registry: registry, overlapping: isAsked, reporting: { reports.add($1) })
    run.start()
    for attempt in 1...2 {
      await clock.waitForSleepers(1, .timeout)
      // The time of an attempt runs beside its work, and may be up before the work has begun.
      #expect(await eventually { reports.count == (isAsked ? attempt : 1) })
      clock.advance(by: .seconds(10))
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(1))
    }
    #expect(await eventually { run.attempts == 3 })
    if isAsked {
      #expect(await eventually { reports.count == 3 })
    } else {
      #expect(reports.count == 1, "the second attempt has ended without it")
      // Twice, and late: it ends its own turn, once, and not the run.
      reports.all.first?(true)
      reports.all.first?(true)
      #expect(await eventually { reports.count == 2 })
      #expect(run.state == .running)
    }
    reports.all.last?(true)
    #expect(await run.ended() == .succeeded)
    #expect(run.attempts == 3 && reports.count == (isAsked ? 3 : 2))
  }

  @Test("reporting twice does not start two loops")
  func twice() async {
    let attempts = Notes<Int>()
    let run = RetryRun(
      .test(), registry: registry,
      reporting: { attempt, report in
        attempts.add(attempt.number)
        for _ in 0..<3 { report(attempt.number == 4) }
      })
    run.start()
    #expect(await run.ended() == .succeeded)
    #expect(attempts.all == [1, 2, 3, 4])
  }

  @Test("a stop that races the end of the run gives one end, reported once, over many seeds")
  func races() async {
    for seed in UInt64(0)..<2000 {
      var random = RandomSource(seed: seed)
      let spins = Int(random.next() % 200)
      let run = RetryRun(
        .test(RetryPolicy(backoff: .constant(.zero))), registry: registry,
        reporting: { attempt, report in report(attempt.number == 2) })
      let ends = ended(run)
      run.start()
      let stopper = Task.detached {
        for _ in 0..<spins { _ = run.attempts }
        return run.stop()
      }
      let state = await run.ended()
      let didStop = await stopper.value
      #expect(state == run.state && (state == .stopped) == didStop, "seed \(seed): \(state)")
      #expect(await eventually { ends.all == [state] }, "seed \(seed): \(ends.all)")
    }
  }

  @Test("running instances are listed and can be stopped together; 100,000 that have ended leave nothing")
  func registryOfRuns() async {
    let clock = TestClock(.manual)
    let waiting = (0..<10).map { _ in RetryRun(.test(clock: clock), registry: registry) { _ in throw Flop() } }
    for run in waiting { run.start() }
    #expect(registry.runs.count == 10)
    registry.stopAll()
    #expect(registry.runs.isEmpty && waiting.allSatisfy { $0.state == .stopped })
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<25_000 {
            let run = RetryRun(.test(), registry: registry) { _ in }
            run.start()
            _ = await run.ended()
          }
        }
      }
    }
    #expect(registry.runs.isEmpty)
  }

  @Test("over seeds, start against stop and reset: the registry lists what runs, and nothing else")
  func registryRaces() async {
    let clock = TestClock(.manual)
    for seed in UInt64(0)..<3000 {
      let run = RetryRun(.test(clock: clock), registry: registry) { _ in throw Flop() }
      await withTaskGroup(of: Void.self) { group in
        for worker in 0..<3 {
          group.addTask {
            var random = RandomSource(seed: seed * 3 + UInt64(worker))
            for _ in 0..<4 {
              switch random.next() % 3 {
              case 0: run.start()
              case 1: run.stop()
              default: run.reset()
              }
            }
          }
        }
      }
      #expect(registry.runs.contains { $0 === run } == (run.state == .running), "seed \(seed)")
      run.stop()
      #expect(registry.runs.isEmpty, "seed \(seed)")
    }
  }

  @Test("a run that has ended is released")
  func released() async {
    weak let seen = await endedRun()
    #expect(await eventually { seen == nil })
  }

  private func endedRun() async -> RetryRun {
    let run = RetryRun(.test(), registry: registry) { _ in }
    run.start()
    _ = await run.ended()
    return run
  }

  @Test("the completion is called on the caller's queue")
  func queue() async {
    let key = DispatchSpecificKey<Int>()
    let queue = DispatchQueue(label: "the caller's")
    queue.setSpecific(key: key, value: 12)
    let found = Notes<Int?>()
    let run = RetryRun(.test(), registry: registry) { _ in }
    run.onEnd(queue: queue) { _ in found.add(DispatchQueue.getSpecific(key: key)) }
    run.start()
    _ = await run.ended()
    // Its state has changed before its completion is put into the queue.
    #expect(await eventually { found.all == [12] })
  }
}
