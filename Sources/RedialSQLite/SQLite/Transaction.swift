internal import RedialStore
internal import RedialModel

/// The statements that begin and end a connection's transactions.
struct Transaction {
  private let connection: SQLiteConnection
  /// Nil in a transaction that goes on.
  private let begin: SQLiteStatement?
  private let commit: SQLiteStatement?

  /// Prepares the statements: a writer takes the write lock at the beginning, so that it never has to start over
  /// halfway.
  init(on connection: SQLiteConnection, role: SQLiteConnection.Role) throws(StoreError) {
    self.connection = connection
    begin = try connection.prepare("begin a transaction", role == .reader ? "BEGIN" : "BEGIN IMMEDIATE")
    commit = try connection.prepare("commit a transaction", "COMMIT")
  }

  /// Parts of a transaction that has begun, and that goes on behind each of them.
  init(within connection: SQLiteConnection) {
    (self.connection, begin, commit) = (connection, nil, nil)
  }

  /// Runs `body` and keeps all of its changes, or none if it or the commit fails.
  func callAsFunction<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    guard let begin, let commit else { return try body() }
    // A rollback may itself have failed; a transaction that it left open must not contain the next one.
    connection.rollBack()
    guard !connection.isInTransaction else {
      throw StoreError(
        kind: .unavailable,
        message: "Could not begin a transaction in \(connection.path): the last one failed and cannot be undone. "
          + "Restart Redial; nothing that was acknowledged is lost.")
    }
    try begin.run()
    do {
      let result = try body()
      try commit.run()
      return result
    } catch {
      connection.rollBack()
      throw error
    }
  }
}
