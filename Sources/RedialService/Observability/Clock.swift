internal import Glibc
public import RedialCore

/// The service's time: the wall clock's when it started, and from there on by
/// the monotonic clock, so that nobody setting the wall clock shortens or
/// stretches a wait.
public struct Clock: Sendable {
  private let wallAtStart: Timestamp
  private let monotonicAtStart: Int64

  /// A clock that starts now.
  public init() {
    wallAtStart = Self.wallTime()
    monotonicAtStart = Self.microseconds(CLOCK_MONOTONIC)
  }

  /// The time now; it never goes back.
  public var now: Timestamp {
    Timestamp(microseconds: wallAtStart.microseconds + Self.microseconds(CLOCK_MONOTONIC) - monotonicAtStart)
  }

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
