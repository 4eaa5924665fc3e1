public import Dispatch

/// Timers of Dispatch, which count on a monotonic clock.
public struct DispatchTimerSource: RetryTimerSource {
  private let queue: DispatchQueue

  /// Timers that fire on `queue`.
  public init(queue: DispatchQueue = .global()) {
    self.queue = queue
  }

  /// Calls `fire` once on the queue after that delay. Delays beyond 292 years are shortened to that.
  public func schedule(after delay: Duration, _ fire: @escaping @Sendable () -> Void) -> ScheduledTimer {
    // Any thread may cancel a dispatch source, but its type does not declare it.
    nonisolated(unsafe) let timer = DispatchSource.makeTimerSource(queue: queue)
    let (seconds, nanoseconds) = delay.clamped
    timer.schedule(deadline: .now() + .seconds(seconds) + .nanoseconds(nanoseconds))
    timer.setEventHandler(handler: fire)
    timer.activate()
    return ScheduledTimer { timer.cancel() }
  }
}

extension Duration {
  /// From 0 to the nanoseconds that fit 64 bits; in two parts, because a 32-bit `Int` holds only two seconds of them.
  fileprivate var clamped: (seconds: Int, nanoseconds: Int) {
    guard self > .zero else { return (0, 0) }
    // `components` traps beyond 2^63 seconds.
    let (seconds, attoseconds) = min(self, .nanoseconds(Int64.max)).components
    return (Int(clamping: seconds), Int(attoseconds / 1_000_000_000))
  }
}
