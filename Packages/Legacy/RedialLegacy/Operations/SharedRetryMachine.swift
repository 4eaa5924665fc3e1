import Foundation

/// A ``RetryMachine`` that threads share.
///
/// Sound to send: `machine` is used only under the lock of `condition`. Only the machine's own code runs under it,
/// never a subclass, helper, logger or observer.
final class SharedRetryMachine: @unchecked Sendable {
  private let condition = NSCondition()
  private var machine = RetryMachine()

  /// Reads or changes the machine.
  func withLock<Result>(_ body: (inout RetryMachine) -> Result) -> Result {
    condition.withLock { body(&machine) }
  }

  /// The next action for the thread that drives; nil ends that, and wakes the starter.
  func next(onStarter: Bool) -> RetryMachine.Action? {
    condition.withLock {
      let action = machine.next(onStarter: onStarter)
      if action == nil { condition.broadcast() }
      return action
    }
  }

  /// Sleeps until a run is due, and lets the caller drive it. False if none will ever be.
  func waitForRun() -> Bool {
    condition.withLock {
      while !machine.isFinished {
        if machine.beginDrivingRun() { return true }
        condition.wait()
      }
      return false
    }
  }
}
