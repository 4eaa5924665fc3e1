internal import RedialModel
internal import RedialStore

/// Compares the stored counts of calls with the calls.
enum CountInspection {
  private static let finished = PostgresQuery(
    "inspect_finished", "count the calls that have ended",
    """
    SELECT kind, state, sum(kept)::int8, sum(found)::int8 FROM (
      SELECT kind, state, n AS kept, 0 AS found FROM finished
      UNION ALL SELECT kind, state, 0, count(*) FROM done GROUP BY kind, state) c
    GROUP BY kind, state HAVING sum(kept) <> sum(found) ORDER BY kind, state
    """)
  private static let unfinished = PostgresQuery(
    "inspect_unfinished", "count the calls that have not ended",
    """
    SELECT shard::int8, namespace, sum(kept)::int8, sum(found)::int8 FROM (
      SELECT unnest(shards) AS shard, unnest(namespaces) AS namespace, unnest(counts) AS kept, 0 AS found FROM unfinished
      UNION ALL SELECT shard, namespace, 0, count(*) FROM live GROUP BY shard, namespace) c
    GROUP BY shard, namespace HAVING sum(kept) <> sum(found) ORDER BY shard, namespace
    """)

  static func addFinished(to finding: inout StoreFinding, _ snapshots: Snapshots) throws(PostgresFailure) {
    let rows = try snapshots.rows([PostgresStatement(finished)])[0]
    for row in 0..<rows.count {
      finding.add(
        kept: rows.integer(row, 2), kind: rows.code(row, 0, as: CallKind.self),
        state: rows.code(row, 1, as: StoredState.self), found: rows.integer(row, 3))
    }
  }

  static func addUnfinished(to finding: inout StoreFinding, _ snapshots: Snapshots) throws(PostgresFailure) {
    let rows = try snapshots.rows([PostgresStatement(unfinished)])[0]
    for row in 0..<rows.count {
      finding.add(
        kept: rows.integer(row, 2), shard: rows.integer(row, 0), namespace: rows.integer(row, 1),
        found: rows.integer(row, 3))
    }
  }
}
