internal import RedialStore
internal import RedialCore
internal import RedialModel

extension SQLiteStore {
  /// Puts archived calls that are missing into the store: all of them or none.
  ///
  /// A call continues if it had the turn, unless a call of this store has that turn now: then it waits behind that
  /// call. No turn is given here, because the call that has it may come only later in the archive, such as a retried
  /// call, which is older: ``grantFreeTurns()`` gives turns when all calls are there.
  ///
  /// A key is left out if it has expired, or if another call was accepted under it and keeps it longer.
  func insert(_ calls: [ArchivedCall], at now: Timestamp) throws(StoreError) {
    if calls.isEmpty { return }
    try transaction { () throws(StoreError) in
      for archived in calls {
        var call = archived
        if let key = call.orderingKey {
          let targetID = try targets.intern(call.record.spec.target)
          var hasTurn = call.goesOn
          if hasTurn { hasTurn = try turns.holder(targetID: targetID, key: key) == nil }
          if !hasTurn { call.awaitTurn() }
          try turns.add(
            call.record.id, targetID: targetID, namespace: try namespaces.intern(call.record.spec.namespace), key: key,
            hasTurn: hasTurn)
        }
        if let key = call.key, try isOutdated(key, at: now) { call.key = nil }
        for write in call.writes { try apply(write) }
        try recordMissingSubject(of: call.record)
      }
    }
  }

  /// If a webhook arrives without its call, the call counts as removed by retention.
  private func recordMissingSubject(of call: CallRecord) throws(StoreError) {
    guard call.kind == .webhook, !call.progress.state.isFinal, let subject = WebhookSubject.id(in: call.body) else {
      return
    }
    if try !calls.contains(subject) { try eviction.recordGone(by: call.createdAt) }
  }

  private func isOutdated(_ key: KeyRecord, at now: Timestamp) throws(StoreError) -> Bool {
    guard key.expiresAt > now else { return true }
    guard let known = try calls.find(key.key.name, at: now) else { return false }
    return known.call != key.call && known.expiresAt >= key.expiresAt
  }

  /// Gives each free turn to the oldest call that waits for it.
  func grantFreeTurns() throws(StoreError) {
    try transaction { () throws(StoreError) in try turns.grantFree() }
  }
}
