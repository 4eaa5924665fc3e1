internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Finds overdue work. It reads only late calls, and calls in a service's memory.
struct TimelinessQueries {
  private let overdue: SQLiteStatement
  private let inMemory: SQLiteStatement
  private let rows: CallRows
  private let settings: SettingTable

  /// Prepares the queries.
  init(on connection: SQLiteConnection) throws(StoreError) {
    overdue = try connection.prepare(
      "find overdue calls",
      """
      SELECT id FROM calls WHERE namespace IN (SELECT id FROM namespaces) AND \(Conditions.waiting) AND due < ?1 \
      LIMIT \(Lateness.most)
      """)
    inMemory = try connection.prepare(
      "find calls that are held",
      """
      SELECT id FROM calls WHERE \(Conditions.anyKind) AND state = \(StateColumns.inMemory) AND due < ?1 \
      LIMIT \(Lateness.most)
      """)
    rows = try CallRows(on: connection, bodies: false)
    settings = try SettingTable(on: connection)
  }

  /// What is late.
  ///
  /// - Parameter logged: What the log has, if the tables may lack something.
  func late(at now: Timestamp, _ logged: LoggedCalls = LoggedCalls()) throws(StoreError) -> LateCalls {
    let lateness = Lateness(at: now, by: try settings.value(of: ServiceTime.setting).flatMap(ServiceTime.init))
    let overdueCalls = try ids(overdue, before: lateness.limit)
    let isInMemory = { (call: LoggedCalls.Call) in !call.progress.state.isFinal && call.progress.due < lateness.limit }
    var held: [CallRecord] = []
    for id in logged.page(after: .min, try ids(inMemory, before: lateness.limit), isLast: true, isInMemory) {
      if case .intact(let call) = try logged.find(id, in: rows) { held.append(call) }
    }
    return lateness.calls(overdue: overdueCalls, inMemory: held)
  }

  private func ids(_ statement: SQLiteStatement, before time: Timestamp) throws(StoreError) -> [CallID] {
    statement.bind(1, time.microseconds)
    return try statement.rows { row throws(StoreError) in CallID(rawValue: row.integer(0)) }
  }
}
