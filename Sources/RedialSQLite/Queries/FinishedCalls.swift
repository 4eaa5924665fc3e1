internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Finds the calls that ended first.
struct FinishedCalls {
  private let oldest: SQLiteStatement

  /// Prepares the query.
  init(on connection: SQLiteConnection) throws(StoreError) {
    oldest = try connection.prepare(
      "find the calls that ended first",
      "SELECT id, finished_at FROM calls WHERE \(Conditions.finished) AND finished_at <= ?1 ORDER BY finished_at LIMIT ?2"
    )
  }

  /// The calls that ended by a time, with the time of their end, earliest first.
  func ended(by time: Timestamp, limit: Int) throws(StoreError) -> [(id: CallID, end: Timestamp)] {
    oldest.bind(1, time.microseconds)
    oldest.bind(2, Int64(limit))
    return try oldest.rows { row throws(StoreError) in
      (CallID(rawValue: row.integer(0)), Timestamp(microseconds: row.integer(1)))
    }
  }
}
