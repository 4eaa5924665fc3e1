/// Where the timers of a ``RetryingOperation`` come from: ``DispatchTimerSource``, unless a test brings one whose time
/// it moves by hand.
public protocol RetryTimerSource: Sendable {
  /// Calls `fire` once after that delay, from any thread; at once or soon for a delay of 0 or less.
  ///
  /// - Returns: What calls the timer off. `fire` may still come when that happens at the same moment.
  func schedule(after delay: Duration, _ fire: @escaping @Sendable () -> Void) -> ScheduledTimer
}

/// A running timer. Hold it for as long as the timer matters.
public struct ScheduledTimer: Sendable {
  private let callOff: @Sendable () -> Void

  /// A timer that is called off in that way.
  public init(callOff: @escaping @Sendable () -> Void) {
    self.callOff = callOff
  }

  /// Calls the timer off; once it has fired, nothing happens.
  public func cancel() {
    callOff()
  }
}
