internal import Glibc
package import RedialCore
internal import RedialStore
internal import Synchronization

/// The service's time. It starts with the wall clock and continues with a clock that nobody can set, so a step of the wall
/// clock neither shortens nor extends a wait. That clock continues while the machine is suspended, because the reasons for a
/// wait also continue, such as the time that a target asked for. With a shared store it follows the store's time.
package struct Clock: Sendable {
  /// The time of a shared store.
  private final class Followed: Sendable {
    let discipline: Mutex<ClockDiscipline>

    init(_ discipline: ClockDiscipline) { self.discipline = Mutex(discipline) }
  }

  private let timeAtStart: Timestamp
  private let elapsedAtStart: Int64
  private let followed: Followed?
  private let shift: ClockShift?

  /// A clock that starts now.
  package init() { self.init(by: nil, shift: nil) }

  /// - Parameters:
  ///   - sample: A look at the clock of the store; nil for the wall clock.
  ///   - shift: What a test adds to the time; nil in production.
  init(by sample: ClockSample?, shift: ClockShift?) {
    self.shift = shift
    timeAtStart = Self.wallTime()
    elapsedAtStart = Self.microseconds(CLOCK_BOOTTIME)
    followed = sample.map { sample in
      let (asked, answered, time) = Self.local(sample)
      return Followed(ClockDiscipline(asked: asked, answered: answered, time: time))
    }
  }

  /// The time now; it never goes back.
  package var now: Timestamp {
    // The reading must not be older than a correction that another thread makes meanwhile.
    let time =
      followed?.discipline.withLock { $0.time(at: Self.microseconds(CLOCK_BOOTTIME)) }
      ?? timeAtStart.microseconds + Self.microseconds(CLOCK_BOOTTIME) - elapsedAtStart
    return Timestamp(microseconds: time + (shift?.microseconds ?? 0))
  }

  /// How far the time is from the shared store's, at most; zero without one.
  var error: Duration {
    .microseconds(followed?.discipline.withLock { $0.error(at: Self.microseconds(CLOCK_BOOTTIME)) } ?? 0)
  }

  /// Moves towards the time of the shared store, without a step.
  func correct(by sample: ClockSample) {
    followed?.discipline.withLock { discipline in
      let (asked, answered, time) = Self.local(sample)
      discipline.correct(asked: asked, answered: answered, time: time, at: Self.microseconds(CLOCK_BOOTTIME))
    }
  }

  /// Whether a test may move the time at any moment, so that no wait may be computed only once.
  var isShifted: Bool { shift != nil }

  /// How far the wall clock is ahead of the service's time: because it was set after the start, or differs from the store's.
  package var offset: Duration { Self.wallTime() - now }

  /// The time of the wall clock.
  package static func wallTime() -> Timestamp {
    Timestamp(microseconds: microseconds(CLOCK_REALTIME))
  }

  /// The sample, by the clock that nobody can set.
  private static func local(_ sample: ClockSample) -> (asked: Int64, answered: Int64, time: Int64) {
    // This thread may stand still between two readings, and each is rounded: the span may only become longer by that.
    let before = microseconds(CLOCK_BOOTTIME) - 2
    let now = ContinuousClock.now
    let after = microseconds(CLOCK_BOOTTIME) + 2
    return (
      before - (now - sample.asked).wholeMicroseconds, after - (now - sample.answered).wholeMicroseconds,
      sample.time.microseconds
    )
  }

  private static func microseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}
