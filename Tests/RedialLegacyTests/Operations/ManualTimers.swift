import Foundation
import Redial
import RedialLegacy

/// Timers whose time a test moves by hand.
final class ManualTimers: RetryTimerSource, @unchecked Sendable {
  private struct Pending {
    var due: Duration
    var fire: @Sendable () -> Void
  }

  private let lock = NSLock()
  private var now = Duration.zero
  private var pending: [Int: Pending] = [:]
  private var made = 0

  /// Timers neither fired nor called off.
  var count: Int { lock.withLock { pending.count } }
  /// All timers ever scheduled.
  var total: Int { lock.withLock { made } }

  func schedule(after delay: Duration, _ fire: @escaping @Sendable () -> Void) -> ScheduledTimer {
    let id = lock.withLock {
      made += 1
      pending[made] = Pending(due: now + delay, fire: fire)
      return made
    }
    return ScheduledTimer { [self] in lock.withLock { _ = pending.removeValue(forKey: id) } }
  }

  /// Lets time pass, and fires what is due by then.
  func advance(by step: Duration) {
    let due = lock.withLock {
      now += step
      let due = pending.filter { $0.value.due <= now }.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
      for timer in due { pending.removeValue(forKey: timer.key) }
      return due
    }
    for timer in due { timer.value.fire() }
  }
}

/// Timers that fire before they are even scheduled.
struct ImmediateTimers: RetryTimerSource {
  func schedule(after delay: Duration, _ fire: @escaping @Sendable () -> Void) -> ScheduledTimer {
    fire()
    return ScheduledTimer {}
  }
}
