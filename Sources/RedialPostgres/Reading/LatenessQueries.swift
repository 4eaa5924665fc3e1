internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The statements that find late work. They read only late calls, and calls in an instance's memory.
enum LatenessQueries {
  private static let overdue = PostgresQuery(
    "overdue", "find overdue calls",
    """
    SELECT c.id FROM namespaces n CROSS JOIN leases s CROSS JOIN LATERAL (
      SELECT m.id FROM live m WHERE m.shard = s.shard AND m.namespace = n.id AND m.state <> \(StoredPlace.inMemory)
        AND m.due < $1::int8 LIMIT \(Lateness.most)) c LIMIT \(Lateness.most)
    """)

  private static let inMemory = PostgresQuery(
    "in_memory", "find calls that are held",
    """
    SELECT \(CallColumns.list(bodies: false)) FROM live c JOIN requests r ON \(Lookup.row("r.id", "c.id"))
    WHERE c.shard BETWEEN 0 AND 63 AND c.state = \(StoredPlace.inMemory) AND c.at < $1::int8 LIMIT \(Lateness.most)
    """)

  /// The statements, in the order in which ``late(_:_:)`` reads their rows.
  static func statements(_ lateness: Lateness) -> [PostgresStatement] {
    [overdue, inMemory].map { query in
      var statement = PostgresStatement(query)
      statement.add(lateness.limit.microseconds)
      return statement
    }
  }

  /// What is late, from the rows of the statements.
  static func late(_ rows: [PostgresRows], _ lateness: Lateness) -> LateCalls {
    let held = rows[1].map { row in try? CallColumns.read(rows[1], row).get() }
    let overdue = rows[0].map { row in CallID(rawValue: rows[0].integer(row, 0)) }
    return lateness.calls(overdue: overdue, inMemory: held.compactMap { $0 })
  }
}
