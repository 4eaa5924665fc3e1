/// The time since a run began, on a clock that may be set back.
///
/// If a clock goes back, that adds nothing, and time counts on from there. So a deadline is always reached, even if the
/// clock of a ``Retrier`` is one of the time of day.
struct CourseClock {
  private var last: Timestamp
  private var elapsed = Duration.zero

  init(_ start: Timestamp) { last = start }

  mutating func elapsed(at now: Timestamp) -> Duration {
    if now > last { elapsed += now - last }
    last = now
    return elapsed
  }
}
