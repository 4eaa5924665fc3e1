/// The time for which a transfer waits outside libcurl: for the address of a name, or for a stream.
struct Suspension {
  /// Since when it waits; nil if it does not.
  private(set) var since: ContinuousClock.Instant?
  /// Whether libcurl was stopped for a wait and has not started again.
  private(set) var isSuspended = false
  /// How much of the request's time had passed when libcurl last started.
  private(set) var spent = Duration.zero

  /// Begins to wait.
  ///
  /// - Parameter spent: How much of the request's time has passed.
  mutating func begin(at now: ContinuousClock.Instant, spent: Duration) {
    (since, isSuspended, self.spent) = (now, true, spent)
  }

  /// Ends the wait, with the time that has passed of the request's time.
  mutating func end(at now: ContinuousClock.Instant) {
    guard let since else { return }
    spent += now - since
    self.since = nil
  }

  /// Notes that libcurl has started again.
  mutating func resume() { isSuspended = false }
}
