public import Foundation

/// An operation that can run again until it has succeeded.
///
/// A subclass implements a run, and whether a run continues after the call that starts it has returned. Everything else
/// is done for it: executing and finished, waits, retries, cancellation.
///
/// ```swift
/// final class Fetch: RetryingOperation, @unchecked Sendable {
///   override var isAsynchronous: Bool { true }
///   override func startBaseOperation(isRetry: Bool) {
///     load { succeeded in
///       if succeeded { self.baseOperationEnded() } else { self.baseOperationEnded(needsRetryIn: .seconds(2)) }
///     }
///   }
/// }
/// ```
///
/// A synchronous subclass (the default) runs on the thread that calls ``start()``, which stays there, asleep while the
/// operation waits, until it is finished. An asynchronous one uses no thread while it waits; a retry begins on the
/// thread that ended the wait. A run never begins before the call that started the previous one has returned.
///
/// It may be used from any thread. A subclass that adds variables must guard them itself.
open class RetryingOperation: Operation, @unchecked Sendable {
  // Sound to send: everything stored here is constant and sendable itself.
  let machine = SharedRetryMachine()
  private let timers: any RetryTimerSource
  private let logger: Logger?

  /// Receives a line of the operation's log, on any thread.
  public typealias Logger = @Sendable (String) -> Void

  /// An operation that has not started.
  ///
  /// - Parameters:
  ///   - timers: The source of timers for delays.
  ///   - logger: Receives the operation's log lines, such as a retry requested at the wrong moment; nil for none.
  public init(timers: any RetryTimerSource = DispatchTimerSource(), logger: Logger? = nil) {
    self.timers = timers
    self.logger = logger
    super.init()
  }

  // MARK: For subclasses to write

  /// Starts one run, whose end must be reported by one call of ``baseOperationEnded()`` or a similar one: from anywhere
  /// and at any time in an asynchronous subclass, before this call returns in a synchronous one. A missing report is a
  /// programming error that stops the program, because the operation could neither finish nor continue; unless it has
  /// been cancelled, when it just finishes.
  ///
  /// - Parameter isRetry: Whether a run came before this one.
  open func startBaseOperation(isRetry: Bool) {
    preconditionFailure("\(type(of: self)) must override startBaseOperation(isRetry:)")
  }

  /// Informs the current run that the operation has been cancelled; called at most once, and never after the operation
  /// has finished. The run still has to end. The default does nothing: the run then continues to its own end.
  ///
  /// In an asynchronous subclass it is never called before ``startBaseOperation(isRetry:)`` has returned. In a
  /// synchronous one it is called on the thread that cancels, however far that call has got.
  open func cancelBaseOperation() {}

  // MARK: For subclasses to call

  /// Reports that the run has ended for good: the operation finishes.
  public final func baseOperationEnded() {
    end(nil)
  }

  /// Reports that the run has ended and that another is needed after a delay. A cancelled operation finishes instead.
  public final func baseOperationEnded(needsRetryIn delay: Duration) {
    end(.delay(delay))
  }

  /// Reports that the run has ended and that another is needed when the first of these helpers fires; an empty list
  /// waits for a retry by hand. A cancelled operation finishes instead.
  public final func baseOperationEnded(retryHelpers: [any RetryHelper]) {
    end(.helpers(retryHelpers))
  }

  // MARK: While it waits

  /// Ends the current wait with a retry. At any other moment it only writes a log line.
  ///
  /// - Returns: Whether this call is the one that ended the wait.
  @discardableResult
  public final func retryNow() -> Bool {
    // Called before the lock is taken: a subclass may override it.
    let isCancelled = isCancelled
    let tookEffect = change { !isCancelled && $0.retry() }
    if !tookEffect { log("should retry now, but is not waiting") }
    return tookEffect
  }

  /// Waits that long from now, instead of the current wait. At any other moment it only writes a log line.
  ///
  /// - Returns: Whether the operation was waiting.
  @discardableResult
  public final func retry(in delay: Duration) -> Bool {
    retry(withHelpers: helpers(for: .delay(delay)))
  }

  /// Waits for the first of these helpers, instead of the current wait; an empty list waits for a retry by hand. At any
  /// other moment it only writes a log line.
  ///
  /// - Returns: Whether the operation was waiting.
  @discardableResult
  public final func retry(withHelpers helpers: [any RetryHelper]) -> Bool {
    let isCancelled = isCancelled
    let tookEffect = change { !isCancelled && $0.replaceHelpers(with: helpers) }
    if !tookEffect { log("was given other helpers, but is not waiting") }
    return tookEffect
  }

  /// How many retries have begun: 0 in the first run and the wait after it. Nil before the start and after the finish.
  public final var numberOfRetries: Int? { machine.withLock { $0.retries } }

  // MARK: What an operation is

  /// Whether the operation has started and not finished; waits count.
  public final override var isExecuting: Bool { machine.withLock { $0.retries != nil } }

  /// Whether the operation is done, without a further run or wait.
  public final override var isFinished: Bool { machine.withLock { $0.isFinished } }

  /// Starts the operation, as its queue does. A cancelled one finishes without a run.
  ///
  /// Returns at once if the operation is asynchronous, and otherwise when it is finished. Like that of `Operation`, it
  /// may be called once, and only when the operation is ready; on a finished operation it does nothing.
  public final override func start() {
    let (isAsynchronous, isCancelled) = (isAsynchronous, isCancelled)
    precondition(isReady || isFinished, "\(self) was started before the operations that it depends on have finished")
    willChangeValue(forKey: Key.isExecuting)
    let outcome = machine.withLock { $0.start(isAsynchronous: isAsynchronous, isCancelled: isCancelled) }
    didChangeValue(forKey: Key.isExecuting)
    switch outcome {
    case .alreadyFinished: return
    case .alreadyUnderWay: preconditionFailure("\(self) was started a second time")
    case .begun: drive(onStarter: true)
    }
    guard !isAsynchronous else { return }
    while machine.waitForRun() { drive(onStarter: true) }
  }

  /// Cancels the operation: a wait ends at once, with its helpers torn down; a run is asked to end by
  /// ``cancelBaseOperation()``; no other run begins.
  public final override func cancel() {
    super.cancel()
    guard change({ $0.cancel() }) else { return }
    cancelBaseOperation()
    change { $0.cancelHookReturned() }
  }

  // MARK: For this library's own subclasses

  /// A line for the log, created only if someone reads it.
  final func log(_ message: @autoclosure () -> String) {
    if let logger { logger("\(type(of: self)) \(message())") }
  }

  /// Ends the current run; nil asks for no retry.
  final func end(_ wait: RetryWait?) {
    let helpers = isCancelled ? nil : wait.map(helpers)
    let tookEffect = change { $0.baseEnded(retryWith: helpers) }
    if !tookEffect { log("got the end of its base operation, but none is running") }
  }

  private func helpers(for wait: RetryWait) -> [any RetryHelper] {
    switch wait {
    case .delay(let delay): [RetryTimer(delay, source: timers)]
    case .helpers(let helpers): helpers
    }
  }
}
