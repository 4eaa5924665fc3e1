public import RedialStore
public import RedialModel

extension SQLiteStore {
  /// Makes all of the changes, in order, or none of them.
  public func commit(_ writes: [StoreWrite]) throws(StoreError) {
    if writes.isEmpty { return }
    try transaction { () throws(StoreError) in
      if leases.isShared { try checkKeys(writes) }
      guard calls.batching.allows(writes) else {
        for write in writes { try apply(write) }
        return
      }
      try applyInBatches(writes)
    }
  }

  /// Makes changes that allow it, grouped by kind.
  private func applyInBatches(_ writes: [StoreWrite]) throws(StoreError) {
    var (new, attempts): ([CallChanges.NewCall], [(id: CallID, attempt: AttemptRecord)]) = ([], [])
    for case .insert(let call) in writes {
      if let call = try prepared(call) { new.append(call) }
    }
    try calls.insert(new)
    for write in writes {
      switch write {
      case .insert: break
      case .update(let id, let progress, let attempt?) where calls.batching.canWait(attempt):
        try calls.update(id, progress)
        attempts.append((id, attempt))
      default: try apply(write)
      }
    }
    try calls.insert(attempts)
  }

  /// Prepares a call to insert; nil if another instance already has it.
  private func prepared(_ call: CallRecord) throws(StoreError) -> CallChanges.NewCall? {
    // An instance whose commit was reported as failed writes the call again, but its owner already has it.
    if leases.isShared, try !leases.owns(call.spec.target), try calls.contains(call.id) { return nil }
    return CallChanges.NewCall(
      call: call, targetID: try targets.intern(call.spec.target),
      namespace: try namespaces.intern(call.spec.namespace))
  }

  /// Makes a change, within a transaction.
  func apply(_ write: StoreWrite) throws(StoreError) {
    switch write {
    case .insert(let call):
      try calls.insert(try prepared(call).map { [$0] } ?? [])
    case .update(let id, let progress, let attempt):
      try calls.update(id, progress)
      if let attempt { try calls.insert(attempt, of: id) }
    case .key(let record):
      try calls.insert(record)
    case .discard(let id):
      if leases.isShared, try isElsewhere(id) { return }
      let isOwn = try isOwn(id)
      try calls.remove(id)
      try turns.pass(id, grants: isOwn)
    case .breaker(let target, let breaker):
      try targets.set(breaker, of: target)
    case .pace(let target, let pace):
      try targets.set(pace, of: target)
    case .controls(let target, let controls):
      try targets.set(controls, of: target)
    case .awaitTurn(let id, let target, let key):
      try turns.enter(
        id, targetID: try targets.intern(target),
        namespace: try namespaces.intern(target.namespace), key: key, grants: try leases.owns(target))
    case .passTurn(let id):
      try turns.pass(id)
    case .retried(let id, let retry):
      try calls.insert(retry, of: id)
    case .erase(let id, let spec):
      try calls.erase(id, leaving: spec)
    case .policy(let policy, let limit):
      try service.add(policy, keeping: limit)
    case .operation(let operation):
      try service.set(operation)
    case .removeOperation(let id):
      try service.remove(id)
    case .tallied(let minutes):
      for one in minutes {
        try service.add(one.tally, at: one.minute, namespace: try namespaces.intern(one.namespace))
      }
    }
  }
}
