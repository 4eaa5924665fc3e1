import Foundation
import Glibc
import Redial
import RedialLegacy
import Testing

/// A list that threads share, and on which a test may wait.
final class Record<Element: Sendable>: @unchecked Sendable {
  private let condition = NSCondition()
  private var list: [Element] = []

  var elements: [Element] { condition.withLock { list } }
  var count: Int { condition.withLock { list.count } }

  func append(_ element: Element) {
    condition.withLock {
      list.append(element)
      condition.broadcast()
    }
  }

  /// Whether there are that many before the patience of a test is at its end.
  func wait(for count: Int) -> Bool {
    let patience = Date(timeIntervalSinceNow: 60)
    return condition.withLock {
      while list.count < count { guard condition.wait(until: patience) else { return list.count >= count } }
      return true
    }
  }
}

extension Operation {
  /// Whether the operation finishes before the patience of a test is at its end.
  func finishes() -> Bool {
    let done = Record<Void>()
    let observer = BlockOperation { done.append(()) }
    observer.addDependency(self)
    let queue = OperationQueue()
    queue.addOperation(observer)
    return done.wait(for: 1)
  }
}

/// Asynchronous: each run calls `body`, which is to end it, now or later.
final class AsynchronousProbe: RetryingOperation, @unchecked Sendable {
  let runs = Record<Bool>()
  let cancellations = Record<Void>()
  private let body: @Sendable (AsynchronousProbe) -> Void
  private let onCancel: @Sendable (AsynchronousProbe) -> Void

  init(
    timers: any RetryTimerSource = ManualTimers(), logger: Logger? = nil,
    onCancel: @escaping @Sendable (AsynchronousProbe) -> Void = { _ in },
    body: @escaping @Sendable (AsynchronousProbe) -> Void
  ) {
    self.body = body
    self.onCancel = onCancel
    super.init(timers: timers, logger: logger)
  }

  override var isAsynchronous: Bool { true }

  override func startBaseOperation(isRetry: Bool) {
    runs.append(isRetry)
    body(self)
  }

  override func cancelBaseOperation() {
    cancellations.append(())
    onCancel(self)
  }
}

/// Synchronous: each run calls `body`, which is to end it.
final class SynchronousProbe: RetryingOperation, @unchecked Sendable {
  let runs = Record<Bool>()
  let cancellations = Record<Void>()
  let threads = Record<ObjectIdentifier>()
  let kernelThreads = Record<KernelThread>()
  private let body: @Sendable (SynchronousProbe) -> Void
  private let onCancel: @Sendable (SynchronousProbe) -> Void

  init(
    timers: any RetryTimerSource = ManualTimers(), logger: Logger? = nil,
    onCancel: @escaping @Sendable (SynchronousProbe) -> Void = { _ in },
    body: @escaping @Sendable (SynchronousProbe) -> Void
  ) {
    self.body = body
    self.onCancel = onCancel
    super.init(timers: timers, logger: logger)
  }

  override func startBaseOperation(isRetry: Bool) {
    threads.append(ObjectIdentifier(Thread.current))
    kernelThreads.append(KernelThread())
    runs.append(isRetry)
    body(self)
  }

  override func cancelBaseOperation() {
    cancellations.append(())
    onCancel(self)
  }

  /// Starts on a thread of its own; the record has an entry once the start is over.
  func startOnThread() -> Record<Void> {
    let returned = Record<Void>()
    Thread.detachNewThread {
      self.start()
      returned.append(())
    }
    return returned
  }
}

/// A helper that keeps count, and hands its signals out.
final class HelperProbe: RetryHelper, @unchecked Sendable {
  let events = Record<String>()
  let signals = Record<RetrySignal>()
  let results = Record<Bool>()
  private let firesInSetUp: Bool

  init(firesInSetUp: Bool = false) {
    self.firesInSetUp = firesInSetUp
  }

  func setUp(_ signal: RetrySignal) {
    events.append("up")
    if firesInSetUp { results.append(signal.retry()) }
    signals.append(signal)
  }

  func tearDown() {
    events.append("down")
  }
}

/// A thread of this process, as the kernel knows it.
struct KernelThread: Sendable {
  /// Its folder in `/proc`.
  private let place = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? ""

  /// Whether it sleeps: nothing comes from it before something else wakes it.
  var isAsleep: Bool {
    guard let line = try? String(contentsOfFile: "/proc/\(place)/stat", encoding: .utf8) else { return false }
    // The state stands behind the name, which is in parentheses.
    return line[(line.lastIndex(of: ")") ?? line.startIndex)...].dropFirst(2).first == "S"
  }
}

/// Does things at the same moment, each on a thread, and comes back when all are done.
func concurrently(_ bodies: [@Sendable () -> Void]) {
  DispatchQueue.concurrentPerform(iterations: bodies.count) { bodies[$0]() }
}
