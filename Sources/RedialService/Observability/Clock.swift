internal import Glibc
public import RedialCore

/// The service's time. It starts with the wall clock, or with the time of a store that others share, and continues with a
/// clock that nobody can set, so a step of the wall clock neither shortens nor extends a wait. That clock continues while the machine is suspended, because the
/// reasons for a wait also continue, such as the time that a target asked for.
public struct Clock: Sendable {
  private let timeAtStart: Timestamp
  private let elapsedAtStart: Int64
  private let shift: ClockShift?

  /// A clock that starts now.
  ///
  /// - Parameter time: The time now; nil for that of the wall clock.
  public init(at time: Timestamp? = nil) { self.init(at: time, shift: nil) }

  /// - Parameter shift: What a test adds to the time; nil in production.
  init(at time: Timestamp? = nil, shift: ClockShift?) {
    self.shift = shift
    timeAtStart = time ?? Self.wallTime()
    elapsedAtStart = Self.microseconds(CLOCK_BOOTTIME)
  }

  /// The time now; it never goes back.
  public var now: Timestamp {
    let elapsed = Self.microseconds(CLOCK_BOOTTIME) - elapsedAtStart
    return Timestamp(microseconds: timeAtStart.microseconds + elapsed + (shift?.microseconds ?? 0))
  }

  /// Whether a test may move the time at any moment, so that no wait may be computed only once.
  var isShifted: Bool { shift != nil }

  /// How far the wall clock is ahead of the service's time: because it was set after the start, or differs from the store's.
  public var offset: Duration { Self.wallTime() - now }

  /// The time of the wall clock.
  public static func wallTime() -> Timestamp {
    Timestamp(microseconds: microseconds(CLOCK_REALTIME))
  }

  private static func microseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}
