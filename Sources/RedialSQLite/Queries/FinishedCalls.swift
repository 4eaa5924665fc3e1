internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Finds the calls that ended first.
struct FinishedCalls {
  private let oldest: SQLiteStatement
  private let next: SQLiteStatement

  /// Prepares the query.
  init(on connection: SQLiteConnection) throws(StoreError) {
    oldest = try connection.prepare(
      "find the calls that ended first",
      "SELECT id, finished_at FROM calls WHERE \(Conditions.finished) AND finished_at <= ?1 ORDER BY finished_at LIMIT ?2"
    )
    next = try connection.prepare(
      "find the calls that ended next",
      """
      SELECT id, finished_at FROM calls WHERE \(Conditions.finished) AND (finished_at, id) > (?1, ?2)
        AND finished_at <= ?3 ORDER BY finished_at, id LIMIT ?4
      """)
  }

  /// The calls that ended by a time, with the time of their end, earliest first.
  func ended(by time: Timestamp, limit: Int) throws(StoreError) -> [(id: CallID, end: Timestamp)] {
    oldest.bind(1, time.microseconds)
    oldest.bind(2, Int64(limit))
    return try oldest.rows { row throws(StoreError) in
      (CallID(rawValue: row.integer(0)), Timestamp(microseconds: row.integer(1)))
    }
  }

  /// The calls behind a place that ended by a time, with the time of their end, earliest first.
  func ended(
    after place: PayloadPlace, by time: Timestamp, limit: Int
  ) throws(StoreError) -> [(id: CallID, end: Timestamp)] {
    next.bind(1, place.end.microseconds)
    next.bind(2, place.id.rawValue)
    next.bind(3, time.microseconds)
    next.bind(4, Int64(limit))
    return try next.rows { row throws(StoreError) in
      (CallID(rawValue: row.integer(0)), Timestamp(microseconds: row.integer(1)))
    }
  }
}
