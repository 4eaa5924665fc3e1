/// Follows the clock of a database by looks at it, and says how wrong the followed time may be. All values are microseconds;
/// local readings are of a clock that nobody can set, which may run a tenth too fast or too slow.
///
/// A look says that the database's clock was between what an answer without a way back and one without a way there would mean:
/// its error is at most the round trip (RFC 5905, section 10). It ages by the tenth. What all looks agree on is kept, so that a
/// quick one still counts while slow ones follow it. If they disagree, the database's clock was set, or is another server's, and
/// only the last look counts.
///
/// The time moves towards the middle of that, and never back. It runs at most a tenth slower than the local clock, which is
/// enough for one that is a tenth fast, and with one that is a tenth slow too is 19 % slower than the database's: less than the
/// fifth by which an instance takes its lease for over too early. It runs at most a fifth faster, so a lease ends even earlier.
struct ClockDiscipline {
  /// One in so many microseconds is lost at most, and gained.
  private static let (slowest, fastest) = (10 as Int64, 5 as Int64)
  /// In so many microseconds of a clock that is a tenth slow the database's is ahead by one more.
  private static let drift: Int64 = 9

  /// By how much the time was ahead of the local clock when it last began to move.
  private var offset: Int64
  private var began: Int64
  /// By how much the database's clock was ahead of the local one, at least and at most, at a local reading.
  private var (least, most): (Int64, Int64)
  private var measured: Int64

  /// Starts with the middle of a look.
  init(asked: Int64, answered: Int64, time: Int64) {
    let trip = max(0, answered - asked)
    (least, most) = (time - answered, time - answered + trip + Self.aging(trip))
    measured = answered
    (offset, began) = (least + (most - least) / 2, answered)
  }

  /// The time at a local reading. It never goes back while the readings do not.
  func time(at local: Int64) -> Int64 { local + ahead(at: local) }

  /// How far the time is from the database's, at most.
  func error(at local: Int64) -> Int64 {
    let (ahead, aging) = (ahead(at: local), Self.aging(local - measured))
    return max(ahead - least, most - ahead) + aging
  }

  /// Moves towards what another look shows, from the local reading on.
  mutating func correct(asked: Int64, answered: Int64, time: Int64, at local: Int64) {
    (offset, began) = (ahead(at: local), local)
    let look = Self(asked: asked, answered: answered, time: time)
    let aging = Self.aging(answered - measured)
    let (low, high) = (max(look.least, least - aging), min(look.most, most + aging))
    (least, most) = low <= high ? (low, high) : (look.least, look.most)
    measured = answered
  }

  private func ahead(at local: Int64) -> Int64 {
    let elapsed = max(0, local - began)
    let missing = least + (most - least) / 2 - offset
    return offset + min(max(missing, -elapsed / Self.slowest), elapsed / Self.fastest)
  }

  /// By how much the clocks may differ more after this time.
  private static func aging(_ elapsed: Int64) -> Int64 { elapsed <= 0 ? 0 : elapsed / drift + 1 }
}
