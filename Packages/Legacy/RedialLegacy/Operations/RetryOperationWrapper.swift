public import Foundation

/// Retries an operation of other code.
///
/// An `Operation` runs once; so the wrapper runs the given one, and for every retry a new one that it requests. It uses
/// no thread while an operation runs or it waits.
///
/// ```swift
/// let wrapper = RetryOperationWrapper(
///   Download(url), maximumNumberOfRetries: 3,
///   needsRetry: { $0.hasFailed ? .delay(.seconds(1)) : nil },
///   operationForRetrying: { Download($0.url) })
/// queue.addOperation(wrapper)
/// ```
///
/// Cancelling the wrapper cancels the operation that it runs, and no other follows. The wrapper finishes when that one
/// has.
public final class RetryOperationWrapper<Base: Operation>: RetryingOperation, @unchecked Sendable {
  // Sound to send: `current` is used only under `lock`; all else is constant, and closures are sendable.
  private let lock = NSLock()
  private var current: Base
  private let queue: OperationQueue
  private let needsRetry: @Sendable (Base) -> RetryWait?
  private let fresh: @Sendable (Base) throws -> Base

  /// The original operation.
  public let originalOperation: Base
  /// The maximum number of retries after the first run; no limit if it is negative.
  public let maximumNumberOfRetries: Int

  /// A wrapper of `operation`, which must be neither started nor in a queue.
  ///
  /// - Parameters:
  ///   - operation: The first to run.
  ///   - maximumNumberOfRetries: The maximum number of retries after the first run; negative for no limit.
  ///   - queue: Where the operations run; nil for a queue of the library's own, without a limit. Not the wrapper's own
  ///     queue, if that has a limit: wrappers could fill it, and their operations would never run.
  ///   - timers: The source of timers for delays.
  ///   - logger: Receives the wrapper's log lines; nil for none.
  ///   - needsRetry: Whether the finished operation needs to run again, and when; nil for no.
  ///   - operationForRetrying: Creates a new operation, not started, from the one that ran last. If it throws there is
  ///     no retry.
  public init(
    _ operation: Base, maximumNumberOfRetries: Int = -1, queue: OperationQueue? = nil,
    timers: any RetryTimerSource = DispatchTimerSource(), logger: Logger? = nil,
    needsRetry: @escaping @Sendable (Base) -> RetryWait?,
    operationForRetrying: @escaping @Sendable (Base) throws -> Base
  ) {
    originalOperation = operation
    current = operation
    self.maximumNumberOfRetries = maximumNumberOfRetries
    self.queue = queue ?? Queues.unbounded
    self.needsRetry = needsRetry
    fresh = operationForRetrying
    super.init(timers: timers, logger: logger)
  }

  /// The operation that runs now, or ran last.
  public var currentOperation: Base { lock.withLock { current } }

  /// The wrapper does not wait on a thread for the wrapped operation.
  public override var isAsynchronous: Bool { true }

  /// Runs the original operation, or a new one.
  public override func startBaseOperation(isRetry: Bool) {
    let operation: Base
    do {
      operation = isRetry ? try fresh(currentOperation) : originalOperation
    } catch {
      log("cannot retry \(currentOperation), for there is no fresh operation: \(error)")
      return baseOperationEnded()
    }
    lock.withLock { current = operation }
    // An operation that depends on it, rather than its completion block, which its owner may set at any time.
    let observer = BlockOperation { self.operationEnded(operation) }
    observer.addDependency(operation)
    Queues.unbounded.addOperation(observer)
    queue.addOperation(operation)
  }

  /// Cancels the operation that runs.
  public override func cancelBaseOperation() {
    currentOperation.cancel()
  }

  private func operationEnded(_ operation: Base) {
    let isSpent = maximumNumberOfRetries >= 0 && (numberOfRetries ?? 0) >= maximumNumberOfRetries
    end(isSpent || isCancelled ? nil : needsRetry(operation))
  }
}

extension RetryOperationWrapper where Base: RetryableOperation {
  /// A wrapper for an operation that itself decides whether and how to retry; see the other initializer.
  public convenience init(
    _ operation: Base, maximumNumberOfRetries: Int = -1, queue: OperationQueue? = nil,
    timers: any RetryTimerSource = DispatchTimerSource(), logger: Logger? = nil
  ) {
    self.init(
      operation, maximumNumberOfRetries: maximumNumberOfRetries, queue: queue, timers: timers, logger: logger,
      needsRetry: { $0.retryWait() }, operationForRetrying: { try $0.operationForRetrying() })
  }
}

private enum Queues {
  /// Has no setting that could change a wrapper's behaviour; its threads are Dispatch's.
  static let unbounded = OperationQueue()
}
