/// The time since a run began, on a clock that may be set back.
///
/// If a clock goes back, that adds nothing, and time counts on from there. So a deadline is always reached, even if the
/// clock of a ``Retrier`` is one of the time of day.
package struct CourseClock {
  private var last: Timestamp
  private var elapsed = Duration.zero

  package init(_ start: Timestamp) { last = start }

  package mutating func elapsed(at now: Timestamp) -> Duration {
    if now > last { elapsed += now - last }
    last = now
    return elapsed
  }
}
