internal import RedialStore
internal import RedialModel

/// This process's lease on the whole store: a session, which every transaction checks. If the lock beside the file fails, such
/// as on a file system of a network, another process takes the session away, and this one writes nothing any more.
final class StoreLease {
  private let connection: SQLiteConnection
  private let standing: SQLiteStatement
  private let insertion: SQLiteStatement
  private let removal: SQLiteStatement
  private let freeing: SQLiteStatement
  /// Nil before this process has taken the store, and after it has left it.
  private(set) var session: Int64?

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    self.connection = connection
    standing = try connection.prepare("see whether the lease stands", "SELECT 1 FROM sessions WHERE id = ?1")
    insertion = try connection.prepare(
      "begin a lease", "INSERT INTO sessions (instance, expires_at) VALUES (0, NULL)")
    removal = try connection.prepare("end a lease", "DELETE FROM sessions WHERE id = ?1")
    freeing = try connection.prepare(
      "free the shards of a lease that ended", "UPDATE leases SET owner = NULL, epoch = epoch + 1 WHERE owner = ?1")
  }

  // MARK: Within a transaction

  /// Throws if another process has taken over: one look-up by key in each transaction.
  func check() throws(StoreError) {
    guard let session, try stands(session) else {
      throw StoreError(
        kind: .leaseLost,
        message:
          "The lease on \(connection.path) has ended, and another process may have taken it. Nothing was written. "
          + "Two processes use the file: stop one of the two.")
    }
  }

  private func stands(_ session: Int64) throws(StoreError) -> Bool {
    standing.bind(1, session)
    return try standing.first { row throws(StoreError) in row.integer(0) } != nil
  }

  /// Ends all sessions, and gives every shard to a new one without an end.
  func takeAll() throws(StoreError) -> Int64 {
    try connection.execute("end the leases of processes that are gone", "DELETE FROM sessions")
    try insertion.run()
    let session = connection.lastInsertedRow
    try connection.execute("take over every shard", "UPDATE leases SET owner = \(session), epoch = epoch + 1")
    return session
  }

  /// Ends the session: its shards have no owner, and it can no longer write.
  func end() throws(StoreError) {
    guard let session else { return }
    freeing.bind(1, session)
    try freeing.run()
    removal.bind(1, session)
    try removal.run()
  }

  // MARK: After a commit

  /// The session is on disk.
  func didJoin(_ session: Int64) {
    self.session = session
  }

  /// The end of the session is on disk.
  func didResign() {
    session = nil
  }
}
