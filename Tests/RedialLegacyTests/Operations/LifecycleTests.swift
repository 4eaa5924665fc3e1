import Polling
import Foundation
import Redial
import RedialLegacy
import Testing

@Suite("RetryingOperation: a subclass writes its runs, the rest is kept for it")
struct RetryingOperationLifecycleTests {
  @Test(
    "synchronous and asynchronous operations retry 0, 1 and n times between their dependencies in a queue",
    arguments: [0, 1, 7], [false, true])
  func dependencies(retries: Int, isAsynchronous: Bool) {
    let order = Record<String>()
    let timers = DispatchTimerSource()
    let operation: RetryingOperation
    let runs: Record<Bool>
    if isAsynchronous {
      let probe = AsynchronousProbe(timers: timers) { probe in
        order.append("run")
        let isLast = probe.numberOfRetries == retries
        // Ended from elsewhere, as an asynchronous operation is.
        DispatchQueue.global().async {
          if isLast { probe.baseOperationEnded() } else { probe.baseOperationEnded(needsRetryIn: .microseconds(10)) }
        }
      }
      (operation, runs) = (probe, probe.runs)
    } else {
      let probe = SynchronousProbe(timers: timers) { probe in
        order.append("run")
        if probe.numberOfRetries == retries {
          probe.baseOperationEnded()
        } else {
          probe.baseOperationEnded(needsRetryIn: .microseconds(10))
        }
      }
      (operation, runs) = (probe, probe.runs)
    }
    let before = BlockOperation { order.append("before") }
    let after = BlockOperation { order.append("after") }
    let completed = Record<Void>()
    operation.completionBlock = { completed.append(()) }
    operation.addDependency(before)
    after.addDependency(operation)
    let queue = OperationQueue()
    for each in [after, operation, before] { queue.addOperation(each) }

    #expect(after.finishes())
    #expect(completed.wait(for: 1))
    #expect(order.elements == ["before"] + Array(repeating: "run", count: retries + 1) + ["after"])
    #expect(runs.elements == [false] + Array(repeating: true, count: retries))
    #expect(operation.isFinished && !operation.isExecuting && !operation.isCancelled)
  }

  @Test("a queue of width 1 starts the next operation only after the retries of this one")
  func width() {
    let timers = ManualTimers()
    let first = AsynchronousProbe(timers: timers) { probe in
      if probe.numberOfRetries == 2 { probe.baseOperationEnded() } else { probe.baseOperationEnded(retryHelpers: []) }
    }
    let second = AsynchronousProbe { $0.baseOperationEnded() }
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    queue.addOperation(first)
    queue.addOperation(second)
    #expect(first.runs.wait(for: 1))
    poll { first.retryNow() }
    #expect(second.runs.count == 0)
    // The run that it begins may not have begun yet.
    poll { first.retryNow() }
    #expect(second.finishes())
    #expect(first.runs.count == 3)
  }

  @Test("an asynchronous start returns at once, and the operation is executing until its last run ends")
  func asynchronousStates() {
    let operation = AsynchronousProbe { _ in }
    #expect(!operation.isExecuting && !operation.isFinished)
    operation.start()
    #expect(operation.isExecuting && !operation.isFinished)
    operation.baseOperationEnded(retryHelpers: [])
    #expect(operation.isExecuting && !operation.isFinished)
    operation.retryNow()
    #expect(operation.isExecuting && !operation.isFinished)
    operation.baseOperationEnded()
    #expect(!operation.isExecuting && operation.isFinished)
    operation.start()
    #expect(operation.runs.count == 2)
  }

  @Test("a synchronous start makes every run on its own thread and returns when the operation has finished")
  func synchronousStart() {
    let operation = SynchronousProbe { probe in
      if probe.numberOfRetries == 3 { probe.baseOperationEnded() } else { probe.baseOperationEnded(retryHelpers: []) }
    }
    let returned = operation.startOnThread()
    for run in 1...3 {
      #expect(operation.runs.wait(for: run))
      poll { operation.retryNow() }
      #expect(returned.count == 0 || run == 3)
    }
    #expect(returned.wait(for: 1))
    #expect(operation.isFinished)
    #expect(operation.runs.count == 4)
    #expect(Set(operation.threads.elements).count == 1)
  }

  @Test("a synchronous operation uses no processor time while it waits")
  func sleepsWhileItWaits() async {
    await #expect(processExitsWith: .success) {
      // The first time warms up what is made on first use.
      for delay in [Duration.milliseconds(1), .milliseconds(200)] {
        let operation = SynchronousProbe(timers: DispatchTimerSource()) { probe in
          if probe.numberOfRetries == 1 {
            probe.baseOperationEnded()
          } else {
            probe.baseOperationEnded(needsRetryIn: delay)
          }
        }
        let before = processorTime()
        operation.start()
        let used = processorTime() - before
        #expect(operation.isFinished && operation.runs.count == 2)
        // One that looks again and again uses most of it, or at least its share of a busy machine.
        #expect(used < 0.02 || delay == .milliseconds(1), "\(used) s")
      }
    }
  }

  @Test("a synchronous run that returns without an end stops the program and says what to do")
  func forgottenEnd() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      SynchronousProbe { _ in }.start()
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(
      text.contains("SynchronousProbe.startBaseOperation(isRetry:) returned without a call of baseOperationEnded"))
    #expect(text.contains("isAsynchronous"))
  }

  @Test("a second start stops the program, like Operation's")
  func secondStart() async {
    await #expect(processExitsWith: .failure) {
      let operation = AsynchronousProbe { _ in }
      operation.start()
      operation.start()
    }
  }

  @Test("no run begins before the start of the previous one has returned, and retries do not nest")
  func noNesting() {
    let inside = Record<Int>()
    let depth = Depth()
    let operation = AsynchronousProbe(timers: ImmediateTimers()) { probe in
      if depth.enter() > 1 { inside.append(1) }
      if probe.numberOfRetries == 50_000 {
        probe.baseOperationEnded()
      } else {
        probe.baseOperationEnded(needsRetryIn: .zero)
      }
      depth.exit()
    }
    operation.start()
    #expect(operation.isFinished)
    #expect(operation.runs.count == 50_001)
    #expect(inside.count == 0)
  }

  @Test(
    "an operation that waits for its timer stays alive without a reference, and is released when it has finished")
  func lifetime() {
    let timers = ManualTimers()
    let ended = Record<Void>()
    let isGone: () -> Bool
    do {
      let operation = AsynchronousProbe(timers: timers) { probe in
        if probe.numberOfRetries == 1 {
          ended.append(())
          probe.baseOperationEnded()
        } else {
          probe.baseOperationEnded(needsRetryIn: .seconds(1))
        }
      }
      isGone = { [weak operation] in operation == nil }
      operation.start()
    }
    #expect(!isGone())
    timers.advance(by: .seconds(1))
    #expect(ended.count == 1)
    #expect(isGone())
  }

  @Test("the end of a run finishes the operation, or asks for a run after a delay or when a helper fires")
  func ends() {
    let timers = ManualTimers()
    let helper = HelperProbe()
    let operation = AsynchronousProbe(timers: timers) { _ in }
    operation.start()

    operation.baseOperationEnded(needsRetryIn: .milliseconds(1500))
    timers.advance(by: .milliseconds(1499))
    #expect(operation.runs.elements == [false])
    timers.advance(by: .milliseconds(1))
    #expect(operation.runs.elements == [false, true])

    operation.baseOperationEnded(retryHelpers: [helper])
    timers.advance(by: .seconds(1000))
    #expect(operation.runs.count == 2)
    #expect(helper.signals.elements.last?.retry() == true)
    #expect(operation.runs.elements == [false, true, true])

    operation.baseOperationEnded()
    #expect(operation.isFinished)
  }

  @Test("an end without a current run only writes a log line")
  func misplacedEnds() {
    let log = Record<String>()
    let timers = ManualTimers()
    let operation = AsynchronousProbe(timers: timers, logger: { log.append($0) }) { _ in }
    operation.baseOperationEnded()
    #expect(!operation.isFinished && log.count == 1)
    operation.start()
    operation.baseOperationEnded(retryHelpers: [])
    let lines = log.count
    operation.baseOperationEnded()
    operation.baseOperationEnded(needsRetryIn: .zero)
    #expect(!operation.isFinished && timers.total == 0 && log.count == lines + 2)
    operation.retryNow()
    #expect(operation.runs.count == 2)
    operation.baseOperationEnded()
    operation.baseOperationEnded(needsRetryIn: .zero)
    #expect(operation.isFinished && operation.runs.count == 2 && timers.total == 0)
  }

  @Test("the number of retries is nil before the start and after the finish, and counts in between")
  func numberOfRetries() {
    let operation = AsynchronousProbe { _ in }
    #expect(operation.numberOfRetries == nil)
    operation.start()
    for retry in 0..<4 {
      #expect(operation.numberOfRetries == retry)
      operation.baseOperationEnded(retryHelpers: [])
      #expect(operation.numberOfRetries == retry)
      operation.retryNow()
    }
    #expect(operation.numberOfRetries == 4)
    operation.baseOperationEnded()
    #expect(operation.numberOfRetries == nil)

    let cancelled = AsynchronousProbe { _ in }
    cancelled.cancel()
    cancelled.start()
    #expect(cancelled.numberOfRetries == nil && cancelled.isFinished)
  }

  @Test("an operation logs waits, retries and misplaced calls to its own logger")
  func logging() {
    let (first, second) = (Record<String>(), Record<String>())
    let operation = AsynchronousProbe(logger: { first.append($0) }) { _ in }
    let other = AsynchronousProbe(logger: { second.append($0) }) { _ in }
    operation.start()
    other.start()
    operation.retryNow()
    operation.baseOperationEnded(retryHelpers: [])
    operation.retryNow()
    #expect(
      first.elements == [
        "AsynchronousProbe should retry now, but is not waiting", "AsynchronousProbe waits, with 0 helper(s)",
        "AsynchronousProbe begins retry 1",
      ])
    #expect(second.count == 0)
  }

  @Test("without a logger nothing is written")
  func silence() async throws {
    let result = try await #require(
      processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
    ) {
      let operation = AsynchronousProbe { _ in }
      operation.retryNow()
      operation.start()
      operation.baseOperationEnded(needsRetryIn: .seconds(1))
      operation.retryNow()
      operation.cancel()
      operation.baseOperationEnded()
      operation.retryNow()
    }
    for content in [result.standardOutputContent, result.standardErrorContent] {
      #expect(!String(decoding: content, as: UTF8.self).contains("AsynchronousProbe"))
    }
  }
}

/// How deep in a call one is, whatever the thread.
private final class Depth: @unchecked Sendable {
  private let lock = NSLock()
  private var depth = 0

  func enter() -> Int {
    lock.withLock {
      depth += 1
      return depth
    }
  }

  func exit() { lock.withLock { depth -= 1 } }
}

/// Seconds of processor time that this thread has used.
private func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
