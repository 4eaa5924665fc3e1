import Polling
import Foundation
import Redial
import RedialCore
import RedialLegacy
import Testing

@Suite("RetryingOperation: a cancelled operation is never retried")
struct RetryingOperationCancellationTests {
  @Test(
    "cancelled before its start, an operation finishes without a run", arguments: [false, true])
  func beforeStart(inQueue: Bool) {
    let asynchronous = AsynchronousProbe { $0.baseOperationEnded() }
    let synchronous = SynchronousProbe { $0.baseOperationEnded() }
    let after = BlockOperation {}
    for operation in [asynchronous, synchronous] as [RetryingOperation] { after.addDependency(operation) }
    let queue = OperationQueue()
    queue.isSuspended = true
    queue.addOperation(after)
    for operation in [asynchronous, synchronous] as [RetryingOperation] {
      if inQueue { queue.addOperation(operation) }
      operation.cancel()
      #expect(!operation.isFinished)
      if !inQueue { operation.start() }
    }
    queue.isSuspended = false
    #expect(after.finishes())
    #expect(asynchronous.isFinished && asynchronous.runs.count == 0 && asynchronous.cancellations.count == 0)
    #expect(synchronous.isFinished && synchronous.runs.count == 0 && synchronous.cancellations.count == 0)
  }

  @Test("cancelled while it waits, an operation finishes at once and its helpers are torn down")
  func duringWait() {
    let timers = ManualTimers()
    let helpers = [HelperProbe(), HelperProbe()]
    let operation = AsynchronousProbe(timers: timers) { _ in }
    operation.start()
    operation.baseOperationEnded(retryHelpers: helpers + [RetryTimer(.seconds(1), source: timers)])
    #expect(timers.count == 1)
    operation.cancel()
    #expect(operation.isFinished && operation.isCancelled && !operation.isExecuting)
    #expect(timers.count == 0)
    for helper in helpers { #expect(helper.events.elements == ["up", "down"]) }
    operation.cancel()
    #expect(helpers[0].signals.elements.first?.retry() == false)
    #expect(!operation.retryNow() && operation.runs.count == 1 && operation.cancellations.count == 0)
  }

  @Test("cancelled while it waits, a synchronous operation finishes at once and its start returns")
  func duringSynchronousWait() {
    let helper = HelperProbe()
    let operation = SynchronousProbe { $0.baseOperationEnded(retryHelpers: [helper]) }
    let returned = operation.startOnThread()
    #expect(helper.signals.wait(for: 1))
    operation.cancel()
    #expect(returned.wait(for: 1))
    #expect(operation.isFinished && operation.runs.count == 1 && operation.cancellations.count == 0)
    #expect(helper.events.elements == ["up", "down"])
  }

  @Test(
    "cancelled while it runs, an operation calls its cancel hook once and finishes with the run")
  func duringRun() {
    let helper = HelperProbe()
    let timers = ManualTimers()
    let ends: [@Sendable (RetryingOperation) -> Void] = [
      { $0.baseOperationEnded() }, { $0.baseOperationEnded(needsRetryIn: .zero) },
      { $0.baseOperationEnded(retryHelpers: [helper]) }, { $0.baseOperationEnded(retryHelpers: []) },
    ]
    for end in ends {
      let operation = AsynchronousProbe(timers: timers) { _ in }
      operation.start()
      concurrently(Array(repeating: { operation.cancel() }, count: 8))
      operation.cancel()
      #expect(operation.cancellations.count == 1)
      #expect(operation.isExecuting && !operation.isFinished)
      end(operation)
      operation.cancel()
      #expect(operation.isFinished && operation.runs.count == 1 && operation.cancellations.count == 1)
    }
    #expect(helper.events.count == 0 && timers.total == 0)
  }

  @Test("the cancel hook may end the run itself")
  func hookEndsRun() {
    let operation = AsynchronousProbe(onCancel: { $0.baseOperationEnded() }, body: { _ in })
    operation.start()
    operation.cancel()
    #expect(operation.isFinished && operation.cancellations.count == 1)
  }

  @Test("cancelled in its second run, an operation calls its cancel hook once and makes no third run")
  func duringRetry() {
    let operation = AsynchronousProbe { _ in }
    operation.start()
    operation.baseOperationEnded(retryHelpers: [])
    operation.retryNow()
    operation.cancel()
    operation.baseOperationEnded(needsRetryIn: .zero)
    #expect(operation.isFinished && operation.runs.count == 2 && operation.cancellations.count == 1)
  }

  @Test("the cancel hook of an asynchronous run is called only after its start has returned")
  func duringAsynchronousStart() {
    let order = Record<String>()
    let operation = AsynchronousProbe(
      onCancel: { probe in
        order.append("told")
        probe.baseOperationEnded()
      },
      body: { probe in
        concurrently([{ probe.cancel() }, {}])
        order.append("started")
      })
    operation.start()
    #expect(order.elements == ["started", "told"])
    #expect(operation.isFinished)
  }

  @Test("the cancel hook is not called after the end of a run that ended during its start")
  func endedBeforeHook() {
    let operation = AsynchronousProbe { probe in
      probe.cancel()
      probe.baseOperationEnded(needsRetryIn: .zero)
    }
    operation.start()
    #expect(operation.isFinished && operation.cancellations.count == 0 && operation.runs.count == 1)
  }

  @Test("the cancel hook is called during a synchronous run, which may then return without an end")
  func duringSynchronousRun() {
    let told = Record<Void>()
    let operation = SynchronousProbe(onCancel: { _ in told.append(()) }, body: { _ in _ = told.wait(for: 1) })
    let returned = operation.startOnThread()
    #expect(operation.runs.wait(for: 1))
    concurrently(Array(repeating: { operation.cancel() }, count: 4))
    #expect(returned.wait(for: 1))
    #expect(operation.isFinished && operation.cancellations.count == 1 && operation.runs.count == 1)
  }

  @Test("an operation does not finish while its cancel hook runs")
  func finishWaitsForHook() {
    let (states, mayEnd) = (Record<Bool>(), Record<Void>())
    let operation = SynchronousProbe(
      onCancel: { probe in
        probe.baseOperationEnded()
        // The start has nothing left to do: it waits, or finishes too early.
        poll("it does neither") { mayEnd.count > 0 && probe.kernelThreads.elements[0].isAsleep || probe.isFinished }
        states.append(probe.isFinished)
      },
      body: { probe in
        while !probe.isCancelled || probe.cancellations.count == 0 { sched_yield() }
        mayEnd.append(())
      })
    let returned = operation.startOnThread()
    #expect(operation.runs.wait(for: 1))
    operation.cancel()
    #expect(returned.wait(for: 1))
    #expect(states.elements == [false] && operation.isFinished)
  }

  @Test("a cancellation that races the timer leaves one or two runs, one finish and no helper, 2,000 times")
  func cancelRacesTimer() {
    for seed in UInt64(0)..<2000 {
      var random = RandomSource(seed: seed)
      let (early, late) = (random.next() % 200, random.next() % 200)
      let timers = ManualTimers()
      let helper = HelperProbe()
      let operation = AsynchronousProbe(timers: timers, onCancel: { $0.baseOperationEnded(needsRetryIn: .zero) }) {
        probe in
        if probe.numberOfRetries == 0 {
          probe.baseOperationEnded(retryHelpers: [helper, RetryTimer(.seconds(1), source: timers)])
        }
      }
      operation.start()
      concurrently([
        { spin(early, then: { timers.advance(by: .seconds(1)) }) }, { spin(late, then: { operation.cancel() }) },
      ])
      let (runs, cancellations) = (operation.runs.count, operation.cancellations.count)
      #expect(operation.isFinished && runs == 1 + cancellations && cancellations <= 1, "seed \(seed)")
      #expect(helper.events.elements == ["up", "down"] && timers.count == 0, "seed \(seed)")
    }
  }
}
