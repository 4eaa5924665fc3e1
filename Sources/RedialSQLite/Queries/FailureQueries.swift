internal import RedialCore
internal import RedialModel
internal import RedialStore

/// Counts failed calls by their groups, from the index alone.
struct FailureQueries {
  private let groups: SQLiteStatement
  private let hours: SQLiteStatement
  private let code: SQLiteStatement

  /// Prepares the queries.
  init(on connection: SQLiteConnection) throws(StoreError) {
    // A range of the index in both cases: codes that are only a reason, of calls without a group, are below all others.
    let range = "calls INDEXED BY calls_failed WHERE namespace = ?1 AND failure BETWEEN ?2 AND ?3"
    groups = try connection.prepare(
      "count failed calls by group",
      "SELECT failure, count(*), min(finished_at), max(finished_at), max(id) FROM \(range) GROUP BY failure")
    code = try connection.prepare("read why a call failed", "SELECT failure FROM calls WHERE id = ?1")
    hours = try connection.prepare(
      "count failed calls by hour",
      """
      SELECT failure, (finished_at - ?4) / \(FailedCalls.hour) AS hour, count(*) FROM \(range) AND finished_at >= ?4
      GROUP BY failure, hour
      """)
  }

  /// The groups, with what only the log has.
  ///
  /// - Parameters:
  ///   - namespace: The namespace's number; nil for one of which the tables have nothing.
  ///   - logged: The failed calls of the log that belong to the namespace.
  func groups(
    _ query: FailedQuery, namespace: Int64?, logged: [(id: CallID, issue: IssueID, at: Timestamp)]
  ) throws(StoreError) -> [FailedCalls] {
    var found: [IssueID: FailedCalls] = [:]
    if let namespace {
      bind(groups, query, namespace)
      for group in try groups.rows({ row throws(StoreError) in Self.group(row) }) {
        if let group { found[group.issue] = group }
      }
      bind(hours, query, namespace)
      hours.bind(4, FailedCalls.hoursBegin(at: query.now).microseconds)
      try hours.each { row throws(StoreError) in
        if let issue = IssueID(rawValue: row.integer(0)) {
          found[issue]?.count(Int(row.integer(2)), inHour: row.integer(1))
        }
        return true
      }
    }
    for call in logged where query.issue == nil || query.issue == call.issue {
      found[
        call.issue,
        default: FailedCalls(issue: call.issue, count: 0, firstAt: call.at, lastAt: call.at, example: call.id)
      ].add(call.id, failedAt: call.at, at: query.now)
    }
    return query.first(found.values)
  }

  /// Whether the tables say all of a call that the log has as failed.
  func isCounted(_ id: CallID, isNew: Bool, _ issue: IssueID) throws(StoreError) -> Bool {
    code.bind(1, id.rawValue)
    guard let code = try code.first({ row throws(StoreError) in row.integerIfPresent(0) }) else { return false }
    return isNew || code == issue.rawValue
  }

  private func bind(_ statement: SQLiteStatement, _ query: FailedQuery, _ namespace: Int64) {
    statement.bind(1, namespace)
    statement.bind(2, query.issue?.rawValue ?? FailureCode.reasonMask + 1)
    statement.bind(3, query.issue?.rawValue ?? Int64.max)
  }

  private static func group(_ row: SQLiteStatement) -> FailedCalls? {
    guard let issue = IssueID(rawValue: row.integer(0)) else { return nil }
    return FailedCalls(
      issue: issue, count: Int(row.integer(1)), firstAt: Timestamp(microseconds: row.integer(2)),
      lastAt: Timestamp(microseconds: row.integer(3)), example: CallID(rawValue: row.integer(4)))
  }
}
