/// The number of calls that have not ended, by shard and namespace: a table of changes, which are added up now and then.
///
/// Each statement adds one row, whose arrays have an element for each shard and namespace. A row for each of them would be
/// fifty rows for a commit of a hundred calls, and every sum would read them.
enum UnfinishedCounts {
  /// After so many rows they are added up.
  private static let most = 128

  /// Counts rows.
  ///
  /// - Parameters:
  ///   - rows: Rows with `shard` and `namespace`, as they stand after FROM.
  ///   - sign: `-` for calls that leave.
  static func add(_ rows: String, sign: String = "") -> String {
    """
    INSERT INTO unfinished (shards, namespaces, counts) SELECT array_agg(shard), array_agg(namespace), array_agg(n)
      FROM (SELECT shard, namespace, \(sign)count(*) AS n FROM \(rows) GROUP BY shard, namespace) g HAVING count(*) > 0
    """
  }

  /// All changes, a row for each shard and namespace.
  private static func changes(of table: String) -> String {
    "SELECT unnest(shards) AS shard, unnest(namespaces) AS namespace, unnest(counts) AS n FROM \(table)"
  }

  /// Every namespace, with the number of its unfinished calls in the shards of the session $1, and in all others.
  static let read = PostgresQuery(
    "unfinished", "count unfinished calls",
    """
    SELECT n.name, coalesce(sum(u.n) FILTER (WHERE l.owner = $1::int8), 0)::int8,
      coalesce(sum(u.n) FILTER (WHERE l.owner IS DISTINCT FROM $1::int8), 0)::int8
    FROM namespaces n LEFT JOIN (SELECT shard, namespace, sum(n)::int8 AS n FROM (\(changes(of: "unfinished"))) c
        GROUP BY shard, namespace) u ON u.namespace = n.id LEFT JOIN leases l ON l.shard = u.shard
    GROUP BY n.id, n.name ORDER BY n.id
    """)

  /// Adds the changes up, if there are many. Of rows that another instance is adding up, none is waited for.
  static let fold = PostgresQuery(
    "fold_unfinished", "add up the counts of unfinished calls",
    """
    WITH d AS (DELETE FROM unfinished WHERE EXISTS (SELECT 1 FROM unfinished OFFSET \(most)) AND ctid = ANY(ARRAY(
        SELECT ctid FROM unfinished LIMIT 10000 FOR UPDATE SKIP LOCKED)) RETURNING shards, namespaces, counts),
      s AS (SELECT shard, namespace, sum(n)::int8 AS n FROM (\(changes(of: "d"))) c GROUP BY shard, namespace
        HAVING sum(n) <> 0)
    INSERT INTO unfinished (shards, namespaces, counts)
    SELECT array_agg(shard), array_agg(namespace), array_agg(n) FROM s HAVING count(*) > 0
    """)
}
