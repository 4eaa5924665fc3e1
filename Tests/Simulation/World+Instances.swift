internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// Several instances with one store: they start and stop, stand still, and lose the store.
extension World {
  func planInstances() {
    let end = agenda.last(where: { if case .heal = $0 { true } else { false } }) ?? now
    let length = end - World.start
    func anyTime() -> Timestamp {
      World.start + .microseconds(Int64(sharedRandom.unitInterval() * length.inSeconds * 1e6))
    }
    for instance in instances {
      let number = instance.number
      if number > 0 {
        agenda.add(
          .restart(number), at: sharedRandom.chance(0.5) ? World.start + sharedRandom.duration(0...500) : anyTime())
        for _ in 0..<sharedRandom.pick(0...2) {
          agenda.add(sharedRandom.chance(0.4) ? .drain(number) : .crash(number), at: anyTime())
        }
      }
      // Some are so short that nobody notices, some last for several leases.
      for _ in 0..<(sharedRandom.chance(0.5) ? sharedRandom.pick(1...3) : 0) {
        agenda.add(.stall(number, sharedRandom.duration(100...40_000)), at: anyTime())
      }
      for _ in 0..<(sharedRandom.chance(0.3) ? sharedRandom.pick(1...2) : 0) {
        let from = anyTime()
        instance.cuts.append(from..<min(end, from + sharedRandom.duration(100...40_000)))
      }
      instance.cutsHang = sharedRandom.chance(0.5)
    }
  }

  /// A process joins a shared store; it requests a lease by itself.
  func join(_ instance: Instance) {
    log(instance, "start")
    instance.start(seed: random.next(), RecoveredState())
    readDocuments(instance)
    planStep(of: instance)
  }

  func stall(_ instance: Instance, for time: Duration) {
    guard instance.isUp, instance.stalledUntil == nil, !isHealed else { return }
    log(instance, "stands still for \(time)")
    instance.stalledUntil = now + time
    agenda.add(.goOn(instance.number, life: instance.life), at: now + time)
  }

  func goOn(_ instance: Instance) {
    log(instance, "goes on")
    instance.stalledUntil = nil
    instance.wentOnAt = now
    serveStore(instance)
  }

  /// The instance that has a target, if it is running.
  func owner(of target: TargetKey) -> Instance? {
    guard isShared else { return instances[0].isUp ? instances[0] : nil }
    guard let session = store.owner(of: target) else { return nil }
    return instances.first { $0.isUp && $0.lane.session == session }
  }

  /// Checks all instances: the one that starts an attempt owns its target, and no other has one in flight there, except
  /// those that stood still until others had taken over.
  func checkShares(_ start: AttemptStart, _ instance: Instance) {
    guard isShared else { return }
    let (id, target) = (start.call.id, start.call.spec.target)
    invariants.require(
      store.owns(target, instance.lane.session),
      "attempt \(start.number) of \(id) was started by instance \(instance.number), which has not \(target)")
    for other in instances where other !== instance && other.isUp && !other.isExcused(at: now) {
      let twin = other.network.exchanges.values.contains { $0.start.call.spec.target == target }
      invariants.require(
        !twin, "\(id) was started by instance \(instance.number) while \(other.number) has \(target) in flight")
    }
  }

  /// No instance takes a shard from another whose lease has not ended, whether that is noticed or not, nor ends a
  /// session or takes a shard on which an instance relies.
  func checkTakeover(since before: SimulatedStore, by asking: Int64?) {
    guard isShared else { return }
    for instance in instances where instance.isUp {
      let leases = instance.engine.desk.leases
      guard let own = instance.lane.session, own != asking, leases.canWork,
        instance.clock.reading(at: now) < leases.validUntil
      else { continue }
      invariants.require(
        before.sessions[own] == nil || store.sessions[own] != nil,
        "session \(own) was ended, and instance \(instance.number) relies on its lease")
      for shard in leases.held.union(leases.outgoing).shards where before.owners[shard] != store.owners[shard] {
        let owner = store.owners[shard]
        invariants.require(
          owner == nil || owner == own,
          "shard \(shard) was given to session \(owner ?? 0), and instance \(instance.number) relies on its lease")
      }
    }
    for (id, session) in before.sessions.sorted(by: { $0.key < $1.key }) where id != asking {
      guard session.expiresAt > now else { continue }
      invariants.require(
        store.sessions[id] != nil,
        "session \(id) was ended \(session.expiresAt - now) before its lease was over")
      for shard in before.owners.indices where before.owners[shard] == id {
        invariants.require(
          store.owners[shard] == id,
          "shard \(shard) was taken \(session.expiresAt - now) before the lease of session \(id) was over")
      }
    }
  }

  /// In the end every shard has an owner, and no instance has more than its share.
  func checkBalance() {
    guard isShared, isOver else { return }
    let share = (ShardSet.count + store.sessions.count - 1) / max(1, store.sessions.count)
    invariants.require(!store.owners.contains(nil), "\(store.owners.count { $0 == nil }) shards are nobody's")
    for session in store.sessions.keys.sorted() {
      let own = store.owners.count { $0 == session }
      invariants.require(own <= share, "session \(session) keeps \(own) shards, \(share) are its share")
    }
  }

  /// Leases are renewed forever; the run ends when nothing else is left to do.
  func rest() {
    if store.unfinished > 0 || store.targets.values.contains(where: { $0.controls != TargetControls() })
      || instances.contains(where: { !$0.waiting.isEmpty })
    {
      return agenda.add(.rest, at: now + .seconds(5))
    }
    // An instance that has ended a call knows it by now, and the one that stored it has been informed.
    restedFor += 1
    if restedFor > 4 { isOver = true } else { agenda.add(.rest, at: now + .seconds(5)) }
  }
}

extension Instance {
  /// Whether it cannot reach the store, and until when.
  func cut(at now: Timestamp) -> Range<Timestamp>? { cuts.first { $0.contains(now) } }
}
