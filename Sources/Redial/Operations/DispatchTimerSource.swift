public import Dispatch

/// Timers of Dispatch, which count on a monotonic clock.
public struct DispatchTimerSource: RetryTimerSource {
  private let queue: DispatchQueue

  /// Timers that fire on `queue`.
  public init(queue: DispatchQueue = .global()) {
    self.queue = queue
  }

  /// Calls `fire` once on the queue after that delay. Delays beyond 292 years are cut to that.
  public func schedule(after delay: Duration, _ fire: @escaping @Sendable () -> Void) -> ScheduledTimer {
    // Any thread may cancel a dispatch source; its type just does not say so.
    nonisolated(unsafe) let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + .nanoseconds(delay.clampedNanoseconds))
    timer.setEventHandler(handler: fire)
    timer.activate()
    return ScheduledTimer { timer.cancel() }
  }
}

extension Duration {
  /// Whole nanoseconds, from 0 to what 64 bits hold.
  fileprivate var clampedNanoseconds: Int {
    // Not by `components`, which traps beyond 2^63 seconds.
    Int(clamping: max(0, attoseconds / 1_000_000_000))
  }
}
