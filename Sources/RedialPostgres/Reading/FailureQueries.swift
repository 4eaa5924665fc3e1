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
    HAVING max(finished_at) >= $5::int8 ORDER BY count(*) DESC, failure LIMIT $4::int8
    """)

  private static let hours = PostgresQuery(
    "failed_hours", "count failed calls by hour",
    """
    SELECT failure, (finished_at - $3::int8) / \(FailedCalls.hour) AS hour, count(*) FROM done
    WHERE namespace = (SELECT id FROM namespaces WHERE name = $1::text) AND failure = ANY($2::int8[])
      AND failure IS NOT NULL AND finished_at >= $3::int8 GROUP BY failure, hour
    """)

  /// The statement for the groups, which ``groups(_:)`` reads.
  static func groups(_ query: FailedQuery) -> PostgresStatement {
    var statement = PostgresStatement(groups)
    statement.add(text: query.namespace.name)
    statement.add(query.issue?.rawValue ?? FailureCode.reasonMask + 1)
    statement.add(query.issue?.rawValue ?? Int64.max)
    statement.add(Int64(query.limit))
    statement.add(query.since.microseconds)
    return statement
  }

  static func groups(_ rows: PostgresRows) -> [FailedCalls] {
    rows.map { row in
      IssueID(rawValue: rows.integer(row, 0)).map { issue in
        FailedCalls(
          issue: issue, count: Int(rows.integer(row, 1)), firstAt: Timestamp(microseconds: rows.integer(row, 2)),
          lastAt: Timestamp(microseconds: rows.integer(row, 3)), example: CallID(rawValue: rows.integer(row, 4)))
      }
    }.compactMap { $0 }
  }

  /// The statement for the hours of these groups, which ``add(_:to:)`` reads.
  static func hours(of groups: [FailedCalls], _ query: FailedQuery) -> PostgresStatement {
    var statement = PostgresStatement(hours)
    statement.add(text: query.namespace.name)
    statement.add(groups.map(\.issue.rawValue))
    statement.add(FailedCalls.hoursBegin(at: query.now).microseconds)
    return statement
  }

  static func add(_ rows: PostgresRows, to groups: inout [FailedCalls]) {
    var places: [Int64: Int] = [:]
    for (place, group) in groups.enumerated() { places[group.issue.rawValue] = place }
    for row in 0..<rows.count {
      guard let place = places[rows.integer(row, 0)] else { continue }
      groups[place].count(Int(rows.integer(row, 2)), inHour: rows.integer(row, 1))
    }
  }
}
