internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The statements that list calls, newest first. There is one for each combination of states and conditions.
///
/// A label's calls are a range of an index; calls that have ended are ranges of an index by state. Calls that have not
/// ended are read by age, and those that do not match are left out.
enum ListQueries {
  /// Maximum number of candidates that are examined at a time if not all of them may match.
  static let chunk = 250

  /// The statement for the calls that a filter selects among. Each row has an id and whether the call matches; with a part
  /// of the URL, also the spec.
  static func statement(
    _ filter: CallFilter, before: CallID, namespace: Int64, targetID: Int64?, limit: Int
  ) -> PostgresStatement {
    let states = StoredState.allCases.filter { filter.states.isEmpty || filter.states.contains($0.visible) }
    let label = filter.idempotencyKey == nil ? filter.labels.first : nil
    let shape =
      "\(states.map { "\($0.rawValue)" }.joined())_\(targetID == nil ? 0 : 1)"
      + "_\(filter.idempotencyKey != nil ? "k" : label != nil ? "l" : "s")_\(filter.isIndexed ? 1 : 0)"
      + "_\(filter.urlPart == nil ? 0 : 1)"
    let candidates: String
    if filter.idempotencyKey != nil {
      candidates = "SELECT call_id AS id FROM keys WHERE key = $7::text AND call_id < $2::int8 AND call_id >= $3::int8"
    } else if label != nil {
      candidates =
        "SELECT call_id AS id FROM labels WHERE name = $7::text AND value = $8::text AND call_id < $2::int8 AND call_id >= $3::int8"
    } else {
      candidates = ranges(states, hasTarget: targetID != nil)
    }
    let spec = filter.urlPart == nil ? "NULL::bytea" : "(SELECT spec FROM requests r WHERE r.id = k.id)"
    let matches = filter.isIndexed ? "true" : "EXISTS (\(conditions(states)))"
    let query = PostgresQuery(
      "list_\(shape)", "list calls",
      """
      WITH p AS (SELECT $1::int8 AS kind, $2::int8 AS before, $3::int8 AS first, $4::int8 AS limit_, $5::int8 AS namespace,
          $6::int8 AS target, $7::text AS name, $8::text AS value, $9::int8 AS ended, $10::int8 AS failure,
          $11::int8 AS outcome, $12::int8 AS lowest, $13::int8 AS highest, $14::text[] AS names, $15::text[] AS vals)
      SELECT k.id, \(matches), \(spec) FROM (SELECT id FROM (\(candidates)) u ORDER BY id DESC LIMIT $4::int8) k
      ORDER BY k.id DESC
      """)
    var statement = PostgresStatement(query)
    statement.add(Int64(filter.kind.rawValue))
    statement.add(before.rawValue)
    statement.add(filter.firstID.rawValue)
    statement.add(Int64(limit))
    statement.add(namespace)
    statement.add(targetID)
    statement.add(
      text: filter.idempotencyKey.map { IdempotencyName($0, in: filter.namespace).text }
        ?? label.map { LabelName($0.name, in: filter.namespace).text })
    statement.add(text: label?.value)
    statement.add(filter.endedBy?.microseconds)
    statement.add(filter.failure.map { Int64($0.rawValue) })
    statement.add(filter.outcome.map { Int64($0.rawValue) })
    statement.add(filter.statuses.map { Int64($0.lowerBound) })
    statement.add(filter.statuses.map { Int64($0.upperBound) })
    statement.add(texts: filter.labels.map { LabelName($0.name, in: filter.namespace).text })
    statement.add(texts: filter.labels.map(\.value))
    return statement
  }

  private static func ranges(_ states: [StoredState], hasTarget: Bool) -> String {
    let window =
      "kind = $1::int8 AND id < $2::int8 AND id >= $3::int8 AND namespace = $5::int8"
      + (hasTarget ? " AND target_id = $6::int8" : "")
    let order = "ORDER BY id DESC LIMIT $4::int8"
    var parts: [String] = []
    let live = states.filter { !$0.isFinal }
    if !live.isEmpty {
      let any = live.map { "(\(StoredPlace.condition($0)))" }.joined(separator: " OR ")
      parts.append("(SELECT id FROM live WHERE \(window) AND (\(any)) \(order))")
    }
    for state in states where state.isFinal {
      parts.append("(SELECT id FROM done WHERE \(window) AND state = \(state.rawValue) \(order))")
    }
    return parts.joined(separator: " UNION ALL ")
  }

  /// True for a call that matches all conditions that are given.
  private static func conditions(_ states: [StoredState]) -> String {
    let any = states.map { "(\(StoredPlace.condition($0)))" }.joined(separator: " OR ")
    return """
      SELECT 1 FROM calls c, p WHERE c.id = k.id AND c.kind = p.kind AND (\(any))
        AND (p.target IS NULL OR c.target_id = p.target) AND (p.ended IS NULL OR c.finished_at <= p.ended)
        AND (p.failure IS NULL OR c.failure = p.failure) AND (p.outcome IS NULL OR c.last_outcome = p.outcome)
        AND (p.lowest IS NULL OR c.last_status BETWEEN p.lowest AND p.highest)
        AND NOT EXISTS (SELECT 1 FROM unnest(p.names, p.vals) AS w (name, value) WHERE NOT EXISTS (
          SELECT 1 FROM labels l WHERE l.name = w.name COLLATE "C" AND l.value = w.value COLLATE "C" AND l.call_id = c.id))
      """
  }
}
