internal import RedialModel
internal import RedialStore

/// Faults of calls that need no call to be read: rows without their other half, calls in the wrong table.
enum CallFault: String, CaseIterable {
  case noRequest, noTarget, noNamespace, otherShard, endedLive, openDone, twice
  case attempt, request, key, label, retry
  case endedTurn, missingTurn, otherTurn

  /// The statement that finds them among the ids after $1, up to $2: fault, id, and two numbers for the sentence.
  static let query = PostgresQuery(
    "inspect_faults", "compare the rows of calls",
    """
    WITH c AS MATERIALIZED (
        SELECT id, shard, namespace, target_id, state, false AS ended FROM live WHERE id > $1::int8 AND id <= $2::int8
        UNION ALL
        SELECT id, shard, namespace, target_id, state, true FROM done WHERE id > $1::int8 AND id <= $2::int8),
      f AS (\(CallFault.allCases.map(\.select).joined(separator: "\n  UNION ALL ")))
    SELECT * FROM f ORDER BY id LIMIT \(Lateness.most)
    """)

  /// Rows with fault, id, and two numbers.
  private var select: String {
    switch self {
    case .noRequest: calls(Lookup.none("requests", "id", "c.id"))
    case .noTarget: calls(Lookup.none("targets", "id", "c.target_id"), number: "c.target_id")
    case .noNamespace: calls("NOT EXISTS (SELECT 1 FROM namespaces n WHERE n.id = c.namespace)", number: "c.namespace")
    case .otherShard:
      """
      SELECT '\(rawValue)', c.id, c.shard::int8, t.shard::int8 FROM c
        JOIN targets t ON \(Lookup.row("t.id", "c.target_id")) WHERE t.shard <> c.shard
      """
    case .endedLive: calls("NOT c.ended AND c.state NOT BETWEEN 0 AND \(StoredPlace.awaitingTurn)", number: "c.state")
    case .openDone:
      calls(
        "c.ended AND c.state NOT BETWEEN \(StoredPlace.firstEnded) AND \(StoredState.cancelled.rawValue)",
        number: "c.state")
    case .twice: calls("NOT c.ended AND EXISTS (SELECT 1 FROM c d WHERE d.id = c.id AND d.ended)")
    case .attempt: remains("attempts", "call_id")
    case .request: remains("requests", "id")
    case .key: remains("keys", "call_id")
    case .label: remains("labels", "call_id")
    case .retry: remains("retries", "call_id")
    case .endedTurn: turns("JOIN c ON c.id = t.call_id", "c.ended")
    case .missingTurn: turns("LEFT JOIN c ON c.id = t.call_id", "c.id IS NULL")
    case .otherTurn:
      turns(
        "JOIN c ON c.id = t.call_id",
        "(c.namespace, c.target_id, c.shard) IS DISTINCT FROM (t.namespace, t.target_id, t.shard)")
    }
  }

  private func calls(_ condition: String, number: String = "0") -> String {
    "SELECT '\(rawValue)', c.id, (\(number))::int8, 0::int8 FROM c WHERE \(condition)"
  }

  private func remains(_ table: String, _ column: String) -> String {
    """
    SELECT DISTINCT '\(rawValue)', t.\(column), 0::int8, 0::int8 FROM \(table) t
      WHERE t.\(column) > $1::int8 AND t.\(column) <= $2::int8 AND NOT EXISTS (SELECT 1 FROM c WHERE c.id = t.\(column))
    """
  }

  private func turns(_ join: String, _ condition: String) -> String {
    """
    SELECT '\(rawValue)', t.call_id, 0::int8, 0::int8 FROM turns t \(join)
      WHERE t.call_id > $1::int8 AND t.call_id <= $2::int8 AND \(condition)
    """
  }
}

/// The findings from the rows of ``CallFault/query``.
struct RemainFindings {
  var orphaned = StoreFinding(check: .orphaned)
  var misplaced = StoreFinding(check: .leases)
  var halfEnded = StoreFinding(check: .halfEnded)
  var turns = StoreFinding(check: .turns)

  mutating func add(_ rows: PostgresRows) {
    for row in 0..<rows.count {
      guard let fault = CallFault(rawValue: rows.text(row, 0)) else { continue }
      add(fault, CallID(rawValue: rows.integer(row, 1)), rows.integer(row, 2), rows.integer(row, 3))
    }
  }

  private mutating func add(_ fault: CallFault, _ id: CallID, _ first: Int64, _ second: Int64) {
    switch fault {
    case .noRequest: orphaned.add(withoutRequest: id)
    case .noTarget: orphaned.add("\(id) has the target \(first), which is not there")
    case .noNamespace: orphaned.add("\(id) has the namespace \(first), which is not there")
    case .attempt: orphaned.add("an attempt", ofMissing: id)
    case .request: orphaned.add("a request", ofMissing: id)
    case .key: orphaned.add("a key", ofMissing: id)
    case .label: orphaned.add("a label", ofMissing: id)
    case .retry: orphaned.add("a retry", ofMissing: id)
    case .otherShard: misplaced.add("\(id) is in shard \(first), and its target in shard \(second)")
    case .endedLive: halfEnded.add("\(id) is among the calls that have not ended, with state \(first)")
    case .openDone: halfEnded.add("\(id) is among the calls that have ended, with state \(first)")
    case .twice: halfEnded.add("\(id) has ended and has not: it is there twice")
    case .endedTurn: turns.add(turnOf: id, isMissing: false)
    case .missingTurn: turns.add(turnOf: id, isMissing: true)
    case .otherTurn: turns.add("\(id) has its place in the order of another target, shard or namespace")
    }
  }
}
