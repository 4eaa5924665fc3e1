internal import RedialStore
internal import RedialCore
internal import RedialModel
internal import RedialText

/// Finds overdue work. It reads only late calls, and calls in a service's memory.
struct TimelinessQueries {
  /// How late something may be before it is a finding: a service that starts with a full store needs some time.
  static let grace = Duration.seconds(60)
  /// Maximum number of findings that are counted; more are as bad.
  private static let limit: Int64 = 10_000

  private let overdue: SQLiteStatement
  private let inMemory: SQLiteStatement
  private let rows: CallRows

  /// Prepares the queries.
  init(on connection: SQLiteConnection) throws(StoreError) {
    overdue = try connection.prepare(
      "find overdue calls",
      """
      SELECT id FROM calls WHERE namespace IN (SELECT id FROM namespaces) AND \(Conditions.waiting) AND due < ?1 \
      LIMIT \(Self.limit)
      """)
    inMemory = try connection.prepare(
      "find calls that are held",
      """
      SELECT id FROM calls WHERE \(Conditions.anyKind) AND state = \(StateColumns.inMemory) AND due < ?1 \
      LIMIT \(Self.limit)
      """)
    rows = try CallRows(on: connection, bodies: false)
  }

  /// Both findings about time.
  func findings(at now: Timestamp) throws(StoreError) -> [StoreFinding] {
    let late = Timestamp(microseconds: now.microseconds &- Self.grace.wholeMicroseconds)
    var overdueCalls = StoreFinding(check: .overdue)
    for id in try ids(overdue, before: late) { overdueCalls.add("\(id)") }
    var stuck = StoreFinding(check: .stuck)
    for id in try ids(inMemory, before: late) {
      guard case .intact(let call) = try rows.call(id) else { continue }
      let isRunning = call.progress.state == .running
      let end = isRunning ? call.progress.due + call.spec.policy.attemptTimeout : max(call.deadline, call.progress.due)
      let since = TimestampText.format(call.progress.due)
      if end < late { stuck.add("\(id) is \(isRunning ? "running" : "in memory") since \(since)") }
    }
    return [overdueCalls, stuck]
  }

  private func ids(_ statement: SQLiteStatement, before time: Timestamp) throws(StoreError) -> [CallID] {
    statement.bind(1, time.microseconds)
    return try statement.rows { row throws(StoreError) in CallID(rawValue: row.integer(0)) }
  }
}
