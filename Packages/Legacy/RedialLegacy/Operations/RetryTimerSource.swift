/// The source of a ``RetryingOperation``'s timers: ``DispatchTimerSource``, unless a test uses one whose time it
/// controls.
public protocol RetryTimerSource: Sendable {
  /// Calls `fire` once after that delay, from any thread; at once or soon for a delay of 0 or less.
  ///
  /// - Returns: A timer that can be cancelled. `fire` may still be called if that happens at the same moment.
  func schedule(after delay: Duration, _ fire: @escaping @Sendable () -> Void) -> ScheduledTimer
}

/// A running timer. Retain it as long as the timer is needed.
public struct ScheduledTimer: Sendable {
  private let callOff: @Sendable () -> Void

  /// A timer that is cancelled by this closure.
  public init(callOff: @escaping @Sendable () -> Void) {
    self.callOff = callOff
  }

  /// Cancels the timer; nothing happens if it has fired.
  public func cancel() {
    callOff()
  }
}
