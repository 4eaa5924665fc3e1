internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The statements that count failed calls by their groups, from the index alone.
enum FailureQueries {
  // Codes that are only a reason, of calls without a group, are below all others.
  private static let range = """
    done WHERE namespace = (SELECT id FROM namespaces WHERE name = $1::text)
      AND failure BETWEEN $2::int8 AND $3::int8 AND failure IS NOT NULL
    """

  private static let groups = PostgresQuery(
    "failed_groups", "count failed calls by group",
    """
    SELECT failure, count(*), min(finished_at), max(finished_at), max(id) FROM \(range) GROUP BY failure
    ORDER BY count(*) DESC, failure LIMIT $4::int8
    """)

  private static let hours = PostgresQuery(
    "failed_hours", "count failed calls by hour",
    """
    SELECT failure, (finished_at - $4::int8) / \(FailedCalls.hour) AS hour, count(*) FROM \(range)
      AND finished_at >= $4::int8 GROUP BY failure, hour
    """)

  /// The statements, in the order in which ``read(_:_:)`` reads their rows.
  static func statements(_ query: FailedQuery) -> [PostgresStatement] {
    var (groups, hours) = (PostgresStatement(groups), PostgresStatement(hours))
    add(query, to: &groups)
    groups.add(Int64(query.limit))
    add(query, to: &hours)
    hours.add(FailedCalls.hoursBegin(at: query.now).microseconds)
    return [groups, hours]
  }

  private static func add(_ query: FailedQuery, to statement: inout PostgresStatement) {
    statement.add(text: query.namespace.name)
    statement.add(query.issue?.rawValue ?? FailureCode.reasonMask + 1)
    statement.add(query.issue?.rawValue ?? Int64.max)
  }

  /// The groups.
  static func read(_ rows: [PostgresRows], _ query: FailedQuery) -> [FailedCalls] {
    var found: [IssueID: FailedCalls] = [:]
    for row in 0..<rows[0].count {
      guard let issue = IssueID(rawValue: rows[0].integer(row, 0)) else { continue }
      found[issue] = FailedCalls(
        issue: issue, count: Int(rows[0].integer(row, 1)), firstAt: Timestamp(microseconds: rows[0].integer(row, 2)),
        lastAt: Timestamp(microseconds: rows[0].integer(row, 3)), example: CallID(rawValue: rows[0].integer(row, 4)))
    }
    for row in 0..<rows[1].count {
      guard let issue = IssueID(rawValue: rows[1].integer(row, 0)) else { continue }
      found[issue]?.count(Int(rows[1].integer(row, 2)), inHour: rows[1].integer(row, 1))
    }
    return query.first(found.values)
  }
}
