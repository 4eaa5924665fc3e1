internal import RedialModel
internal import RedialStore

/// The statements that measure the store.
enum UsageQueries {
  private static let size = PostgresQuery(
    "usage", "measure the store",
    """
    SELECT sum(pg_total_relation_size(c.oid))::int8 FROM pg_class c
    WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'live'::regclass) AND c.relkind = 'r'
    """)

  private static let finished = PostgresQuery(
    "finished", "count finished calls", "SELECT kind, state, sum(n)::int8 FROM finished GROUP BY kind, state")

  /// The statements, in the order in which ``usage(_:)`` reads their rows.
  static let statements = [PostgresStatement(size), PostgresStatement(finished)]

  /// The size of the tables with their indexes, and the number of finished calls.
  static func usage(_ rows: [PostgresRows]) -> StoreUsage {
    let finished = rows[1].map { row -> FinishedCount? in
      guard let kind = rows[1].code(row, 0, as: CallKind.self), let state = rows[1].code(row, 1, as: StoredState.self)
      else { return nil }
      return FinishedCount(kind: kind, state: state.visible, count: Int(rows[1].integer(row, 2)))
    }
    return StoreUsage(usedBytes: Int(rows[0].integer(0, 0)), freeBytes: 0, finished: finished.compactMap { $0 })
  }
}
