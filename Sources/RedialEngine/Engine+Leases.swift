internal import RedialCore
internal import RedialModel

/// How several engines share one store: each works only on the shards of its lease.
///
/// With each heartbeat an engine renews its lease, gives back idle shards beyond its share, and gets shards without an
/// owner. If too many of its shards are busy, it starts nothing in some of them for a short time, see
/// ``YieldingShards``. Attempts that were in flight when such an owner died are handled as after a crash. An engine
/// stops on its own before its lease ends by its own clock. The store makes sure that others wait until then, and that
/// nothing is written under a lease that has ended. A call for a target of another engine is written into the store,
/// where that engine finds it.
extension Engine {
  /// Whether this engine runs the calls of a target.
  func owns(_ target: TargetKey) -> Bool { desk.leases.owns(target) }

  // MARK: The lease

  /// The first check of each step: is the lease still valid?
  mutating func checkLease() {
    if now >= desk.leases.validUntil { loseLease(LeaseTable.notRenewed) }
  }

  /// Requests or renews the lease, and gives back shards without attempts in flight.
  mutating func tendLease() {
    guard let settings = desk.leases.settings, !desk.leases.isAsking, desk.trouble == nil, !hasDrained else { return }
    var idle = ShardSet.none
    switch desk.leases.standing {
    case .alone, .evicted: return
    case .joining: if isDraining || desk.lacksKey || !desk.leases.aborting.isEmpty { return }
    case .member where desk.lacksKey && !isDraining && desk.leases.hasGivenAllBack:
      // The others share what no session has.
      effects.actions.append(.resign)
      return loseLease("It was given back, because other instances encrypt by a key that this one does not have.")
    case .member:
      if isDraining || desk.lacksKey { stopWork(in: desk.leases.held) } else { tendYielding() }
      if !desk.leases.outgoing.isEmpty { idle = desk.leases.outgoing.subtracting(busyShards()) }
    }
    guard now >= desk.leases.askAt || !idle.isEmpty else { return }
    forget(idle)
    // What was learned of their targets is written while they are still this engine's (found at seed 1328).
    flush()
    roster.beginRecount()
    request(.lease(desk.leases.ask(settings, giving: idle, takesShards: !isDraining && !desk.lacksKey, at: now)))
  }

  /// The store has answered.
  mutating func leased(_ grant: LeaseGrant, _ ask: LeaseAsk) {
    switch desk.leases.answered(grant, ask, at: now) {
    case .void: return
    case .tooLate: return loseLease(LeaseTable.notRenewed)
    case .granted(let isNew):
      if isNew { ids = ids.joined(as: grant.session.instance, after: grant.state.lastID) }
    }
    roster.recount(grant.state.namespaces, elsewhere: grant.elsewhere)
    if let due = grant.state.nextDue { desk.claims.learn(due: due) }
    if !grant.gained.isEmpty {
      effects.actions.append(.tookOver(grant.gained, grant.state))
      effects.actions.append(.notice(.shardsGained(grant.gained)))
      takeOver(grant.state)
      tellPrivacies(in: grant.gained)
    }
    let surplus = desk.leases.surplus(over: grant.share)
    if surplus > 0 { shed(surplus) } else if surplus < 0 { goOn(with: desk.leases.keepYielding()) }
  }

  /// Gives idle shards back, and tries to give back busy ones if these are too few.
  private mutating func shed(_ surplus: Int) {
    let (busy, yielding) = (busyShards(), desk.leases.yielding.shards)
    let shards = shardsByLoad().filter { !yielding.contains($0) }
    let idle = shards.filter { !busy.contains($0) }.prefix(surplus)
    stopWork(in: ShardSet(idle))
    let tried = desk.leases.yield(shards.filter(busy.contains), surplus - idle.count, at: now)
    for place in roster.places(in: tried) { roster[place].depart(at: now) }
  }

  /// Gives back those of the yielding shards that are idle, and goes on with the others after a time.
  private mutating func tendYielding() {
    let yielding = desk.leases.yielding.shards
    guard !yielding.isEmpty else { return }
    stopWork(in: yielding.subtracting(busyShards()))
    goOn(with: desk.leases.giveUpYielding(at: now))
  }

  /// Starts calls of these shards again.
  private mutating func goOn(with shards: ShardSet) {
    for place in roster.places(in: shards) {
      roster[place].stay(at: now)
      roster.enterRotation(place)
    }
  }

  /// Other instances may own everything that this engine has. It drops all of it and requests another lease. What it
  /// had written is on disk; the rest is lost, as if it had crashed.
  ///
  /// - Parameter reason: Why, for people.
  mutating func loseLease(_ reason: String) {
    for id in calls.keys.sorted() {
      guard let call = calls[id], case .running(_, let cancelledBy) = call.phase else { continue }
      effects.actions.append(.abort(id))
      desk.leases.abort(id)
      for reply in cancelledBy { refuse(.command(reply, .done(nil)), .leaseLost) }
    }
    for then in [afterCommit, desk.trouble?.stuck.then ?? [], desk.trouble?.later.then ?? []] { giveUp(then) }
    for submission in desk.unsentLookups {
      desk.keys.end(submission.key)
      refuse(submission.reply, .leaseLost)
    }
    effects.actions.append(.notice(.leaseLost(reason: reason)))
    let waiting = desk.trouble?.deferred ?? []
    startOver()
    desk.leases.lose(at: now, epoch: desk.epoch)
    for event in waiting { handle(event) }
  }

  /// A request under a lost lease has failed, and nothing will follow it up.
  mutating func drop(_ request: StoreRequest) {
    switch request.body {
    case .commit(_, let then): giveUp(then)
    case .fetch(let command):
      _ = desk.fetches.end(command.id)
      refuse(command, .leaseLost)
    case .findKey(let submission, _):
      desk.keys.end(submission.key)
      refuse(submission.reply, .leaseLost)
    case .claimDue, .claimQueued, .lease, .barrier: break
    }
  }

  private mutating func giveUp(_ actions: [Action]) {
    for action in actions {
      switch action {
      case .reply(let reply): refuse(reply, .leaseLost)
      // It has not started, so nothing will report its end.
      case .start(let start): desk.leases.attemptEnded(start.call.id)
      default: break
      }
    }
  }

  // MARK: Shards

  /// Stops starting calls of these shards, to give them back.
  private mutating func stopWork(in shards: ShardSet) {
    guard !shards.isEmpty else { return }
    // When it stops, they were saved at the beginning.
    if !isDraining { saveLearned(of: shards) }
    desk.leases.stopWork(in: shards)
    for place in roster.places(in: shards) { roster[place].depart(at: now) }
  }

  /// Drops the waiting calls of these shards. In the store they stay `held` until the next request gives the shards
  /// back.
  private mutating func forget(_ shards: ShardSet) {
    guard !shards.isEmpty else { return }
    for id in calls.keys.sorted() {
      guard let call = calls[id], shards.contains(target: call.record.spec.target) else { continue }
      release(id)
    }
    let dropped = roster.drop(shards)
    desk.claims.noLongerExpect(dropped.expected)
    for key in dropped.keys { originTLS.set(nil, of: key) }
    effects.actions.append(.notice(.shardsReleased(shards)))
  }

  /// Shards with attempts in flight.
  private func busyShards() -> ShardSet {
    ShardSet(
      roster.targets.lazy.filter { !$0.isForgotten && $0.occupancy.inFlight > 0 }.map { ShardSet.shard(of: $0.key) })
  }

  /// Whoever has this shard makes the changes of what belongs to no target.
  package static let leadersShard = 0

  /// The shards of this engine, those first that are easiest to give up. The leader's is the last: bulk
  /// operations run there.
  private func shardsByLoad() -> [Int] {
    var load = [Int](repeating: 0, count: ShardSet.count)
    for target in roster.targets where !target.isForgotten {
      load[ShardSet.shard(of: target.key)] +=
        target.occupancy.held + ShardSet.count * settings.maxHeld * target.occupancy.inFlight
    }
    load[Self.leadersShard] = .max
    return desk.leases.held.shards.sorted { (load[$0], $0) < (load[$1], $1) }
  }

  // MARK: What is somebody else's

  /// Writes a new call into the store for the engine that owns its target. That engine finds it there when it is due.
  mutating func insertElsewhere(_ new: CallRecord) -> CallRecord {
    var record = new
    toTell = toTell.union(ShardSet([ShardSet.shard(of: record.spec.target)]))
    roster.countElsewhere(1, at: roster.place(of: record.spec.namespace))
    if let key = record.spec.orderingKey { return insertOrdered(record, key) }
    record.progress.state = .scheduled
    record.progress.waiting = .startTime
    writes.append(.insert(record))
    return record
  }
}
