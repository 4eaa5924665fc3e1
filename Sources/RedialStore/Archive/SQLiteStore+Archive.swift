internal import RedialCore
internal import RedialModel

extension SQLiteStore {
  /// Puts archived calls, which are not there yet, into the store: all of them or none.
  ///
  /// A call goes on where its turn was its own, unless a call of this store has that turn now: then it waits behind it.
  /// Nobody is given a turn here, for the call that has it may come only later in the archive, as one that was retried
  /// is older than it: ``grantFreeTurns()`` does that when all are there.
  ///
  /// A key that has expired, or that another call was accepted under which keeps it longer, is left out.
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
        try noteSubject(of: call.record)
      }
    }
  }

  /// Of a webhook that came without its call, the call is gone as if retention had removed it.
  private func noteSubject(of call: CallRecord) throws(StoreError) {
    guard call.kind == .webhook, !call.progress.state.isFinal, let subject = WebhookSubject.id(in: call.body) else {
      return
    }
    if try !contains(subject) { try noteGone(by: call.createdAt) }
  }

  private func isOutdated(_ key: KeyRecord, at now: Timestamp) throws(StoreError) -> Bool {
    guard key.expiresAt > now else { return true }
    guard let known = try find(key: key.key.text, at: now) else { return false }
    return known.call != key.call && known.expiresAt >= key.expiresAt
  }

  /// Gives each turn that nobody has to the oldest call that awaits it.
  func grantFreeTurns() throws(StoreError) {
    try transaction { () throws(StoreError) in try turns.grantFree() }
  }
}
