/// Short snapshots of a database: transactions that only read, each as of one moment. Dead rows that a snapshot could still
/// see cannot be removed, so none is held for more than seconds, unless all has to be of one moment.
final class Snapshots {
  private let connection: PostgresConnection
  /// How long a statement may take. The server ends it then.
  let longest: Duration

  private static let cancelled = "57014"
  /// How much longer than the statements the answers may take.
  private static let patience = Duration.seconds(60)

  /// Whether all are one, which ends with the connection.
  private let isOne: Bool
  private var isBegun = false

  init(_ connection: PostgresConnection, longest: Duration, isOne: Bool = false) {
    (self.connection, self.longest, self.isOne) = (connection, longest, isOne)
  }

  /// All of them are a transaction that has begun.
  init(within connection: PostgresConnection, longest: Duration) {
    (self.connection, self.longest, isOne, isBegun) = (connection, longest, true, true)
  }

  /// Whether a failure says that a statement took too long.
  static func isTimeout(_ failure: PostgresFailure) -> Bool { failure.state == cancelled }

  /// Calls a closure with what makes statements in one snapshot.
  func take<Result>(
    _ body: ((([PostgresStatement]) throws(PostgresFailure) -> [PostgresRows])) throws(PostgresFailure) -> Result
  ) throws(PostgresFailure) -> Result {
    let limit = longest + Self.patience
    if !isBegun { try begin(within: limit) }
    isBegun = isOne
    do throws(PostgresFailure) {
      let result = try body { statements throws(PostgresFailure) in try connection.run(statements, within: limit) }
      if !isOne { try connection.execute(["COMMIT"], purpose: "end a snapshot", within: limit) }
      return result
    } catch {
      if !error.isLost { try connection.execute(["ROLLBACK"], purpose: "end a snapshot", within: limit) }
      isBegun = false
      throw error
    }
  }

  private func begin(within limit: Duration) throws(PostgresFailure) {
    let milliseconds = max(1, longest / .milliseconds(1))
    try connection.execute(
      [
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "SET LOCAL idle_in_transaction_session_timeout = 0",
        "SET LOCAL statement_timeout = \(Int(milliseconds))",
        // Other than the service's statements, these read whole tables, and ranges whose size the server should look at.
        "SET LOCAL enable_seqscan = on", "SET LOCAL enable_mergejoin = on",
        "SET LOCAL plan_cache_mode = force_custom_plan",
      ], purpose: "begin a snapshot", within: limit)
  }

  /// The rows of statements in a snapshot of their own.
  func rows(_ statements: [PostgresStatement]) throws(PostgresFailure) -> [PostgresRows] {
    try take { run throws(PostgresFailure) in try run(statements) }
  }
}
