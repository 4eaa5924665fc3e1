internal import RedialCore
internal import RedialModel

/// The columns behind those of a call in which an instance sees how a target of another one stands. They are read with
/// the call, so that a list of calls takes no query for each target.
enum StandingColumns {
  /// The columns of a target `t`.
  static let list = "t.breaker_until, t.paused, t.tripped, CASE WHEN t.pace_limited THEN t.pace_at END, t.asked_until"

  /// Adds the target `t` of a call `c`.
  static let join = "LEFT JOIN targets t ON \(Lookup.row("t.id", "c.target_id"))"

  /// The standing in a row whose columns are ``CallColumns/list(bodies:largest:past:)`` and ``list``.
  static func read(_ rows: PostgresRows, _ row: Int) -> StoredStanding {
    let first = CallColumns.past + 1
    func time(_ column: Int) -> Timestamp? {
      rows.integerIfPresent(row, first + column).map { Timestamp(microseconds: $0) }
    }
    return StoredStanding(
      openUntil: time(0), isPaused: rows.integerIfPresent(row, first + 1) == 1,
      isTripped: rows.integerIfPresent(row, first + 2) == 1, limitedAt: time(3), askedUntil: time(4))
  }
}
