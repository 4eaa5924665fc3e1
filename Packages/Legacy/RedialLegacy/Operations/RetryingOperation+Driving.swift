import Foundation

/// How the machine's actions are performed.
extension RetryingOperation {
  /// Applies an event, and performs the resulting actions, unless another thread already does.
  @discardableResult
  func change<Result>(_ event: (inout RetryMachine) -> Result) -> Result {
    let (result, drives) = machine.withLock { (event(&$0), $0.beginDriving()) }
    if drives { drive(onStarter: false) }
    return result
  }

  /// Performs one action after the other, until none is left; only for the thread that drives.
  func drive(onStarter: Bool) {
    while let action = machine.next(onStarter: onStarter) {
      switch action {
      case .setUp(let wait): setUp(wait)
      case .tearDown(let helpers): for helper in helpers { helper.tearDown() }
      case .begin(let retry): begin(retry: retry)
      case .callCancelHook:
        cancelBaseOperation()
        machine.withLock { $0.cancelHookReturned() }
      case .finish: finish()
      }
    }
  }

  private func setUp(_ wait: RetryMachine.Wait) {
    log("waits, with \(wait.helpers.count) helper(s)")
    let signal = RetrySignal { [self] in
      let isCancelled = isCancelled
      return change { !isCancelled && $0.retry(wait.generation) }
    }
    for helper in wait.helpers { helper.setUp(signal) }
  }

  private func begin(retry: Int) {
    if retry > 0 { log("begins retry \(retry)") }
    startBaseOperation(isRetry: retry > 0)
    let hasEnded = machine.withLock { $0.startReturned() }
    precondition(
      hasEnded,
      """
      \(type(of: self)).startBaseOperation(isRetry:) returned without a call of baseOperationEnded. \
      A subclass whose base operation ends later must override isAsynchronous to return true.
      """)
  }

  private func finish() {
    willChangeValue(forKey: Key.isExecuting)
    willChangeValue(forKey: Key.isFinished)
    machine.withLock { $0.finish() }
    didChangeValue(forKey: Key.isExecuting)
    didChangeValue(forKey: Key.isFinished)
  }

  /// The properties whose changes Foundation's queues and dependencies observe.
  enum Key {
    static let isExecuting = "isExecuting"
    static let isFinished = "isFinished"
  }
}
