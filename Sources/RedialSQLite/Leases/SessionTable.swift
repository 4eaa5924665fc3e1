internal import RedialStore
internal import RedialCore
internal import RedialModel

/// The sessions of the instances that share the store, and their shards.
struct SessionTable {
  private let connection: SQLiteConnection
  private let standing: SQLiteStatement
  private let renewal: SQLiteStatement
  private let insertion: SQLiteStatement
  private let instances: SQLiteStatement
  private let removal: SQLiteStatement
  private let expired: SQLiteStatement
  private let count: SQLiteStatement
  private let freeing: SQLiteStatement
  private let owned: SQLiteStatement
  private let give: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    self.connection = connection
    standing = try connection.prepare("see whether the lease stands", "SELECT 1 FROM sessions WHERE id = ?1")
    renewal = try connection.prepare("renew the lease", "UPDATE sessions SET expires_at = ?2 WHERE id = ?1")
    insertion = try connection.prepare(
      "begin a lease", "INSERT INTO sessions (instance, expires_at) VALUES (?1, ?2)")
    // So few that the table is read completely.
    instances = try connection.prepare("find a free instance number", "SELECT instance FROM sessions")
    removal = try connection.prepare("end a lease", "DELETE FROM sessions WHERE id = ?1")
    expired = try connection.prepare("find leases that are over", "SELECT id FROM sessions WHERE expires_at <= ?1")
    count = try connection.prepare("count the instances", "SELECT count(*) FROM sessions")
    freeing = try connection.prepare(
      "free the shards of a lease that ended", "UPDATE leases SET owner = NULL, epoch = epoch + 1 WHERE owner = ?1")
    owned = try connection.prepare("find the shards of a lease", "SELECT shard FROM leases WHERE owner IS ?1")
    give = try connection.prepare(
      "give a shard to somebody else", "UPDATE leases SET owner = ?2, epoch = epoch + 1 WHERE shard = ?1")
  }

  /// Whether a session has not ended.
  func stands(_ session: Int64) throws(StoreError) -> Bool {
    standing.bind(1, session)
    return try standing.first { row throws(StoreError) in row.integer(0) } != nil
  }

  /// Extends a session until then.
  func renew(_ session: Int64, until: Timestamp) throws(StoreError) {
    renewal.bind(1, session)
    renewal.bind(2, until.microseconds)
    try renewal.run()
  }

  /// Begins a session with the lowest free number; without an end if `until` is nil.
  func begin(until: Timestamp?) throws(StoreError) -> LeaseSession {
    let taken = Set(try instances.rows { row throws(StoreError) in Int(row.integer(0)) })
    guard let instance = (0...CallID.maximumInstance).first(where: { !taken.contains($0) }) else {
      throw StoreError(
        kind: .unavailable,
        message: "\(connection.path) is shared by \(taken.count) instances, which is the most there can be. Stop one.")
    }
    insertion.bind(1, Int64(instance))
    insertion.bind(2, until?.microseconds)
    try insertion.run()
    return LeaseSession(id: connection.lastInsertedRow, instance: instance)
  }

  /// Ends a session: its shards have no owner, and it can no longer write.
  func end(_ session: Int64) throws(StoreError) {
    freeing.bind(1, session)
    try freeing.run()
    removal.bind(1, session)
    try removal.run()
  }

  /// Ends the sessions whose time has passed.
  func endExpired(at now: Timestamp) throws(StoreError) {
    expired.bind(1, now.microseconds)
    for session in try expired.rows({ row throws(StoreError) in row.integer(0) }) { try end(session) }
  }

  /// Ends all sessions, and gives every shard to a new one without an end: for a process that has the file for itself.
  func takeAll() throws(StoreError) -> LeaseSession {
    try connection.execute("end the leases of processes that are gone", "DELETE FROM sessions")
    let session = try begin(until: nil)
    try connection.execute(
      "take over every shard", "UPDATE leases SET owner = \(session.id), epoch = epoch + 1")
    // These counts are not updated from now on; they are empty except in a store that was shared.
    try connection.execute("count unfinished calls no longer", "DELETE FROM unfinished_counts")
    return session
  }

  /// The number of sessions.
  func sessions() throws(StoreError) -> Int {
    Int(try count.first { row throws(StoreError) in row.integer(0) } ?? 0)
  }

  /// The shards of a session, or those without an owner.
  func shards(of session: Int64?) throws(StoreError) -> ShardSet {
    owned.bind(1, session)
    return ShardSet(try owned.rows { row throws(StoreError) in Int(row.integer(0)) })
  }

  /// Gives shards to a session, or to none.
  func give(_ shards: ShardSet, to session: Int64?) throws(StoreError) {
    for shard in shards.shards {
      give.bind(1, Int64(shard))
      give.bind(2, session)
      try give.run()
    }
  }
}
