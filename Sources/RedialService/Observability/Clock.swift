internal import Glibc
public import RedialCore

/// The service's time: the wall clock's when it started, and from there on by
/// a clock that nobody sets, so that a step of the wall clock neither shortens
/// nor stretches a wait. That clock runs on while the machine is suspended,
/// for what a call waits for, such as the time that its target asked for, does so too.
public struct Clock: Sendable {
  private let wallAtStart: Timestamp
  private let elapsedAtStart: Int64

  /// A clock that starts now.
  public init() {
    wallAtStart = Self.wallTime()
    elapsedAtStart = Self.microseconds(CLOCK_BOOTTIME)
  }

  /// The time now; it never goes back.
  public var now: Timestamp {
    Timestamp(microseconds: wallAtStart.microseconds + Self.microseconds(CLOCK_BOOTTIME) - elapsedAtStart)
  }

  /// How far the wall clock has been set ahead of the service's time since the service started.
  public var offset: Duration { Self.wallTime() - now }

  /// What the wall clock says.
  public static func wallTime() -> Timestamp {
    Timestamp(microseconds: microseconds(CLOCK_REALTIME))
  }

  private static func microseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}
