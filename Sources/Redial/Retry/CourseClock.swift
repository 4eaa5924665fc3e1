/// The time since a run began, on a clock that may be set back.
///
/// What a clock that goes back shows is not time that was not spent: it adds nothing, and time counts on from there. So a
/// deadline is reached, also where the clock of a ``Retrier`` is one of the time of day.
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
