internal import RedialStore
internal import RedialModel

/// Finds the calls of a list, newest first. The cost depends on the rows that are returned or examined, not on those
/// stored.
///
/// A label's calls are a range of an index. Otherwise each state is a range of an index ordered by age; SQLite merges
/// the ranges and reads no more of each than it needs (`MERGE (UNION ALL)` in the query plan). What the rows of calls
/// say is judged as they are read; only the calls that are left are looked up, if more of them must be known.
final class CallListing {
  private struct Shape: Hashable {
    enum Source: Hashable {
      case states([StoredState], hasTarget: Bool)
      case label
      case issue
      case idempotencyKey
    }

    var source: Source
    /// Whether the rows of the calls are read, and not only an index.
    var readsRows: Bool
  }

  private let connection: SQLiteConnection
  private let matches: CallMatching
  private let key: SQLiteStatement
  private var prepared: [Shape: SQLiteStatement] = [:]

  /// A listing on a connection; each kind of query is prepared when it is first used.
  ///
  /// - Parameters:
  ///   - redaction: Hides parts of URLs, which are then not found by a search either.
  ///   - attempts: Reads attempts on this connection.
  init(on connection: SQLiteConnection, redaction: Redaction, attempts: AttemptRows) throws(StoreError) {
    self.connection = connection
    matches = try CallMatching(on: connection, redaction: redaction, attempts: attempts)
    key = try connection.prepare("read a target's key", "SELECT key FROM targets WHERE id = ?1")
  }

  /// The ids of the calls that a query selects.
  ///
  /// - Parameter namespace: The number of the query's namespace.
  func ids(_ query: CallQuery, namespace: Int64, targetID: Int64?) throws(StoreError) -> CallPage<CallID> {
    var page = CallPage<CallID>(calls: [], next: nil)
    let filter = query.filter
    guard query.limit > 0, !filter.storedStates.isEmpty else { return page }
    var before = min(query.before ?? filter.endID, filter.endID)
    // In rows.
    var left = filter.isIndexed ? Int.max : max(1, query.scanLimit) * CallQuery.rowsPerCall
    let search = filter.urlPart.map { TextSearch($0) }
    let condition = try WaitCondition(query)
    // A few targets have most calls, so each is judged once.
    var rules: [Int64: WaitCondition.Rule] = [:]
    var last: (target: Int64, rule: WaitCondition.Rule)?
    // One row more than requested shows whether there is another page.
    let limit = filter.isIndexed ? query.limit + 1 : Int.max
    let candidates = try candidates(filter, before: before, namespace: namespace, targetID: targetID, limit: limit)
    try candidates.each { row throws(StoreError) in
      if page.calls.count == query.limit || left <= 0 {
        page.next = before
        return false
      }
      before = CallID(rawValue: row.integer(0))
      left -= 1
      if let least = filter.attempts, row.integer(Column.attempts) < least { return true }
      if let condition {
        let target = row.integer(Column.target)
        if last?.target != target {
          let rule = if let known = rules[target] { known } else { try rule(of: target, condition) }
          rules[target] = rule
          last = (target, rule)
        }
        let fits = last.map { last in
          condition.matches(
            last.rule, waiting: row.integer(Column.waiting), due: row.integer(Column.due),
            isRetry: row.integer(Column.attempts) > row.integer(Column.attemptsBefore))
        }
        if fits != true { return true }
      }
      if filter.looksUp {
        let verdict = try matches(before, filter, targetID: targetID, search: search)
        left -= verdict.work * CallQuery.rowsPerCall - 1
        guard verdict.fits else { return true }
      }
      page.calls.append(before)
      return true
    }
    return page
  }

  private func rule(of target: Int64, _ condition: WaitCondition) throws(StoreError) -> WaitCondition.Rule {
    key.bind(1, target)
    let key: TargetKey? = try key.first { row throws(StoreError) in row.key(0) }
    // A call without a target is damaged, and waits for nothing that is known.
    return key.map { condition.rule(of: $0, stored: nil) } ?? condition.usualRule(isOwn: false)
  }

  private func candidates(
    _ filter: CallFilter, before: CallID, namespace: Int64, targetID: Int64?, limit: Int
  ) throws(StoreError) -> SQLiteStatement {
    let issue = filter.idempotencyKey == nil ? filter.issue : nil
    let label = filter.idempotencyKey == nil && issue == nil ? filter.labels.first : nil
    let source: Shape.Source =
      filter.idempotencyKey != nil
      ? .idempotencyKey
      : issue != nil ? .issue : label != nil ? .label : .states(filter.storedStates, hasTarget: targetID != nil)
    let statement = try statement(Shape(source: source, readsRows: filter.readsRows))
    statement.bind(1, Int64(filter.kind.rawValue))
    statement.bind(2, before.rawValue)
    statement.bind(3, Int64(limit))
    statement.bind(4, filter.firstID.rawValue)
    if let key = filter.idempotencyKey {
      statement.bind(5, key: IdempotencyName(key, in: filter.namespace))
    } else if let issue {
      statement.bind(5, issue.rawValue)
      statement.bind(6, namespace)
    } else if let label {
      statement.bind(5, key: LabelName(label.name, in: filter.namespace))
      statement.bind(6, text: label.value)
    } else {
      statement.bind(6, namespace)
      if let targetID { statement.bind(5, targetID) }
    }
    return statement
  }

  private func statement(_ shape: Shape) throws(StoreError) -> SQLiteStatement {
    if let statement = prepared[shape] { return statement }
    let statement = try connection.prepare("list calls", Self.sql(shape))
    prepared[shape] = statement
    return statement
  }

  private static func sql(_ shape: Shape) -> String {
    // Only calls of clients have labels, so the kind needs no condition; its parameter is only a placeholder.
    let window = "call_id < ?2 AND call_id >= ?4 AND ?1 >= 0"
    switch shape.source {
    case .idempotencyKey: return byCall("idempotency_keys", "key = ?5 AND \(window)", shape.readsRows)
    case .label: return byCall("labels", "name = ?5 AND value = ?6 AND \(window)", shape.readsRows)
    case .issue:
      return "SELECT id\(shape.readsRows ? ", \(columns)" : "") FROM calls WHERE namespace = ?6 AND failure = ?5 "
        + "AND kind = ?1 AND id < ?2 AND id >= ?4 ORDER BY id DESC LIMIT ?3"
    case .states(let states, let hasTarget):
      let ranges = states.map { state in
        let range =
          "SELECT id\(shape.readsRows ? ", \(columns)" : "") FROM calls "
          + "WHERE kind = ?1 AND \(StateColumns.condition(state)) AND id < ?2 AND id >= ?4"
        let isInMemory = state == .held || state == .running
        // A target belongs to one namespace, so that parameter is only a placeholder.
        if hasTarget, !isInMemory { return range + " AND target_id = ?5 AND \(Conditions.notInMemory) AND ?6 >= 0" }
        return range + " AND namespace = ?6" + (hasTarget ? " AND target_id = ?5" : "")
      }
      return ranges.joined(separator: " UNION ALL ") + " ORDER BY id DESC LIMIT ?3"
    }
  }

  /// The columns of a row, behind its id, by which a call is judged.
  private static let columns = "attempts, attempts_before, waiting, due, target_id"

  private enum Column {
    static let attempts: Int32 = 1
    static let attemptsBefore: Int32 = 2
    static let waiting: Int32 = 3
    static let due: Int32 = 4
    static let target: Int32 = 5
  }

  /// The calls that a table names.
  private static func byCall(_ table: String, _ condition: String, _ readsRows: Bool) -> String {
    guard readsRows else {
      return "SELECT call_id FROM \(table) WHERE \(condition) ORDER BY call_id DESC LIMIT ?3"
    }
    // The cross join keeps the order: the table names the calls, and each is looked up.
    return "SELECT call_id, \(columns) FROM \(table) CROSS JOIN calls ON calls.id = call_id WHERE \(condition) "
      + "ORDER BY call_id DESC LIMIT ?3"
  }
}
