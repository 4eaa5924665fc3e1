internal import Foundation

/// Makes a ``RetryClock`` from any Swift clock that measures in `Duration`.
///
/// ```swift
/// var retrier = Retrier(.aws)
/// retrier.clock = ClockAdapter(SuspendingClock())  // time in which the machine sleeps does not count
/// ```
///
/// Both waits between attempts and timeouts of attempts use the clock. So a test clock whose sleeps end at once also
/// ends each attempt at once; ``TestClock`` distinguishes the two.
public struct ClockAdapter<Base: Clock<Duration>>: RetryClock {
  private let base: Base
  private let origin: Base.Instant

  /// Creates the clock; its time begins now.
  public init(_ base: Base) {
    self.base = base
    origin = base.now
  }

  /// The time since the adapter was made, on the clock.
  public var now: Timestamp { .epoch + origin.duration(to: base.now) }

  /// The time of day, of the system.
  public var wallTime: Timestamp { SystemRetryClock().wallTime }

  /// Waits on the clock.
  public func sleep(for wait: Duration) async throws {
    try await base.sleep(until: base.now.advanced(by: min(wait, SystemRetryClock.longest)), tolerance: nil)
  }

  /// Waits on the clock.
  public func timeout(after limit: Duration) async throws { try await sleep(for: limit) }
}

extension SystemRetryClock {
  /// A Swift clock as a retry clock; a retry clock stays what it is.
  static func on(_ clock: some Clock<Duration>) -> any RetryClock {
    switch clock {
    case let clock as any RetryClock: clock
    case is ContinuousClock: SystemRetryClock()
    default: ClockAdapter(clock)
    }
  }
}

/// Instants of ``TestClock``.
extension Timestamp: InstantProtocol {
  /// The instant that much later.
  public func advanced(by duration: Duration) -> Timestamp { self + duration }

  /// The time from this instant to another.
  public func duration(to other: Timestamp) -> Duration { other - self }
}

extension TestClock: Clock {
  /// A microsecond.
  public var minimumResolution: Duration { .microseconds(1) }

  /// Waits as ``sleep(for:)`` does.
  public func sleep(until deadline: Timestamp, tolerance: Duration? = nil) async throws {
    try await sleep(for: max(.zero, deadline - now))
  }
}
