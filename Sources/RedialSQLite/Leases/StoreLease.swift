internal import RedialStore
internal import RedialCore
internal import RedialModel

/// This process's share of a store: the session that every transaction checks, and the shards under its lease.
final class StoreLease {
  /// Whether several instances have leases.
  let isShared: Bool
  private let path: String
  private let sessions: SessionTable
  /// Nil before this process joins the others, and after it has left them.
  private(set) var session: LeaseSession?

  /// Prepares the statements.
  init(on connection: SQLiteConnection, isShared: Bool) throws(StoreError) {
    self.isShared = isShared
    path = connection.path
    sessions = try SessionTable(on: connection)
  }

  /// What a renewal changes.
  struct Renewal {
    /// The session, new or renewed.
    let session: LeaseSession
    /// The shards that it keeps.
    let kept: ShardSet
    /// Those that it gives back.
    let back: ShardSet
    /// Those without an owner that it gets, and an even share of all.
    let division: ShardDivision
  }

  // MARK: Within a transaction

  /// Throws if other instances have taken over this session's shards: one look-up by key in each transaction.
  func check() throws(StoreError) {
    guard let session, try sessions.stands(session.id) else { throw lost() }
  }

  /// Whether a target is in a shard of this process.
  func owns(_ target: TargetKey) throws(StoreError) -> Bool {
    guard isShared, let session else { return true }
    return try sessions.shards(of: session.id).contains(target: target)
  }

  /// The shards of this process.
  func shards() throws(StoreError) -> ShardSet {
    guard let session else { return .none }
    return try sessions.shards(of: session.id)
  }

  /// Ends all sessions and takes every shard, if this process has the store for itself.
  func takeAll() throws(StoreError) -> LeaseSession? {
    isShared ? nil : try sessions.takeAll()
  }

  /// Ends sessions whose time is over; renews the session of this process, or begins one; and divides the shards.
  ///
  /// - Parameter id: The session to renew; nil for a new one, which ends the one before.
  /// - Throws: `leaseLost` if the session has ended.
  func renew(_ id: Int64?, _ request: LeaseRequest, at now: Timestamp) throws(StoreError) -> Renewal {
    try sessions.endExpired(at: now)
    let own = try renewed(id, until: now + request.duration)
    let shards = try sessions.shards(of: own.id)
    let back = shards.intersection(request.giveBack)
    let free = try sessions.shards(of: nil)
    try sessions.give(back, to: nil)
    let kept = shards.subtracting(back)
    let division = ShardDivision(
      among: try sessions.sessions(), owned: kept.size, free: free, takesShards: request.takesShards)
    try sessions.give(division.gained, to: own.id)
    return Renewal(session: own, kept: kept, back: back, division: division)
  }

  private func renewed(_ id: Int64?, until: Timestamp) throws(StoreError) -> LeaseSession {
    if let id {
      guard let session, session.id == id, try sessions.stands(id) else { throw lost() }
      try sessions.renew(id, until: until)
      return session
    }
    // An instance that requests a new lease does not know its earlier one.
    if let session { try sessions.end(session.id) }
    return try sessions.begin(until: until)
  }

  /// Ends the session of this process.
  func end() throws(StoreError) {
    if let session { try sessions.end(session.id) }
  }

  // MARK: After a commit

  /// The session is on disk.
  func didJoin(_ session: LeaseSession?) {
    self.session = session
  }

  /// The end of the session is on disk.
  func didResign() {
    session = nil
  }

  private func lost() -> StoreError {
    StoreError(
      kind: .leaseLost,
      message: "The lease on \(path) has ended, and another process may have taken it. Nothing was written. "
        + "An instance that shares the store joins again by itself. One that was alone on it found the file in use by "
        + "another process: stop one of the two.")
  }
}
