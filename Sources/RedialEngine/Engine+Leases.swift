internal import RedialCore
internal import RedialModel

/// How several engines share one store: each works on the shards of its lease, and on no others.
///
/// With each heartbeat an engine renews its lease, gives back what is beyond its share, and is given what nobody has; what
/// was under way there when its owner died is taken over as after a crash. It stops of its own accord before its lease is
/// over by its own clock; that others wait until then, and that nothing of a lease which is over is written, the store
/// sees to. A call for a target of somebody else is put into the store, where that one finds it.
extension Engine {
  /// Whether the calls of a target are this engine's to run.
  func owns(_ target: String) -> Bool { leases.owns(target) }

  // MARK: The lease

  /// Before anything else in a turn: is the lease still good?
  mutating func checkLease() {
    if now >= leases.validUntil { loseLease() }
  }

  /// Asks for a lease, or renews it; gives back what nothing is under way of any more.
  mutating func tendLease() {
    guard let settings = leases.settings, !leases.isAsking, trouble == nil, !hasDrained else { return }
    var session: Int64?
    var idle = ShardSet.none
    switch leases.standing {
    case .alone, .evicted: return
    case .joining: if isDraining || !leases.aborting.isEmpty { return }
    case .member(let member):
      session = member.id
      if isDraining { leave(leases.held) }
      if !leases.leaving.isEmpty { idle = leases.leaving.subtracting(busyShards()) }
    }
    guard now >= leases.nextAsk || !idle.isEmpty else { return }
    forget(idle)
    leases.leaving = leases.leaving.subtracting(idle)
    leases.returning = idle
    leases.isAsking = true
    leases.nextAsk = now + settings.pause
    for place in namespaces.indices { (namespaces[place].drift, namespaces[place].driftElsewhere) = (0, 0) }
    let request = LeaseRequest(duration: settings.duration, giveBack: idle, takesShards: !isDraining)
    let ask = LeaseAsk(request: request, session: session, at: now, round: leases.round)
    effects.store.append(StoreRequest(.lease(ask), epoch: epoch))
  }

  /// The store has answered.
  mutating func leased(_ grant: LeaseGrant, _ ask: LeaseAsk) {
    guard ask.round == leases.round, let settings = leases.settings else { return }
    leases.isAsking = false
    leases.returning = .none
    leases.validUntil = ask.at + settings.validity
    // What came so late that it is over is no lease.
    if now >= leases.validUntil { return loseLease() }
    if case .joining = leases.standing { ids = ids.joined(as: grant.session.instance, after: grant.state.lastID) }
    leases.standing = .member(grant.session)
    leases.held = leases.held.union(grant.gained)
    recount(grant.state.namespaces)
    recountElsewhere(grant.elsewhere)
    if let due = grant.state.nextDue { storeNextDue = min(storeNextDue ?? due, due) }
    if !grant.gained.isEmpty {
      effects.actions.append(.tookOver(grant.gained, grant.state))
      effects.actions.append(.notice(.shardsGained(grant.gained)))
      takeOver(grant.state)
    }
    let surplus = leases.held.size - grant.share
    if surplus > 0 { leave(ShardSet(shardsByLoad().prefix(surplus))) }
  }

  /// The store could not answer.
  mutating func leaseNotAnswered(_ ask: LeaseAsk) {
    guard ask.round == leases.round else { return }
    leases.isAsking = false
    leases.leaving = leases.leaving.union(leases.returning)
    leases.returning = .none
  }

  /// Others may have everything that this engine has: it drops all, and asks for another lease. What it had written is on
  /// disk; what it had not is void, as if it had died.
  mutating func loseLease() {
    for id in calls.keys.sorted() {
      guard let call = calls[id], case .running(_, let cancelledBy) = call.phase else { continue }
      effects.actions.append(.abort(id))
      leases.aborting.insert(id)
      for reply in cancelledBy { refuse(reply, Self.leaseLost) }
    }
    for then in [afterCommit, trouble?.stuck.then ?? [], trouble?.later.then ?? []] { giveUp(then) }
    for case .findKey(let submission, _) in claims {
      endLookup(submission.key)
      refuse(submission.reply, Self.leaseLost)
    }
    effects.actions.append(.notice(.leaseLost))
    let waiting = trouble?.deferred ?? []
    startOver()
    leases.lose(at: now, epoch: epoch)
    for event in waiting { handle(event) }
  }

  /// What was asked for under a lease that was lost has failed: nobody is left to see to it.
  mutating func drop(_ request: StoreRequest) {
    switch request.body {
    case .commit(_, let then): giveUp(then)
    case .fetch(let operation):
      _ = endFetch(of: operation.id)
      refuse(operation, Self.leaseLost)
    case .findKey(let submission, _):
      endLookup(submission.key)
      refuse(submission.reply, Self.leaseLost)
    case .claimDue, .claimQueued, .lease, .barrier: break
    }
  }

  private mutating func giveUp(_ actions: [Action]) {
    for action in actions {
      switch action {
      case .reply(let reply, _): refuse(reply, Self.leaseLost)
      // It has not begun, and nothing will tell of its end.
      case .start(let start): leases.aborting.remove(start.call.id)
      default: break
      }
    }
  }

  // MARK: Shards

  /// Starts nothing of these any more.
  private mutating func leave(_ shards: ShardSet) {
    guard !shards.isEmpty else { return }
    leases.held = leases.held.subtracting(shards)
    leases.leaving = leases.leaving.union(shards)
    for index in knownTargets where shards.contains(target: targets[index].key) {
      targets[index].isLeaving = true
      targets[index].noteLimits(at: now)
    }
  }

  /// Drops what waits of these; in the store it is `held` until they are given back with the very next request.
  private mutating func forget(_ shards: ShardSet) {
    guard !shards.isEmpty else { return }
    for id in calls.keys.sorted() {
      guard let call = calls[id], shards.contains(target: call.record.spec.target) else { continue }
      release(id)
    }
    for index in knownTargets where shards.contains(target: targets[index].key) {
      expected -= targets[index].expected
      targetIndex[targets[index].key] = nil
      let place = targets[index].namespace
      namespaces[place].targets -= 1
      targets[index] = TargetState(
        key: targets[index].key, namespace: place, settings: settings.target, most: settings.mostPerTarget)
      targets[index].isForgotten = true
      originTLS.set(nil, of: targets[index].key)
      freeTargets.append(index)
    }
    // Their places may be those of targets of other namespaces soon.
    for place in namespaces.indices {
      namespaces[place].rotation.removeAll { targets[$0].isForgotten }
      namespaces[place].newcomers.removeAll { targets[$0].isForgotten }
      namespaces[place].admitted = namespaces[place].rotation.contents.count { targets[$0].isAdmitted }
    }
    effects.actions.append(.notice(.shardsReleased(shards)))
  }

  /// Shards with attempts under way.
  private func busyShards() -> ShardSet {
    ShardSet(targets.lazy.filter { !$0.isForgotten && $0.inFlight > 0 }.map { ShardSet.shard(of: $0.key) })
  }

  /// The shards that are held, those first that are given up most easily.
  private func shardsByLoad() -> [Int] {
    var load = [Int](repeating: 0, count: ShardSet.count)
    for target in targets where !target.isForgotten {
      load[ShardSet.shard(of: target.key)] += target.held + ShardSet.count * settings.maxHeld * target.inFlight
    }
    return leases.held.shards.sorted { (load[$0], $0) < (load[$1], $1) }
  }

  // MARK: What is somebody else's

  /// Puts a new call into the store for the engine that its target is of, which finds it there when it is due.
  mutating func insertElsewhere(_ new: CallRecord) -> CallRecord {
    var record = new
    countElsewhere(1, at: place(of: record.spec.namespace))
    if let key = record.spec.orderingKey { return insertOrdered(record, key) }
    record.progress.state = .scheduled
    record.progress.waiting = .startTime
    writes.append(.insert(record))
    return record
  }

  /// The code of the problem that something is another instance's to do.
  public static let ownedElsewhereCode = "ownedElsewhere"

  static func ownedElsewhere(_ target: String) -> Problem {
    Problem(
      status: 503, code: ownedElsewhereCode, title: "Another instance has this target",
      detail: "The calls to \(QualifiedKey.bare(target)) are run by another instance of the service, or by none for "
        + "the moment. Send the request to that instance, or try again.", retryAfter: 1)
  }

  static let leaseLost = Problem(
    status: 503, code: "leaseLost", title: "This instance may not write",
    detail:
      "Another process has taken over this instance's lease on the store. The requested change may "
      + "or may not have been made; check, then try again.", retryAfter: 2)
}
