import Foundation
import Redial
import RedialTestSupport
import Testing

@Suite("Success on the same target")
struct SuccessSignalsTests {
  @Test("a success wakes one call that waits in backoff, whose success wakes the next")
  func chain() async throws {
    let clock = TestClock(.manual)
    let signals = SuccessSignals()
    let runs = (0..<5).map { _ in
      Task {
        var retrier = Retrier.test(clock: clock)
        retrier.successes = signals.of("host")
        return try await retrier.run { attempt in
          if attempt.number == 1 { throw Flop() }
          return attempt.wait
        }
      }
    }
    #expect(await eventually { signals.waiting(for: "host") == 5 })
    await clock.waitForSleepers(5)
    signals.of("other").succeeded()
    #expect(signals.waiting(for: "host") == 5)
    signals.of("host").succeeded()
    for run in runs { #expect(try await run.value == .zero, "no time has passed") }
    #expect(signals.waiting(for: "host") == 0)
  }

  @Test("the chain stops at a call that fails, and a Retry-After wait is not shortened")
  func stops() async throws {
    let clock = TestClock(.manual)
    let signals = SuccessSignals()
    let attempts = Notes<Int>()
    func start(_ outcome: AttemptOutcome) -> Task<Void, any Error> {
      Task {
        var retrier = Retrier.test(RetryPolicy(maxAttempts: 2), clock: clock)
        retrier.successes = signals.of("host")
        try await retrier.run { attempt in
          attempts.add(attempt.number)
          throw Flop(retryOutcome: outcome)
        }
      }
    }
    let asked = start(.answered(status: 503, retryAfter: .seconds(60)))
    await clock.waitForSleepers(1)
    let failing = start(.maybeSent)
    let waiting = start(.maybeSent)
    #expect(await eventually { signals.waiting(for: "host") == 2 })
    await clock.waitForSleepers(3)
    signals.of("host").succeeded()
    #expect(await eventually { attempts.all.count { $0 == 2 } == 1 })
    #expect(await eventually { signals.waiting(for: "host") == 1 })
    for task in [asked, failing, waiting] { task.cancel() }
    for task in [asked, failing, waiting] { _ = await task.result }
    #expect(attempts.all.count { $0 == 2 } == 1 && signals.waiting(for: "host") == 0)
  }
}
