internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Manual retries of calls.
struct RetryTable {
  private let insert: SQLiteStatement
  private let removeOldest: SQLiteStatement
  private let removeAll: SQLiteStatement
  private let select: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    // The same retry may be written again, if it is unknown whether the first write succeeded.
    insert = try connection.prepare(
      "store a retry",
      "INSERT OR IGNORE INTO retries (call_id, at, after_attempt, actor, reason, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
    removeOldest = try connection.prepare(
      "remove old retries",
      """
      DELETE FROM retries WHERE call_id = ?1 AND at <=
        (SELECT at FROM retries WHERE call_id = ?1 ORDER BY at DESC LIMIT 1 OFFSET \(ManualRetry.mostKept))
      """)
    removeAll = try connection.prepare("remove a call's retries", "DELETE FROM retries WHERE call_id = ?1")
    select = try connection.prepare(
      "read a call's retries",
      "SELECT at, after_attempt, actor, reason, sum FROM retries WHERE call_id = ?1 ORDER BY at")
  }

  /// Stores a retry, and removes the oldest of the call beyond the limit.
  func add(_ retry: ManualRetry, of id: CallID) throws(StoreError) {
    insert.bind(1, id.rawValue)
    insert.bind(2, retry.at.microseconds)
    insert.bind(3, Int64(retry.afterAttempt))
    insert.bind(4, text: retry.attribution.by)
    insert.bind(5, text: retry.attribution.reason)
    insert.bind(6, retry.checksum(of: id).column)
    try insert.run()
    removeOldest.bind(1, id.rawValue)
    try removeOldest.run()
  }

  /// Removes all retries of a call.
  func remove(of id: CallID) throws(StoreError) {
    removeAll.bind(1, id.rawValue)
    try removeAll.run()
  }

  /// The retries of a call, the latest last.
  func retries(of id: CallID) throws(StoreError) -> Result<[ManualRetry], DamagedCall> {
    select.bind(1, id.rawValue)
    var isIntact = true
    let retries = try select.rows { row throws(StoreError) in
      let retry = ManualRetry(
        at: Timestamp(microseconds: row.integer(0)), afterAttempt: Int(row.integer(1)),
        attribution: Attribution(by: row.isNull(2) ? nil : row.text(2), reason: row.isNull(3) ? nil : row.text(3)))
      isIntact = isIntact && retry.checksum(of: id).fits(row.integerIfPresent(4))
      return retry
    }
    return isIntact ? .success(retries) : .failure(ManualRetry.damage(of: id))
  }
}
