internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// What happens to the engine from outside: clients, crashes, and the end of all trouble.
extension World {
  /// Draws what is to happen.
  func plan() {
    let length = random.span(20_000...300_000)
    let end = World.start + length
    func anyTime() -> Timestamp { World.start + .microseconds(Int64(random.unitInterval() * length.inSeconds * 1e6)) }
    targets = Workload.targets(from: World.start, for: length, &random)
    for target in targets { network.targets[target.url] = target }
    if random.chance(0.6) { faultRate = random.pick([0.001, 0.01, 0.05]) }
    unnoticedFaults = random.chance(0.3)
    if random.chance(0.5) {
      badWeather = (0..<random.pick(1...3)).map { _ in
        let from = anyTime()
        return from..<(from + random.span(10...20_000))
      }
    }
    let crashes = random.chance(0.3) ? 0 : random.pick(1...6)
    for _ in 0..<crashes { agenda.add(random.chance(0.2) ? .drain : .crash, at: anyTime()) }
    // Some come one by one, some all at once.
    for _ in 0..<random.pick(5...60) { agenda.add(.submit, at: anyTime()) }
    for _ in 0..<random.pick(0...3) {
      let burst = anyTime()
      for _ in 0..<random.pick(5...40) { agenda.add(.submit, at: burst + random.span(0...20)) }
    }
    planControls(for: length)
    for _ in 0..<20 { agenda.add(.look, at: anyTime()) }
    invariants.isFairWeather = crashes == 0 && faultRate == 0 && badWeather.isEmpty
    agenda.add(.restart, at: World.start)
    agenda.add(.heal, at: end)
  }

  // MARK: Clients

  func token(_ asked: Asked) -> ReplyToken {
    tokens += 1
    let token = ReplyToken(rawValue: tokens)
    waiting[token] = asked
    return token
  }

  func submit() {
    guard isUp else { return }
    var descriptor = Workload.descriptor(
      to: random.pick(targets), callback: random.pick(targets), at: now, &random)
    if random.chance(0.2) {
      descriptor.key = IdempotencyKey(text: "key\(keyed.count)", fingerprint: [0])
      keyed.append(descriptor)
    } else if random.chance(0.2), !keyed.isEmpty {
      descriptor = random.pick(keyed)
      if random.chance(0.1) { descriptor.key?.fingerprint = [1] }
    }
    // Some clients do not wait for the answer before they repeat themselves.
    let padding = descriptor.body.drop { $0 != 0x78 }
    for _ in 0..<(descriptor.key != nil && random.chance(0.4) ? 3 : 1) {
      submissions += 1
      descriptor.body = Array("\(submissions) ".utf8) + padding
      post(.submit(descriptor, token(.submit(descriptor.key, number: submissions))))
    }
  }

  func operate(_ kind: Operation.Kind, _ id: CallID) {
    guard isUp else { return }
    let own = store.rows[id]?.record.spec.namespace ?? .default
    // Some try what is not theirs.
    let isForeign = random.chance(0.1)
    let namespace = isForeign ? NamespaceWatch.names.first { $0 != own } ?? own : own
    var operation = Operation(kind, id, in: namespace, reply: ReplyToken(rawValue: 0))
    operation.reply = token(.operation(operation))
    waiting[operation.reply] = .operation(operation)
    if !isForeign { invariants.asked(operation) }
    note("client \(operation.reply.rawValue) wants \(kind) of \(id)")
    post(.operate(operation))
  }

  func answer(_ token: ReplyToken, _ reply: Reply) {
    guard let asked = waiting.removeValue(forKey: token) else {
      return invariants.require(false, "client \(token.rawValue) got two replies")
    }
    switch (asked, reply) {
    case (.submit(let key, _), .accepted(let record)):
      invariants.accepted(record, in: store)
      if let key { invariants.accepted(record.id, under: key) }
      known.append(record.id)
      meddle(with: record.id)
    case (.operation(let operation), .done):
      let owner = store.rows[operation.id]?.record.spec.namespace
      invariants.require(owner == operation.namespace, "\(operation.namespace) was let at \(operation.id)")
      invariants.done(operation, in: store)
    case (.operation(let operation), .refused(let problem)): invariants.refused(operation, problem, in: store)
    case (.control(let control), .controlled):
      let fault = watch.controlled(control, in: store)
      invariants.require(fault == nil, fault ?? "")
    case (.control, .refused(let problem)):
      invariants.require(
        ["storageFull", "storageUnavailable", "tooManyTargets"].contains(problem.code),
        "an operator was refused for \(problem.code)")
    case (.report, .report(let report)):
      self.report = report
    case (.submit(let key?, _), .replayed(let id)): invariants.replayed(id, under: key, in: store)
    case (.submit(let key, let number), .refused(let problem)):
      invariants.refused(submission: number, problem)
      if let key, problem.code == "idempotencyKeyReused" { invariants.reused(key, in: store) }
    default: invariants.require(false, "client \(token.rawValue) got a reply that does not fit")
    }
  }

  /// Some clients cannot leave a call alone, and some not even one that has ended.
  private func meddle(with id: CallID) {
    while random.chance(0.3), !isHealed {
      let time = now + random.span(0...(random.chance(0.5) ? 2000 : 60_000))
      let victim = random.chance(0.8) ? id : random.pick(known)
      for _ in 0..<(random.chance(0.3) ? 2 : 1) {
        agenda.add(.operate(random.chance(0.5) ? .cancel : .retry, victim), at: time)
      }
    }
  }

  // MARK: Crashes

  func drain() {
    guard isUp, !isDraining else { return }
    note("drain")
    isDraining = true
    post(.drain)
    agenda.add(.crash, at: now + .seconds(10))
  }

  /// The process dies: what is not on disk is gone, and a transaction that was being written is on disk or is not.
  func crash() {
    guard isUp else { return }
    note("crash")
    isUp = false
    invariants.crashed()
    if case .commit(let group) = lane.job, random.chance(0.5) {
      let before = store
      let writes = SimulatedStoreLane.writes(group)
      do { try store.commit(writes) } catch { invariants.require(false, error.message) }
      invariants.committed(before, store, writes)
    }
    life += 1
    lane = SimulatedStoreLane()
    network.drop()
    inbox = []
    waiting = [:]
    turnIsPlanned = false
    wakePlanned = nil
    agenda.add(.restart, at: now + random.span(1...(random.chance(0.2) ? 30_000 : 1000)))
  }

  func restart() {
    guard !isUp else { return }
    let before = store
    do {
      let replayed = try store.replayLog()
      invariants.committed(before, store, replayed)
      let state = store.recover()
      invariants.recovered(state)
      breakers = BreakerWatch(settings: settings, recovered: state)
      watch = TargetWatch(settings: settings, recovered: state)
      namespaces = NamespaceWatch()
      note("restart with \(state.unfinished) calls, \(state.running.count) of them running")
      engine = Engine(settings: settings, seed: random.next())
      isUp = true
      isDraining = false
      hadUnnoticedFault = false
      post(.recovered(state))
      post(.namespaces(Set(targets.map { QualifiedKey.namespace(of: $0.key) }).sorted()))
    } catch {
      invariants.require(false, error.message)
    }
  }

  // MARK: The end

  /// From now on nothing fails. What the engine cannot know of is given back by one more restart.
  func heal() {
    note("all is well from now on")
    isHealed = true
    network.isHealed = true
    if hadUnnoticedFault || isDraining { crash() }
    agenda.add(.tidy, at: now + .seconds(35))
  }

  func askForReport() {
    guard isUp else { return }
    post(.report(token(.report)))
  }
}
