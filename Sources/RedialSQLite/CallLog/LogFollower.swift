internal import RedialModel
internal import RedialStore

/// The log of a file that another process may be writing, read with the tables in one transaction.
final class LogFollower {
  private let connection: SQLiteConnection
  private let table: LogTable
  private let version: SQLiteStatement
  private let isLenient: Bool
  private let everyPage: Bool
  private var seen: Int64?
  private var logged = LoggedCalls()
  /// What of the log cannot be read, as clauses; only of a lenient one.
  private(set) var damage: [String] = []

  /// Prepares the statements.
  ///
  /// - Parameters:
  ///   - isLenient: Whether it reads what can be read of a damaged log.
  ///   - everyPage: Whether it then looks for rows in every page of the file, which has no write-ahead log.
  init(on connection: SQLiteConnection, isLenient: Bool = false, everyPage: Bool = false) throws(StoreError) {
    self.everyPage = everyPage
    self.connection = connection
    self.isLenient = isLenient
    table = try LogTable(on: connection)
    version = try connection.prepare("see whether the store has changed", "PRAGMA data_version")
  }

  /// What the log has. Within a transaction, which must have read something before.
  func read() throws(StoreError) -> LoggedCalls {
    let now = try version.first { row throws(StoreError) in row.integer(0) }
    if now == nil || now != seen {
      if isLenient { (logged, damage) = try table.readable(everyPage: everyPage) } else { logged = try table.load() }
      seen = now
    }
    return logged
  }
}

extension LoggedCalls {
  /// The calls of a page by id: those that were found in the tables, unless they are logged, and those that are logged.
  ///
  /// - Parameters:
  ///   - last: The page begins after this id.
  ///   - isLast: Whether the tables have no more.
  ///   - isWanted: Whether a logged call is one of those that were looked for.
  func page(
    after last: Int64, _ found: [CallID], isLast: Bool, _ isWanted: (Call) -> Bool = { _ in true }
  ) -> [CallID] {
    if calls.isEmpty { return found }
    let end = isLast ? Int64.max : found.last?.rawValue ?? last
    let added = calls.filter { $0.key.rawValue > last && $0.key.rawValue <= end && isWanted($0.value) }.map(\.key)
    return (found.filter { calls[$0] == nil } + added).sorted()
  }
}

extension LoggedCalls {
  /// A call with its attempts, from the tables and from here; nil for the call if neither has it.
  ///
  /// - Parameter hasLost: Whether rows of the log are lost. Then it may lack that a call is in the tables, which may know
  ///   more of it.
  func read(
    _ id: CallID, _ rows: CallRows, _ stored: AttemptRows, hasLost: Bool = false
  ) throws(StoreError) -> (call: Result<CallRecord, DamagedCall>?, attempts: Result<[AttemptRecord], DamagedCall>) {
    var logged = calls[id]
    if hasLost, let known = logged, known.new != nil, case .intact(let stored)? = try rows.call(id),
      stored.progress.state.isFinal || stored.progress.attempts >= known.progress.attempts
    {
      logged = nil
    }
    guard let logged else {
      return (try rows.call(id)?.result, try stored.attempts(of: id, responses: .all))
    }
    let call = try find(id, in: rows)?.result
    let before = try logged.new == nil ? stored.attempts(of: id, responses: .all) : .success([])
    guard case .success(let attempts) = before else { return (call, before) }
    do throws(AttemptDamage) {
      return (call, .success(try logged.attempts(of: id, after: attempts, .all, rows.vault)))
    } catch {
      return (call, .failure(error.of(id)))
    }
  }
}
