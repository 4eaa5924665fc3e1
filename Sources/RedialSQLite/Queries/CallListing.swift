internal import RedialStore
internal import RedialModel

/// Finds the calls of a list, newest first. The cost depends on the rows that are returned or examined, not on those
/// stored.
///
/// A label's calls are a range of an index. Otherwise each state is a range of an index ordered by age; SQLite merges
/// the ranges and reads no more of each than it needs (`MERGE (UNION ALL)` in the query plan).
final class CallListing {
  private enum Shape: Hashable {
    case states(Set<CallState>, hasTarget: Bool)
    case label
    case idempotencyKey
  }

  /// Candidates that are read at a time if not all of them may match.
  private static let chunk = 250

  private let connection: SQLiteConnection
  private let matches: CallMatching
  private var prepared: [Shape: SQLiteStatement] = [:]

  /// A listing on a connection; each kind of query is prepared when it is first used.
  ///
  /// - Parameters:
  ///   - redaction: Hides parts of URLs, which are then not found by a search either.
  ///   - attempts: Reads attempts on this connection.
  init(on connection: SQLiteConnection, redaction: Redaction, attempts: AttemptRows) throws(StoreError) {
    self.connection = connection
    matches = try CallMatching(on: connection, redaction: redaction, attempts: attempts)
  }

  /// The ids of the calls that a query selects.
  ///
  /// - Parameter namespace: The number of the query's namespace.
  func ids(_ query: CallQuery, namespace: Int64, targetID: Int64?) throws(StoreError) -> CallPage<CallID> {
    var page = CallPage<CallID>(calls: [], next: nil)
    guard query.limit > 0 else { return page }
    let isIndexed = query.filter.isIndexed
    var before = min(query.before ?? query.filter.endID, query.filter.endID)
    var left = isIndexed ? Int.max : max(1, query.scanLimit)
    let search = query.filter.urlPart.map { TextSearch($0) }
    while true {
      // One row more than requested shows whether there is another page.
      let limit = isIndexed ? query.limit + 1 : min(Self.chunk, left)
      let candidates = try candidates(
        query.filter, before: before, namespace: namespace, targetID: targetID, limit: limit)
      for id in candidates {
        if page.calls.count == query.limit || left <= 0 {
          page.next = before
          return page
        }
        before = id
        if !isIndexed {
          let verdict = try matches(id, query.filter, targetID: targetID, search: search)
          left -= verdict.work
          guard verdict.fits else { continue }
        }
        page.calls.append(id)
      }
      if candidates.count < limit { return page }
      if left <= 0 {
        page.next = before
        return page
      }
    }
  }

  private func candidates(
    _ filter: CallFilter, before: CallID, namespace: Int64, targetID: Int64?, limit: Int
  ) throws(StoreError) -> [CallID] {
    let label = filter.idempotencyKey == nil ? filter.labels.first : nil
    let shape: Shape =
      filter.idempotencyKey != nil
      ? .idempotencyKey : label != nil ? .label : .states(filter.states, hasTarget: targetID != nil)
    let statement = try statement(shape)
    statement.bind(1, Int64(filter.kind.rawValue))
    statement.bind(2, before.rawValue)
    statement.bind(3, Int64(limit))
    statement.bind(4, filter.firstID.rawValue)
    if let key = filter.idempotencyKey {
      statement.bind(5, key: IdempotencyName(key, in: filter.namespace))
    } else if let label {
      statement.bind(5, key: LabelName(label.name, in: filter.namespace))
      statement.bind(6, text: label.value)
    } else {
      statement.bind(6, namespace)
      if let targetID { statement.bind(5, targetID) }
    }
    return try statement.rows { row throws(StoreError) in CallID(rawValue: row.integer(0)) }
  }

  private func statement(_ shape: Shape) throws(StoreError) -> SQLiteStatement {
    if let statement = prepared[shape] { return statement }
    let statement = try connection.prepare("list calls", Self.sql(shape))
    prepared[shape] = statement
    return statement
  }

  private static func sql(_ shape: Shape) -> String {
    if case .idempotencyKey = shape {
      return "SELECT call_id FROM idempotency_keys WHERE key = ?5 AND call_id < ?2 AND call_id >= ?4 "
        + "AND ?1 >= 0 ORDER BY call_id DESC LIMIT ?3"
    }
    guard case .states(let wanted, let hasTarget) = shape else {
      // Only calls of clients have labels, so the kind needs no condition; its parameter is only a placeholder.
      return "SELECT call_id FROM labels WHERE name = ?5 AND value = ?6 AND call_id < ?2 AND call_id >= ?4 "
        + "AND ?1 >= 0 ORDER BY call_id DESC LIMIT ?3"
    }
    let states = StoredState.allCases.filter { wanted.isEmpty || wanted.contains($0.visible) }
    let ranges = states.map { state in
      let range = "SELECT id FROM calls WHERE kind = ?1 AND \(StateColumns.condition(state)) AND id < ?2 AND id >= ?4"
      let isInMemory = state == .held || state == .running
      // A target belongs to one namespace, so that parameter is only a placeholder.
      if hasTarget, !isInMemory { return range + " AND target_id = ?5 AND \(Conditions.notInMemory) AND ?6 >= 0" }
      return range + " AND namespace = ?6" + (hasTarget ? " AND target_id = ?5" : "")
    }
    return ranges.joined(separator: " UNION ALL ") + " ORDER BY id DESC LIMIT ?3"
  }
}
