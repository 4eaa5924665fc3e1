internal import RedialStore

/// A change outside of the chain whose outcome is not known. It records itself in the ledger, as its last statement: so
/// it was made if its place is taken, and whoever takes that place first prevents it.
struct DoubtedChange: Sendable {
  /// Its place in the ledger.
  let ledger: Int64
  let number: Int64
  /// The server (``Greeting/server``) and the process to which it was sent.
  let server: Int64
  let process: Int64
  /// What is changed if nobody ever knows whether it was made.
  let remedy: [PostgresStatement]

  /// Only the last place is needed.
  private static let record = PostgresQuery(
    "note_change", "note the change",
    """
    WITH g AS (DELETE FROM commits WHERE session = $1::int8 AND seq < $2::int8)
    INSERT INTO commits (session, seq) VALUES ($1::int8, $2::int8)
    """)
  /// It waits for a transaction that is about to take the place.
  private static let prevent = PostgresQuery(
    "prevent_change", "ask whether the change was made",
    """
    WITH i AS (INSERT INTO commits (session, seq) VALUES ($1::int8, $2::int8) ON CONFLICT (session, seq) DO NOTHING
      RETURNING 1)
    SELECT count(*) FROM i
    """)

  /// The last statement of the change.
  var record: PostgresStatement { statement(Self.record) }

  private func statement(_ query: PostgresQuery) -> PostgresStatement {
    var statement = PostgresStatement(query)
    statement.add(ledger)
    statement.add(number)
    return statement
  }

  /// Whether it was made; if not, it never will be. Asked once: the answer of a second time would always be yes.
  func isMade(on connection: PostgresConnection, within limit: Duration) throws(PostgresFailure) -> Bool {
    try stop(on: connection, within: limit)
    return try connection.run([statement(Self.prevent)], within: limit)[0].integer(0, 0) == 0
  }

  /// Makes sure that it is either made or never will be, and then makes the remedy.
  func end(on connection: PostgresConnection, within limit: Duration) throws(PostgresFailure) {
    try stop(on: connection, within: limit)
    _ = try connection.run([statement(Self.prevent)], within: limit)
    if !remedy.isEmpty { _ = try connection.run(remedy, within: limit) }
  }

  /// Ends the server process: one that waits for a lock does not notice that its client is gone.
  private func stop(on connection: PostgresConnection, within limit: Duration) throws(PostgresFailure) {
    // Another server has other processes with these numbers.
    guard connection.server == server else { return }
    var stop = PostgresStatement(LeaseQueries.stop)
    stop.add(process)
    _ = try connection.run([stop], within: limit)
  }
}
