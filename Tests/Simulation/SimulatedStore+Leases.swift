internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// The leases on a simulated store, as in `SQLiteStore`; unlike it, it checks each write.
extension SimulatedStore {
  /// A session of an instance.
  struct Session {
    var lease: LeaseSession
    var expiresAt: Timestamp
    /// The last of its connections.
    var connection = 0
    /// Whether a commit has its row locked: nobody can end it, and no further connection can begin, until that is over.
    var isLocked = false
  }

  // MARK: The ledger

  /// A session has begun, by a job with this number.
  mutating func begin(_ session: Int64, by sequence: Int64) {
    ledger[session] = sequence
  }

  /// The number of the last change that a session has made.
  func lastChange(of session: Int64?) -> Int64 { session.flatMap { ledger[$0] } ?? 0 }

  /// Whether the change before a job was made, and nothing behind it.
  func isNext(_ job: StorePipeline.Job, of session: Int64?) -> Bool { lastChange(of: session) == job.sequence - 1 }

  /// A job was made.
  mutating func made(_ job: StorePipeline.Job, of session: Int64?) {
    if let session, job.isChange { ledger[session] = max(job.sequence, lastChange(of: session)) }
  }

  // MARK: Leases

  /// Whether a session may still write; one that has the store for itself always may.
  func stands(_ session: Int64?) -> Bool { session.map { sessions[$0] != nil } ?? true }

  /// Whether a target belongs to a session.
  func owns(_ target: TargetKey, _ session: Int64?) -> Bool {
    guard let session else { return true }
    return owners[ShardSet.shard(of: target)] == session
  }

  /// The session that owns a target.
  func owner(of target: TargetKey) -> Int64? { owners[ShardSet.shard(of: target)] }

  /// Begins or renews a session; nil if the one to renew has ended.
  mutating func lease(
    _ request: LeaseRequest, renewing: Int64?, instead old: Int64?, at now: Timestamp
  ) throws(Nonsense) -> LeaseGrant? {
    // The server may not know the last renewals, gains and returns: until every lease from before the failover is
    // over, no session is ended and no shard is given to anybody.
    if lastServer != server { (lastServer, quietUntil) = (server, now + request.duration) }
    let isQuiet = now < quietUntil
    for (id, session) in sessions where session.expiresAt <= now && !isQuiet && !session.isLocked { end(id) }
    var session: Int64
    if let renewing {
      guard sessions[renewing] != nil else { return nil }
      session = renewing
      sessions[session]?.expiresAt = now + request.duration
    } else {
      if let old { end(old) }
      lastSession += 1
      session = lastSession
      let taken = Set(sessions.values.map(\.lease.instance))
      let instance = (0...CallID.maximumInstance).first { !taken.contains($0) } ?? 0
      sessions[session] = Session(
        lease: LeaseSession(id: session, instance: instance), expiresAt: now + request.duration)
    }
    let free = owners.indices.filter { owners[$0] == nil }
    let back = request.giveBack.shards.filter { owners[$0] == session }
    releaseHeld(in: ShardSet(back))
    for shard in back { owners[shard] = nil }
    let own = owners.count { $0 == session }
    let share = (ShardSet.count + sessions.count - 1) / sessions.count
    let gained = ShardSet(free.prefix(request.takesShards && !isQuiet ? max(0, share - own) : 0))
    for shard in gained.shards { owners[shard] = session }
    try giveFreeTurns(by: session)
    let state = recover(gained, for: session)
    let shards = ShardSet(owners.indices.filter { owners[$0] == session })
    var elsewhere: [Namespace: Int] = [:]
    for row in rows.values where !row.record.progress.state.isFinal && !owns(row.record.spec.target, session) {
      elsewhere[row.record.spec.namespace, default: 0] += 1
    }
    return sessions[session].map {
      LeaseGrant(
        session: $0.lease, shards: shards, gained: gained, share: share, state: state,
        elsewhere: elsewhere.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }
  }

  /// The store after a failover: a copy that another server has of an earlier state, or of this one.
  func failedOver(to copy: SimulatedStore) -> SimulatedStore {
    var copy = copy
    copy.server = server + 1
    // The numbers of sessions are not data either: they are never given again.
    copy.lastSession = lastSession
    // A commit that had begun ends with its server.
    for id in copy.sessions.keys { copy.sessions[id]?.isLocked = false }
    return copy
  }

  /// Ends a session: its shards have no owner.
  mutating func end(_ session: Int64) {
    sessions[session] = nil
    for shard in owners.indices where owners[shard] == session { owners[shard] = nil }
  }

  /// The keys under which other instances have accepted calls first.
  func taken(_ writes: [StoreWrite]) -> [TakenKey] {
    writes.compactMap { write in
      guard case .key(let record) = write, let found = keys[record.key.name] else { return nil }
      guard found.call != record.call, found.expiresAt > record.createdAt else { return nil }
      return TakenKey(submitted: record, earlier: found)
    }
  }

  /// The calls that another instance has stored first.
  func stored(_ writes: [StoreWrite], by session: Int64?) -> StoredFirst {
    var stored = StoredFirst()
    for case .insert(let record) in writes where record.mayBeStored && owns(record.spec.target, session) {
      guard let row = rows[record.id] else { continue }
      let hasBegun = row.record.progress.attempts > 0 || row.record.progress.state.isFinal
      if hasBegun { stored.begun.append(record.id) } else { stored.waiting.append(record.id) }
    }
    return stored
  }

  /// Only the owner of a target may change its calls.
  func check(_ write: StoreWrite, by session: Int64?) throws(Nonsense) {
    guard let session else { return }
    let target: TargetKey?
    switch write {
    case .update(let id, _, _), .passTurn(let id), .retried(let id, _), .erase(let id, _):
      target = rows[id]?.record.spec.target
    case .target(let key, _): target = key
    case .put(let document): target = TargetKey(qualified: document.id)
    case .remove(_, let id): target = TargetKey(qualified: id)
    // Any instance may put a call into the store; calls that others have started stay unchanged.
    case .insert, .key, .discard, .awaitTurn, .add, .tallied: return
    }
    if let target, owner(of: target) != session {
      throw Nonsense(message: "\(write.summary): written by session \(session), and \(target) is not its own")
    }
  }
}
