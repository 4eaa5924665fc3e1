internal import RedialStore
internal import RedialCore
internal import RedialModel

/// The counts of calls that have not ended, by shard and namespace, in a store that several instances share: each
/// instance reads them with every heartbeat, which is far too often to count a million calls.
///
/// A transaction's changes are collected here, and written at its end. A process that has the store for itself keeps
/// its own counts in memory; the first instance that shares the store after it counts all calls once.
struct UnfinishedCounts {
  /// The shard and the namespace of the row that marks the counts as valid.
  static let mark: Int64 = -1

  private let connection: SQLiteConnection
  private let changes: GatheredCounts
  private let placeOfCall: SQLiteStatement
  private let isMarked: SQLiteStatement
  private let counts: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    self.connection = connection
    changes = try GatheredCounts(
      on: connection, "count unfinished calls", in: "unfinished_counts", by: "shard", "namespace")
    placeOfCall = try connection.prepare(
      "find a call's shard",
      "SELECT t.shard, c.namespace FROM calls c JOIN targets t ON t.id = c.target_id WHERE c.id = ?1")
    isMarked = try connection.prepare(
      "see whether unfinished calls are counted",
      "SELECT 1 FROM unfinished_counts WHERE shard = \(Self.mark) AND namespace = \(Self.mark)")
    counts = try connection.prepare(
      "read the counts of unfinished calls by namespace",
      """
      SELECT n.name, coalesce(sum(CASE WHEN l.owner = ?1 THEN u.count ELSE 0 END), 0),
        coalesce(sum(CASE WHEN l.owner = ?1 THEN 0 ELSE u.count END), 0)
      FROM namespaces n LEFT JOIN unfinished_counts u ON u.namespace = n.id LEFT JOIN leases l ON l.shard = u.shard
      GROUP BY n.id
      """)
  }

  /// Counts one more, or one fewer, call that has not ended.
  func count(target: TargetKey, namespace: Int64, _ change: Int64) {
    changes.gather(Int64(ShardSet.shard(of: target)), namespace, change)
  }

  /// Counts the same for a call in the store.
  func count(_ id: CallID, _ change: Int64) throws(StoreError) {
    placeOfCall.bind(1, id.rawValue)
    let place = try placeOfCall.first { row throws(StoreError) in (shard: row.integer(0), namespace: row.integer(1)) }
    if let place { changes.gather(place.shard, place.namespace, change) }
  }

  /// Writes the recorded changes, at the end of the transaction.
  func write() throws(StoreError) { try changes.write() }

  /// Drops the recorded changes: the transaction is rolled back.
  func forget() { changes.forget() }

  /// Counts all calls, if that was not done since a process had the store for itself. Only within a transaction.
  func begin() throws(StoreError) {
    guard try isMarked.first({ row throws(StoreError) in row.integer(0) }) == nil else { return }
    try connection.execute(
      "count all unfinished calls",
      """
      DELETE FROM unfinished_counts;
      INSERT INTO unfinished_counts
        SELECT t.shard, c.namespace, count(*) FROM calls c JOIN targets t ON t.id = c.target_id
        WHERE \(Conditions.anyKind) AND c.state < \(StateColumns.firstFinished) GROUP BY t.shard, c.namespace;
      INSERT INTO unfinished_counts VALUES (\(Self.mark), \(Self.mark), 1);
      """)
  }

  /// Every namespace that has had a call, with the number of its unfinished calls in a session's shards, and in all
  /// other shards.
  func counts(of session: Int64) throws(StoreError) -> [(namespace: Namespace, own: Int, elsewhere: Int)] {
    counts.bind(1, session)
    return try counts.rows { row throws(StoreError) in
      let (namespace, own) = try NamespaceTable.counted(row)
      return (namespace, own, Int(row.integer(2)))
    }
  }
}
