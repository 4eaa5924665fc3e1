import Foundation

/// The helper that fires after a delay.
///
/// ``RetryingOperation/baseOperationEnded(needsRetryIn:)`` creates one by itself; create your own to combine a delay
/// with other helpers.
public final class RetryTimer: RetryHelper, @unchecked Sendable {
  // Sound to send: `timer` is used only under `lock`, all else is constant.
  private let lock = NSLock()
  private var timer: ScheduledTimer?
  private let source: any RetryTimerSource
  /// How long it waits, counted from each set-up; 0 or less fires at once.
  public let delay: Duration

  /// A helper that fires after `delay`, by the clock of `source`.
  public init(_ delay: Duration, source: any RetryTimerSource = DispatchTimerSource()) {
    self.delay = delay
    self.source = source
  }

  /// Starts the timer.
  public func setUp(_ signal: RetrySignal) {
    let started = source.schedule(after: delay) { signal.retry() }
    lock.withLock { timer = started }
  }

  /// Cancels the timer.
  public func tearDown() {
    let ended = lock.withLock {
      defer { timer = nil }
      return timer
    }
    ended?.cancel()
  }
}
