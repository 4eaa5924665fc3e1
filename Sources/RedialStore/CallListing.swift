internal import RedialModel

/// Finds the calls of a list, newest first, at a cost of the rows answered and not of those stored.
///
/// Each state is a range of an index that is ordered by age. The ranges are merged by SQLite, which reads of each no
/// more than it needs (`MERGE (UNION ALL)` in the query plan).
final class CallListing {
  private struct Shape: Hashable {
    var state: CallState?
    var hasTarget: Bool
  }

  private let connection: SQLiteConnection
  private var prepared: [Shape: SQLiteStatement] = [:]

  /// A listing on a connection; each kind of query is prepared when it is first asked for.
  init(on connection: SQLiteConnection) {
    self.connection = connection
  }

  /// The identities of the calls that a query asks for.
  func ids(_ query: CallQuery, targetID: Int64?) throws(StoreError) -> [CallID] {
    let statement = try statement(Shape(state: query.state, hasTarget: targetID != nil))
    statement.bind(1, Int64(query.kind.rawValue))
    statement.bind(2, query.before?.rawValue ?? Int64.max)
    statement.bind(3, Int64(max(0, query.limit)))
    if let targetID { statement.bind(4, targetID) }
    return try statement.rows { row throws(StoreError) in CallID(rawValue: row.integer(0)) }
  }

  private func statement(_ shape: Shape) throws(StoreError) -> SQLiteStatement {
    if let statement = prepared[shape] { return statement }
    let statement = try connection.prepare("list calls", Self.sql(shape))
    prepared[shape] = statement
    return statement
  }

  private static func sql(_ shape: Shape) -> String {
    let states = StoredState.allCases.filter { shape.state == nil || $0.visible == shape.state }
    let ranges = states.map { state in
      var range = "SELECT id FROM calls WHERE kind = ?1 AND state = \(state.rawValue) AND id < ?2"
      if shape.hasTarget {
        range += " AND target_id = ?4"
        let isInMemory = state == .held || state == .running
        if !isInMemory { range += " AND \(Conditions.notInMemory)" }
      }
      return range
    }
    return ranges.joined(separator: " UNION ALL ") + " ORDER BY id DESC LIMIT ?3"
  }
}
