import Dispatch
import Foundation
import Redial
import RedialLegacy
import Testing

@Suite("RetryingOperation: helpers")
struct RetryHelperTests {
  @Test("the first helper to fire wins, and each is set up once and torn down once per wait", arguments: 0..<4)
  func firstWins(winner: Int) {
    let helpers = (0..<4).map { _ in HelperProbe() }
    let operation = AsynchronousProbe { _ in }
    operation.start()
    for wait in 1...3 {
      operation.baseOperationEnded(retryHelpers: helpers)
      for helper in helpers { #expect(helper.events.count == 2 * wait - 1) }
      #expect(helpers[winner].signals.elements[wait - 1].retry())
      for helper in helpers {
        #expect(!helper.signals.elements[wait - 1].retry())
        #expect(helper.events.elements == Array(repeating: ["up", "down"], count: wait).flatMap { $0 })
      }
      #expect(operation.runs.count == wait + 1)
    }
  }

  @Test("a signal kept from an earlier wait does not end a later one")
  func oldSignal() {
    let helper = HelperProbe()
    let operation = AsynchronousProbe { _ in }
    operation.start()
    operation.baseOperationEnded(retryHelpers: [helper])
    operation.retryNow()
    operation.baseOperationEnded(retryHelpers: [])
    #expect(helper.signals.elements.first?.retry() == false)
    #expect(operation.runs.count == 2 && operation.retryNow())
  }

  @Test("a helper that fires while it is set up wins, and the others are still set up and torn down")
  func firesInSetUp() {
    let helpers = [HelperProbe(), HelperProbe(firesInSetUp: true), HelperProbe(firesInSetUp: true), HelperProbe()]
    let operation = AsynchronousProbe { probe in
      if probe.numberOfRetries == 1 {
        for helper in helpers { #expect(helper.events.elements == ["up", "down"]) }
        probe.baseOperationEnded()
      } else {
        probe.baseOperationEnded(retryHelpers: helpers)
      }
    }
    operation.start()
    #expect(operation.isFinished && operation.runs.count == 2)
    #expect(helpers[1].results.elements == [true] && helpers[2].results.elements == [false])
  }

  @Test("helpers may be replaced during their own set-up")
  func replacedInSetUp() {
    let second = HelperProbe()
    let operation = AsynchronousProbe { _ in }
    let first = Replacing(operation: operation, helper: second)
    operation.start()
    operation.baseOperationEnded(retryHelpers: [first])
    #expect(first.events.elements == ["up", "down"] && second.events.elements == ["up"])
    #expect(operation.retryNow() && operation.runs.count == 2)
  }

  @Test("an empty list of helpers waits for a retry by hand")
  func emptyList() {
    let timers = ManualTimers()
    let operation = AsynchronousProbe(timers: timers) { _ in }
    operation.start()
    operation.baseOperationEnded(retryHelpers: [])
    timers.advance(by: .seconds(1_000_000))
    #expect(operation.runs.count == 1 && timers.total == 0)
    #expect(operation.retryNow())
    #expect(operation.runs.count == 2)
  }

  @Test("the timer helper fires after its delay, again in the next wait, and not when torn down")
  func timerHelper() {
    let timers = ManualTimers()
    let fired = Record<Void>()
    let signal = RetrySignal {
      fired.append(())
      return true
    }
    let helper = RetryTimer(.seconds(3), source: timers)
    for wait in 1...2 {
      helper.setUp(signal)
      timers.advance(by: .milliseconds(2999))
      #expect(fired.count == wait - 1)
      timers.advance(by: .milliseconds(1))
      #expect(fired.count == wait)
      helper.tearDown()
    }
    helper.setUp(signal)
    helper.tearDown()
    timers.advance(by: .seconds(3))
    #expect(fired.count == 2)
  }

  @Test(
    "timers of Dispatch fire after their delay",
    arguments: [Duration.seconds(-5), .zero, .milliseconds(4)])
  func dispatchTimers(delay: Duration) {
    let fired = Record<Void>()
    let begin = ContinuousClock.now
    let timer = DispatchTimerSource().schedule(after: delay) { fired.append(()) }
    #expect(fired.wait(for: 1))
    #expect(ContinuousClock.now - begin >= delay)
    timer.cancel()
  }

  @Test("timers of Dispatch with endless delays neither trap nor fire, and can be cancelled")
  func endlessDispatchTimers() {
    let fired = Record<Void>()
    let queue = DispatchQueue(label: "timers")
    let source = DispatchTimerSource(queue: queue)
    for delay in [Duration.seconds(Int64.max), .seconds(Int64.max / 1000), .seconds(9_223_372_036), .seconds(1)] {
      let timer = source.schedule(after: delay) { fired.append(()) }
      queue.sync {}
      timer.cancel()
    }
    let soon = queue.sync {
      let soon = source.schedule(after: .zero) { fired.append(()) }
      soon.cancel()
      return soon
    }
    // This one is behind it in line.
    let behind = Record<Void>()
    let last = source.schedule(after: .milliseconds(1)) { behind.append(()) }
    #expect(behind.wait(for: 1))
    for timer in [soon, last] { timer.cancel() }
    #expect(fired.count == 0)
  }
}

/// Has the wait replaced as soon as it begins.
private final class Replacing: RetryHelper {
  let events = Record<String>()
  private let operation: RetryingOperation
  private let helper: HelperProbe

  init(operation: RetryingOperation, helper: HelperProbe) {
    self.operation = operation
    self.helper = helper
  }

  func setUp(_ signal: RetrySignal) {
    events.append("up")
    #expect(operation.retry(withHelpers: [helper]))
    #expect(!signal.retry())
  }

  func tearDown() { events.append("down") }
}
