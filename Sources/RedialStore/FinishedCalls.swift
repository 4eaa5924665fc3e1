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

/// The size of a file, and the number of finished calls in it. Each is one row, or a few, whatever the file contains.
struct UsageQueries {
  private let pageCount: SQLiteStatement
  private let freePages: SQLiteStatement
  private let counts: SQLiteStatement
  private let pageBytes: Int

  /// Prepares the queries.
  init(on connection: SQLiteConnection) throws(StoreError) {
    pageCount = try connection.prepare("measure the store", "PRAGMA page_count")
    freePages = try connection.prepare("measure the store", "PRAGMA freelist_count")
    counts = try connection.prepare("count finished calls", "SELECT kind, state, count FROM finished_counts")
    pageBytes = Int(
      try connection.value("measure the store", "PRAGMA page_size") { $0.integer(0) } ?? 4096)
  }

  /// Free pages.
  func free() throws(StoreError) -> Int {
    Int(try freePages.first { row throws(StoreError) in row.integer(0) } ?? 0)
  }

  /// Bytes in use.
  func usedBytes() throws(StoreError) -> Int {
    let pages = Int(try pageCount.first { row throws(StoreError) in row.integer(0) } ?? 0)
    return (pages - (try free())) * pageBytes
  }

  /// All figures at once.
  func usage() throws(StoreError) -> StoreUsage {
    let finished = try counts.rows { row throws(StoreError) -> FinishedCount? in
      guard let kind = row.code(0, as: CallKind.self), let state = row.code(1, as: StoredState.self) else { return nil }
      return FinishedCount(kind: kind, state: state.visible, count: Int(row.integer(2)))
    }
    return StoreUsage(
      usedBytes: try usedBytes(), freeBytes: try free() * pageBytes, finished: finished.compactMap { $0 })
  }
}
