internal import RedialCore

/// From which due time on this instance looks for calls that are due.
///
/// A call that was claimed leaves an entry in the index of due times. As long as any transaction sees the database as it was
/// before, the entry cannot be removed, and a look at all due calls walks over all such entries (measured: with 50,000 of
/// them, claims took most of 2.4 ms of the server's CPU a call, instead of 0.1 ms). So where looks at all calls take long,
/// most looks begin where those before have left nothing.
///
/// What the instance stores itself, it knows. Another instance stores a call a little after it is due, so each look begins
/// ``slack`` earlier. If its commit takes longer than that, the next look at all calls finds the call.
struct ClaimFloor {
  /// How late another instance may store a call that is due, and each look still finds it.
  static let slack = Duration.seconds(2)
  /// A look at all calls that takes no longer may follow another at once.
  static let cheap = Duration.milliseconds(20)
  /// After one that takes longer there is none for so many times as long,
  static let rest = 20
  /// but at most for this time.
  static let longestRest = Duration.seconds(10)

  /// Before it, no call is due that was not claimed; nil if nothing is known.
  private var floor: Timestamp?
  /// The earliest due time of the calls that were stored since the last claim was sent.
  private var stored: Timestamp?
  private var nextWhole: ContinuousClock.Instant?
  /// When the look in flight began, if it is one at all calls.
  private var whole: ContinuousClock.Instant?

  /// A look begins, behind all that was stored before. Returns the due time from which on it looks; nil for all calls.
  mutating func begin(at now: ContinuousClock.Instant) -> Timestamp? {
    floor = floor.map { min($0, stored ?? $0) }
    stored = nil
    let mayBeWhole = nextWhole.map { now >= $0 } ?? true
    whole = mayBeWhole || floor == nil ? now : nil
    return whole == nil ? floor : nil
  }

  /// The look has ended.
  ///
  /// - Parameters:
  ///   - next: When the first of the calls that it has left is due; nil if it has left none.
  ///   - claimed: The time before which all due calls were claimed or are left; nil if none were claimed.
  mutating func end(next: Timestamp?, claimed: Timestamp?, at now: ContinuousClock.Instant) {
    if let whole {
      let took = now - whole
      nextWhole = took <= Self.cheap ? nil : now + min(took * Self.rest, Self.longestRest)
    }
    whole = nil
    if let claimed { floor = claimed + (.zero - Self.slack) }
    if let next { floor = floor.map { min($0, next) } }
  }

  /// Calls are stored of which the first is due then.
  mutating func store(due: Timestamp) {
    stored = min(stored ?? due, due)
  }

  /// Nothing is known any more: works have failed, or other shards have come.
  mutating func forget() {
    (floor, stored, nextWhole, whole) = (nil, nil, nil, nil)
  }
}
