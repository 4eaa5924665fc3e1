internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The statements that list calls, newest first. There is one for each combination of states and conditions.
///
/// A label's calls are a range of an index; calls that have ended are ranges of an index by state. Calls that have not
/// ended are read by age, and those that do not match are left out.
enum ListQueries {
  /// Maximum number of calls that are looked up at a time.
  static let chunk = 250
  /// Maximum number of rows that are read at a time: what fits the server's `work_mem` by default.
  static let mostRows = 32_768

  /// The place of the columns in a row of the result.
  enum Column {
    static let id = 0
    /// Whether the call matches.
    static let matches = 1
    /// The call's spec, if the filter has a part of the URL.
    static let spec = 2
    /// In the last row, which stands for no call: how many were read for the others; its id is that of the oldest one.
    static let read = 3
  }

  /// The statement for the calls that a filter selects among.
  ///
  /// - Parameters:
  ///   - waits: The condition on waits, if the filter has one, with the rules for targets.
  ///   - reading: How many calls are read.
  ///   - limit: Maximum number of calls of which the rows match, and which are looked up.
  static func statement(
    _ filter: CallFilter, waits: WaitRules?, before: CallID, namespace: Int64, targetID: Int64?, reading: Int,
    limit: Int
  ) -> PostgresStatement {
    let states = filter.storedStates
    let issue = filter.idempotencyKey == nil ? filter.issue : nil
    let label = filter.idempotencyKey == nil && issue == nil ? filter.labels.first : nil
    let shape =
      "\(states.map { "\($0.rawValue)" }.joined())_\(targetID == nil ? 0 : 1)"
      + "_\(filter.idempotencyKey != nil ? "k" : issue != nil ? "i" : label != nil ? "l" : "s")_\(filter.looksUp ? 0 : 1)"
      + "_\(filter.urlPart == nil ? 0 : 1)_\(waits != nil ? 2 : filter.readsRows ? 1 : 0)"
    let columns = waits != nil ? WaitRules.columns : filter.readsRows ? ["attempts"] : []
    let fits =
      waits != nil
      ? "attempts >= $17::int8 AND \(WaitRules.condition)" : filter.readsRows ? "attempts >= $17::int8" : "true"
    let candidates: String
    if filter.idempotencyKey != nil {
      candidates = byCall("keys", "key = $7::text", columns)
    } else if issue != nil {
      candidates = group(columns)
    } else if label != nil {
      candidates = byCall("labels", "name = $7::text AND value = $8::text", columns)
    } else {
      candidates = ranges(states, hasTarget: targetID != nil, columns)
    }
    let spec = filter.urlPart == nil ? "NULL::bytea" : "(SELECT spec FROM requests r WHERE r.id = k.id)"
    let matches = filter.looksUp ? "EXISTS (\(conditions(states)))" : "true"
    let query = PostgresQuery(
      "list_\(shape)", "list calls",
      """
      WITH p AS (SELECT $1::int8 AS kind, $2::int8 AS before, $3::int8 AS first, $4::int8 AS limit_, $5::int8 AS namespace,
          $6::int8 AS target, $7::text AS name, $8::text AS value, $9::int8 AS ended, $10::int8 AS failure,
          $11::int8 AS outcome, $12::int8 AS lowest, $13::int8 AS highest, $14::text[] AS names, $15::text[] AS vals,
          $17::int8 AS attempts, $18::int8 AS issue),
        read AS MATERIALIZED (SELECT id, \(fits) AS fits FROM (
          SELECT * FROM (\(candidates)) u ORDER BY id DESC LIMIT $4::int8) u\(waits == nil ? "" : " \(WaitRules.join)"))
      SELECT k.id, \(matches), \(spec), 0::int8 AS n FROM (
        SELECT id FROM read WHERE fits ORDER BY id DESC LIMIT $16::int8) k
      UNION ALL SELECT min(id), NULL, NULL, count(*) FROM read ORDER BY n, id DESC
      """)
    var statement = PostgresStatement(query)
    statement.add(Int64(filter.kind.rawValue))
    statement.add(before.rawValue)
    statement.add(filter.firstID.rawValue)
    statement.add(Int64(reading))
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
    statement.add(Int64(limit))
    statement.add(Int64(filter.attempts ?? 0))
    statement.add(filter.issue?.rawValue)
    waits?.add(to: &statement)
    return statement
  }

  /// The calls that a table names, in its order. One that is gone is read too, without columns: it counts as read.
  private static func byCall(_ table: String, _ condition: String, _ columns: [String]) -> String {
    let named = "SELECT call_id AS id FROM \(table) WHERE \(condition) AND call_id < $2::int8 AND call_id >= $3::int8"
    if columns.isEmpty { return named }
    return """
      SELECT n.id, \(columns.map { "c.\($0)" }.joined(separator: ", "))
      FROM (\(named) ORDER BY call_id DESC LIMIT $4::int8) n LEFT JOIN calls c ON \(Lookup.row("c.id", "n.id"))
      """
  }

  /// The failed calls of a group.
  private static func group(_ columns: [String]) -> String {
    """
    SELECT \((["id"] + columns).joined(separator: ", ")) FROM done WHERE namespace = $5::int8 AND failure = $18::int8
      AND kind = $1::int8 AND id < $2::int8 AND id >= $3::int8
    """
  }

  private static func ranges(_ states: [StoredState], hasTarget: Bool, _ columns: [String]) -> String {
    let window =
      "kind = $1::int8 AND id < $2::int8 AND id >= $3::int8 AND namespace = $5::int8"
      + (hasTarget ? " AND target_id = $6::int8" : "")
    let order = "ORDER BY id DESC LIMIT $4::int8"
    let columns = (["id"] + columns).joined(separator: ", ")
    var parts: [String] = []
    let live = states.filter { !$0.isFinal }
    if !live.isEmpty {
      let any = live.map { "(\(StoredPlace.condition($0)))" }.joined(separator: " OR ")
      parts.append("(SELECT \(columns) FROM live WHERE \(window) AND (\(any)) \(order))")
    }
    for state in states where state.isFinal {
      parts.append("(SELECT \(columns) FROM done WHERE \(window) AND state = \(state.rawValue) \(order))")
    }
    return parts.joined(separator: " UNION ALL ")
  }

  /// True for a call that matches all conditions that are given.
  private static func conditions(_ states: [StoredState]) -> String {
    let any = states.map { "(\(StoredPlace.condition($0)))" }.joined(separator: " OR ")
    return """
      SELECT 1 FROM calls c, p WHERE c.id = k.id AND c.kind = p.kind AND (\(any))
        AND (p.target IS NULL OR c.target_id = p.target) AND (p.ended IS NULL OR c.finished_at <= p.ended)
        AND (p.failure IS NULL OR c.failure & \(FailureCode.reasonMask) = p.failure) AND (p.outcome IS NULL OR c.last_outcome = p.outcome)
        AND (p.issue IS NULL OR c.failure = p.issue)
        AND (p.lowest IS NULL OR c.last_status BETWEEN p.lowest AND p.highest)
        AND NOT EXISTS (SELECT 1 FROM unnest(p.names, p.vals) AS w (name, value) WHERE NOT EXISTS (
          SELECT 1 FROM labels l WHERE l.name = w.name COLLATE "C" AND l.value = w.value COLLATE "C" AND l.call_id = c.id))
      """
  }
}
