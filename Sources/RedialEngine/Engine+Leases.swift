internal import RedialCore
internal import RedialModel

/// How several engines share one store: each works only on the shards of its lease.
///
/// With each heartbeat an engine renews its lease, gives back shards beyond its share, and gets shards without an
/// owner. Attempts that were in flight when such an owner died are handled as after a crash. An engine stops on its
/// own before its lease ends by its own clock. The store makes sure that others wait until then, and that nothing is
/// written under a lease that has ended. A call for a target of another engine is written into the store, where that
/// engine finds it.
extension Engine {
  /// Whether this engine runs the calls of a target.
  func owns(_ target: String) -> Bool { leases.owns(target) }

  // MARK: The lease

  /// The first check of each step: is the lease still valid?
  mutating func checkLease() {
    if now >= leases.validUntil { loseLease() }
  }

  /// Requests or renews the lease, and gives back shards without attempts in flight.
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
    // An answer that comes after the end of the lease is useless.
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

  /// Other instances may own everything that this engine has. It drops all of it and requests another lease. What it
  /// had written is on disk; the rest is lost, as if it had crashed.
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

  /// A request under a lost lease has failed, and nothing will follow it up.
  mutating func drop(_ request: StoreRequest) {
    switch request.body {
    case .commit(_, let then): giveUp(then)
    case .fetch(let command):
      _ = endFetch(of: command.id)
      refuse(command, Self.leaseLost)
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
      // It has not started, so nothing will report its end.
      case .start(let start): leases.aborting.remove(start.call.id)
      default: break
      }
    }
  }

  // MARK: Shards

  /// Stops starting calls of these shards.
  private mutating func leave(_ shards: ShardSet) {
    guard !shards.isEmpty else { return }
    leases.held = leases.held.subtracting(shards)
    leases.leaving = leases.leaving.union(shards)
    for index in knownTargets where shards.contains(target: targets[index].key) {
      targets[index].isLeaving = true
      targets[index].noteLimits(at: now)
    }
  }

  /// Drops the waiting calls of these shards. In the store they stay `held` until the next request gives the shards
  /// back.
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
    // Their places may soon belong to targets of other namespaces.
    for place in namespaces.indices {
      namespaces[place].rotation.removeAll { targets[$0].isForgotten }
      namespaces[place].newcomers.removeAll { targets[$0].isForgotten }
      namespaces[place].admitted = namespaces[place].rotation.contents.count { targets[$0].isAdmitted }
    }
    effects.actions.append(.notice(.shardsReleased(shards)))
  }

  /// Shards with attempts in flight.
  private func busyShards() -> ShardSet {
    ShardSet(targets.lazy.filter { !$0.isForgotten && $0.inFlight > 0 }.map { ShardSet.shard(of: $0.key) })
  }

  /// The shards of this engine, those first that are easiest to give up.
  private func shardsByLoad() -> [Int] {
    var load = [Int](repeating: 0, count: ShardSet.count)
    for target in targets where !target.isForgotten {
      load[ShardSet.shard(of: target.key)] += target.held + ShardSet.count * settings.maxHeld * target.inFlight
    }
    return leases.held.shards.sorted { (load[$0], $0) < (load[$1], $1) }
  }

  // MARK: What is somebody else's

  /// Writes a new call into the store for the engine that owns its target. That engine finds it there when it is due.
  mutating func insertElsewhere(_ new: CallRecord) -> CallRecord {
    var record = new
    countElsewhere(1, at: place(of: record.spec.namespace))
    if let key = record.spec.orderingKey { return insertOrdered(record, key) }
    record.progress.state = .scheduled
    record.progress.waiting = .startTime
    writes.append(.insert(record))
    return record
  }

  /// The code of the problem that a command belongs to another instance.
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
