import Foundation
import Redial
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

  @Test("a waiting operation is retried when another succeeds or an element arrives, and then stops listening")
  func operations() async {
    final class Probe: RetryingOperation, @unchecked Sendable {
      // Sound: set before the operation starts, and not again.
      var helpers: [any RetryHelper] = []
      override var isAsynchronous: Bool { true }
      override func startBaseOperation(isRetry: Bool) {
        if isRetry { baseOperationEnded() } else { baseOperationEnded(retryHelpers: helpers) }
      }
    }
    let signals = SuccessSignals()
    let first = Probe()
    first.helpers = [RetryOnSuccess(signals.of("host")), RetryTimer(.seconds(3600))]
    first.start()
    #expect(signals.waiting(for: "host") == 1 && !first.isFinished)
    signals.of("host").succeeded()
    #expect(await eventually { first.isFinished })
    #expect(signals.waiting(for: "host") == 0)

    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let second = Probe()
    second.helpers = [RetryOnElement { stream }]
    second.start()
    #expect(!second.isFinished)
    continuation.yield(1)
    #expect(await eventually { second.isFinished })
    second.cancel()

    let third = Probe()
    third.helpers = [RetryOnSuccess(signals.of("host"))]
    third.start()
    third.cancel()
    #expect(await eventually { third.isFinished && signals.waiting(for: "host") == 0 })
  }

  @Test("that 10,000 stop waiting takes a moment: none is looked for among the others")
  func manyLeave() {
    let signals = SuccessSignals()
    let helpers = (0..<10_000).map { _ in RetryOnSuccess(signals.of("host")) }
    for helper in helpers { helper.setUp(RetrySignal { true }) }
    #expect(signals.waiting(for: "host") == 10_000)
    let began = ContinuousClock.now
    // The latest first: each stands behind all others.
    for helper in helpers.reversed() { helper.tearDown() }
    let took = ContinuousClock.now - began
    #expect(signals.waiting(for: "host") == 0 && took < .seconds(1), "\(took)")
  }

  @Test("who leaves late does not take another out of the queue that came after")
  func leftLate() {
    let signals = SuccessSignals()
    let (first, second) = (RetryOnSuccess(signals.of("host")), RetryOnSuccess(signals.of("host")))
    first.setUp(RetrySignal { true })
    // The first is woken, and the queue is empty and gone.
    signals.of("host").succeeded()
    second.setUp(RetrySignal { true })
    first.tearDown()
    #expect(signals.waiting(for: "host") == 1)
    second.tearDown()
    #expect(signals.waiting(for: "host") == 0)
  }
}
