public import RedialCore
public import RedialModel

/// Who uses a store.
public enum StoreSharing: Sendable, Hashable {
  /// One process has the file for itself, which the lock beside it proves: it has every shard while the file is open,
  /// and takes over all calls of the previous process at once.
  case alone
  /// Several instances have leases on its shards.
  case shared
}

extension SQLiteStore {
  /// Joins the instances that share the store, or renews the lease; gives back shards and gets new ones.
  public func lease(
    _ request: LeaseRequest, renewing session: Int64?, at now: Timestamp
  ) throws(StoreError) -> LeaseGrant {
    guard let shardQueries, let unfinished else {
      throw StoreError(
        kind: .unavailable, message: "\(connection.path) is not shared: nobody else can have a lease on it.")
    }
    // Without the check of the session: an instance without a session gets one here.
    var joined: LeaseSession?
    let grant = try recovering { damaged throws(StoreError) in
      try unfinished.begin()
      try sessions.endExpired(at: now)
      let until = now + request.duration
      let own: LeaseSession
      if let session, let current = self.session, current.id == session {
        guard try sessions.stands(session) else { throw leaseLost() }
        try sessions.renew(session, until: until)
        own = current
      } else {
        guard session == nil else { throw leaseLost() }
        // An instance that requests a new lease does not know its earlier one.
        if let old = self.session { try sessions.end(old.id) }
        own = try sessions.begin(until: until)
      }
      joined = own
      var shards = try sessions.shards(of: own.id)
      let back = shards.intersection(request.giveBack)
      try shardQueries.releaseHeld(in: back)
      let free = try sessions.shards(of: nil)
      try sessions.give(back, to: nil)
      shards = shards.subtracting(back)
      let count = try sessions.sessions()
      let share = (ShardSet.count + count - 1) / count
      let missing = request.takesShards ? max(0, share - shards.size) : 0
      let gained = ShardSet(free.shards.prefix(missing))
      try sessions.give(gained, to: own.id)
      try shardQueries.releaseHeld(in: gained)
      if !gained.isEmpty { try turns.grantFree() }
      // Before damaged calls are ended: those are reported to the counters separately.
      let counts = try unfinished.counts(of: own.id)
      let running = try take(try shardQueries.running(in: gained), at: now, &damaged) { _ in }
      let state = RecoveredState(
        running: running, nextDue: try shardQueries.due.next(of: own.id),
        queued: try shardQueries.queueLengths(in: gained),
        breakers: try targets.breakers().filter { gained.contains(target: $0.target) },
        controls: try targets.controls().filter { gained.contains(target: $0.target) },
        unfinished: counts.reduce(0) { $0 + $1.own }, namespaces: counts.map { ($0.namespace, $0.own) },
        lastID: try queries.lastID())
      return LeaseGrant(
        session: own, shards: shards.union(gained), gained: gained, share: share, state: state,
        elsewhere: counts.map { ($0.namespace, $0.elsewhere) })
    }
    self.session = joined
    return grant
  }

  /// Gives back the session and all shards. Only without attempts in flight.
  public func leave() throws(StoreError) {
    guard let session else { return }
    try transaction { () throws(StoreError) in
      let own = try sessions.shards(of: session.id)
      let running = if let shardQueries { try shardQueries.running(in: own) } else { try queries.allRunning() }
      // The next owner must see that these calls were in memory.
      guard running.isEmpty else { return }
      if let shardQueries { try shardQueries.releaseHeld(in: own) } else { try changes.releaseAllHeld() }
      try sessions.end(session.id)
    }
    self.session = nil
  }

  /// Two instances may look up a key at the same time and find nothing; one of them commits first. Finds all such keys
  /// at once, so that the other need not retry for each of them.
  func checkKeys(_ writes: [StoreWrite]) throws(StoreError) {
    var taken: [TakenKey] = []
    for case .key(let record) in writes {
      guard let found = try keys.find(record.key.name, at: record.createdAt), found.call != record.call else {
        continue
      }
      taken.append(TakenKey(submitted: record, earlier: found))
    }
    guard let first = taken.first else { return }
    var error = StoreError(
      kind: .keyTaken,
      message: "Could not accept \(first.submitted.call) in \(connection.path): \(first.earlier.call) was just "
        + "accepted under its key. Neither it nor the rest of its transaction was written.")
    error.taken = taken
    throw error
  }

  /// Whether a call is in the memory of another instance, or was.
  func isElsewhere(_ id: CallID) throws(StoreError) -> Bool {
    guard let call = try read(id), case .intact(let record) = call, try !isOwn(record.spec.target) else { return false }
    return record.progress.state != .scheduled && record.progress.state != .queued
  }

  /// Throws if other instances have taken over this session's shards: one look-up by key in each transaction.
  func checkLease() throws(StoreError) {
    guard let session, try sessions.stands(session.id) else { throw leaseLost() }
  }

  private func leaseLost() -> StoreError {
    StoreError(
      kind: .leaseLost,
      message: "The lease on \(connection.path) has ended, and another process may have taken it. Nothing was written. "
        + "An instance that shares the store joins again by itself. One that was alone on it found the file in use by "
        + "another process: stop one of the two.")
  }
}
