internal import RedialStore
package import RedialCore
package import RedialModel

extension SQLiteStore {
  /// Joins the instances that share the store, or renews the lease; gives back shards and gets new ones.
  package func lease(
    _ request: LeaseRequest, renewing session: Int64?
  ) throws(StoreError) -> LeaseGrant {
    let now = clock()
    guard leases.isShared else {
      throw StoreError(kind: .unavailable, message: "\(file.path) is not shared: nobody else can have a lease on it.")
    }
    // Without the check of the session: an instance without a session gets one here.
    let grant = try recovering { damaged throws(StoreError) in
      try counts.beginSharing()
      let renewal = try leases.renew(session, request, at: now)
      let (own, gained) = (renewal.session, renewal.division.gained)
      _ = try search.releaseHeld(in: renewal.back.union(gained))
      // Others may have stored calls here, and they give no turns.
      try turns.grantFree(in: own.id)
      // Before damaged calls are ended: those are reported to the counters separately.
      let unfinished = try counts.unfinished(of: own.id)
      let running = try take(try search.running(in: gained), at: now, &damaged) { _ in }
      let state = RecoveredState(
        running: running, nextDue: try search.nextDue(of: own.id),
        queued: try search.queueLengths(in: gained),
        targets: try targets.records(at: now) { notices.post(.targetDamaged($0, $1)) }.filter {
          gained.contains(target: $0.target)
        },
        unfinished: unfinished.reduce(0) { $0 + $1.own }, namespaces: unfinished.map { ($0.namespace, $0.own) },
        lastID: try search.lastID())
      return LeaseGrant(
        session: own, shards: renewal.kept.union(gained), gained: gained, share: renewal.division.share, state: state,
        elsewhere: unfinished.map { ($0.namespace, $0.elsewhere) })
    }
    leases.didJoin(grant.session)
    return grant
  }

  /// Gives back the session and all shards. Only without attempts in flight.
  package func resign(at now: Timestamp) throws(StoreError) {
    guard leases.session != nil else { return }
    try transaction { () throws(StoreError) in
      try time.end(at: now)
      try log?.empty(into: calls)
      let own = try leases.shards()
      // The next owner must see that these calls were in memory.
      guard try search.running(in: own).isEmpty else { return }
      if try !search.releaseHeld(in: own) { try calls.releaseAllHeld() }
      try leases.end()
    }
    leases.didResign()
  }

  /// Refuses a commit if another instance has just accepted calls under some of its keys.
  func checkKeys(_ writes: [StoreWrite]) throws(StoreError) {
    let taken = try calls.taken(writes)
    guard let first = taken.first else { return }
    var error = StoreError(
      kind: .keyTaken,
      message: "Could not accept \(first.submitted.call) in \(file.path): \(first.earlier.call) was just "
        + "accepted under its key. Neither it nor the rest of its transaction was written.")
    error.taken = taken
    throw error
  }

  /// Whether a call is in a shard of this instance.
  func isOwn(_ id: CallID) throws(StoreError) -> Bool {
    guard leases.isShared, case .intact(let record)? = try calls.read(id) else { return true }
    return try leases.owns(record.spec.target)
  }

  /// Whether a call is in the memory of another instance, or was.
  func isElsewhere(_ id: CallID) throws(StoreError) -> Bool {
    guard let call = try calls.read(id), case .intact(let record) = call, try !leases.owns(record.spec.target) else {
      return false
    }
    return record.progress.state != .scheduled && record.progress.state != .queued
  }
}
