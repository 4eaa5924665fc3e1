import Foundation
import Redial
import RedialLegacy
import RedialTestSupport
import Testing

@Suite("Operations that wait for a success on the same target")
struct SuccessTests {
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

  @Test("that 200,000 stop waiting takes a moment: none is looked for among the others")
  func manyDepart() throws {
    let signals = SuccessSignals()
    let helpers = (0..<200_000).map { _ in RetryOnSuccess(signals.of("host")) }
    for helper in helpers { helper.setUp(RetrySignal { true }) }
    #expect(signals.waiting(for: "host") == helpers.count)
    let began = ContinuousClock.now
    // The latest first: each stands behind all others, and looking for it among them would take many minutes for all.
    for (number, helper) in helpers.reversed().enumerated() {
      helper.tearDown()
      if number % 1000 == 0 { try #require(ContinuousClock.now - began < .seconds(60), "\(number) have departed") }
    }
    #expect(signals.waiting(for: "host") == 0)
  }

  @Test("who departs late does not take another out of the queue that came after")
  func departsLate() {
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
