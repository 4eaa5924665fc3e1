internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// External happenings: clients, crashes, and the end of all trouble.
extension World {
  /// Draws the happenings.
  func plan() {
    let length = random.duration(20_000...300_000)
    let end = World.start + length
    func anyTime() -> Timestamp { World.start + .microseconds(Int64(random.unitInterval() * length.inSeconds * 1e6)) }
    targets = Workload.targets(
      from: World.start, for: length, sharingOrigin: settings.maxConnectionsPerOrigin < 256, &random)
    for instance in instances { for target in targets { instance.network.targets[target.url] = target } }
    planCrowd(for: length)
    if random.chance(0.6) { faultRate = random.pick([0.001, 0.01, 0.05]) }
    unnoticedFaults = random.chance(0.3)
    if random.chance(0.5) {
      badWeather = (0..<random.pick(1...3)).map { _ in
        let from = anyTime()
        return from..<(from + random.duration(10...20_000))
      }
    }
    let crashes = random.chance(0.3) ? 0 : random.pick(1...6)
    for _ in 0..<crashes { agenda.add(random.chance(0.2) ? .drain(0) : .crash(0), at: anyTime()) }
    // Some arrive one by one, some all at once.
    for _ in 0..<random.pick(5...60) { agenda.add(.submit, at: anyTime()) }
    for _ in 0..<random.pick(0...3) {
      let burst = anyTime()
      for _ in 0..<random.pick(5...40) { agenda.add(.submit, at: burst + random.duration(0...20)) }
    }
    planControls(for: length)
    planResubmissions(for: length)
    for _ in 0..<20 { agenda.add(.look, at: anyTime()) }
    invariants.isFairWeather = crashes == 0 && faultRate == 0 && badWeather.isEmpty && lethal.isEmpty && !isShared
    agenda.add(.restart(0), at: World.start)
    agenda.add(.heal, at: end)
  }

  // MARK: Clients

  func token<Answer>(_ asked: Asked, of instance: Instance) -> ReplyToken<Answer> {
    tokens += 1
    instance.waiting[tokens] = asked
    return ReplyToken(rawValue: tokens)
  }

  /// The instance that a client uses, if any is up.
  func anyInstance() -> Instance? {
    guard isShared else { return instances[0].isUp ? instances[0] : nil }
    let up = instances.filter(\.isUp)
    return up.isEmpty ? nil : sharedRandom.pick(up)
  }

  func submit() {
    guard let instance = anyInstance() else { return }
    var descriptor = Workload.descriptor(
      to: random.pick(targets), callback: random.pick(targets), at: now, &random)
    if random.chance(0.2) {
      descriptor.key = IdempotencyKey("key\(keyed.count)", fingerprint: [0])
      if reruns, rerunRandom.chance(0.4) {
        var fields = descriptor.spec.fields
        fields.isIdempotent = false
        descriptor.spec = CallSpec(fields)
      }
      keyed.append(descriptor)
    } else if random.chance(0.2), !keyed.isEmpty {
      descriptor = random.pick(keyed)
      if random.chance(0.1) { descriptor.key?.fingerprint = [1] }
    }
    // Some clients repeat themselves before they get the answer.
    submit(descriptor, times: descriptor.key != nil && random.chance(0.4) ? 3 : 1, to: instance)
  }

  func submit(_ descriptor: CallDescriptor, times: Int, to instance: Instance) {
    var descriptor = descriptor
    let padding = descriptor.body.drop { $0 != 0x78 }
    for _ in 0..<times {
      submissions += 1
      descriptor.body = Array("\(submissions) ".utf8) + padding
      let reply: ReplyToken<SubmissionReply> = token(.submit(descriptor.key, number: submissions), of: instance)
      post(.submit(descriptor, reply), to: instance)
    }
  }

  /// The namespaces with API keys.
  var knownNamespaces: [Namespace] {
    Set((targets + (crowd?.targets ?? [])).map { $0.key.namespace }).sorted()
  }

  private func planCrowd(for length: Duration) {
    crowd?.plan(from: World.start, for: length)
    guard let crowd else { return }
    for instance in instances { for target in crowd.targets { instance.network.targets[target.url] = target } }
    for (number, submission) in crowd.submissions.enumerated() { agenda.add(.join(number), at: submission.at) }
  }

  func joinCrowd(_ number: Int) {
    guard let instance = anyInstance(), let submission = crowd?.submissions[number],
      var descriptor = crowd?.descriptor(submission)
    else { return }
    submissions += 1
    descriptor.body = Array("\(submissions) ".utf8)
    post(.submit(descriptor, token(.submit(nil, number: submissions), of: instance)), to: instance)
  }

  func operate(_ kind: CallCommand.Kind, _ id: CallID) {
    guard let instance = anyInstance() else { return }
    let own = store.rows[id]?.record.spec.namespace ?? .default
    // Some use ids and targets of other namespaces.
    let isForeign = random.chance(0.1)
    let namespace = isForeign ? NamespaceWatch.names.first { $0 != own } ?? own : own
    var operation = CallCommand(kind, id, in: namespace, reply: ReplyToken(rawValue: 0))
    operation.reply = token(.operation(operation), of: instance)
    instance.waiting[operation.reply.rawValue] = .operation(operation)
    if !isForeign { invariants.asked(operation) }
    log(instance, "client \(operation.reply.rawValue) wants \(kind) of \(id)")
    post(.command(operation), to: instance)
  }

  func answer(_ reply: Reply, by instance: Instance) {
    guard let asked = instance.waiting.removeValue(forKey: reply.number) else {
      return invariants.require(false, "client \(reply.number) got two replies")
    }
    if case (.forwarded(let call), .submission(_, let reply)) = (asked, reply) {
      return answer(call, reply, by: instance)
    }
    let isInDoubt = instance.inDoubt.remove(reply.number) != nil
    guard instance.knows(store) else { return }
    switch (asked, reply) {
    case (.submit(let key, _), .submission(_, .accepted(let record))):
      invariants.accepted(record, in: store)
      if let key { invariants.accepted(record.id, under: key) }
      known.append(record.id)
      meddle(with: record.id)
    case (.operation(let operation), .command(_, .done)):
      let owner = store.rows[operation.id]?.record.spec.namespace
      invariants.require(owner == operation.namespace, "\(operation.namespace) was let at \(operation.id)")
      invariants.done(operation, in: store)
    case (.operation(let operation), .command(_, let refused)):
      if case .elsewhere(let target) = refused { rerunElsewhere(operation, target) }
      if let problem = refused.refusal?.problem { invariants.refused(operation, problem, in: store) }
    case (.control(let control), .targetCommand(_, .done)):
      // An instance that stood still may then receive changes of others.
      guard store.owns(control.target, instance.lane.session) else { return }
      let fault = instance.watch.controlled(control, in: store)
      invariants.require(fault == nil, fault ?? "")
    case (.control, .targetCommand(_, let refused)):
      guard let problem = refused.refusal?.problem else { return }
      invariants.require(
        [.storageFull, .storageUnavailable, .tooManyTargets, .draining].contains(problem.code)
          || isShared && [.ownedElsewhere, .leaseLost].contains(problem.code),
        "an operator was refused for \(problem.code)")
    case (.submit(let key?, _), .submission(_, .replayed(let id))):
      invariants.replayed(id, under: key, in: store)
      repeats(id, at: instance)
    // Its client learns that nobody knows.
    case (.submit, .submission(_, .refused(let refusal))) where isInDoubt && refusal.problem.status >= 500: break
    case (.submit(let key, let number), .submission(_, .refused(let refusal))):
      invariants.refused(submission: number, refusal.problem, by: instance.number)
      if let key, case .keyReused = refusal { invariants.reused(key, in: store) }
    default: invariants.require(false, "client \(reply.number) got a reply that does not fit")
    }
  }

  /// Some clients send commands all the time, some even for ended calls.
  private func meddle(with id: CallID) {
    while random.chance(0.3), !isHealed {
      let time = now + random.duration(0...(random.chance(0.5) ? 2000 : 60_000))
      let victim = random.chance(0.8) ? id : random.pick(known)
      for _ in 0..<(random.chance(0.3) ? 2 : 1) {
        agenda.add(.command(commandKind(), victim), at: time)
      }
    }
  }

  private func commandKind() -> CallCommand.Kind {
    if erases { return random.pick([.cancel, .cancel, .retry, .retry, .erase]) }
    if reclaims { return random.pick([.cancel, .retry, .reclaim, .reclaim]) }
    return random.chance(0.5) ? .cancel : .retry
  }

  // MARK: Crashes

  func drain(_ instance: Instance) {
    guard instance.isUp, !instance.isDraining else { return }
    log(instance, "drain")
    instance.isDraining = true
    post(.drain, to: instance)
    agenda.add(.crash(instance.number), at: now + .seconds(10))
  }

  /// The process dies: data that is not on disk is lost, and a transaction that was being written is on disk or is not.
  func crash(_ instance: Instance) {
    guard instance.isUp else { return }
    log(instance, "crash")
    instance.isUp = false
    invariants.crashed(instance.number)
    // The first job in flight may be a commit that still takes effect; then so may the next one.
    var isKept = !instance.lane.isLost
    for job in instance.lane.pipeline.open where isKept && job.isCommit {
      isKept =
        isShared && job.number != instance.lane.pipeline.open.first?.number
        ? lossRandom.chance(0.5) : random.chance(0.5)
      guard isKept, instance.lane.refusal(of: job, in: store) == nil else { break }
      let before = store
      do { _ = try instance.lane.perform(job, on: &store, at: now) } catch { invariants.require(false, error.message) }
      invariants.committed(before, store, job.writes)
      tellOfDocuments(since: before)
    }
    instance.lastSession = instance.lane.session
    instance.stop()
    agenda.add(.restart(instance.number), at: now + random.duration(1...(random.chance(0.2) ? 30_000 : 1000)))
  }

  func restart(_ instance: Instance) {
    guard !instance.isUp else { return }
    let before = store
    do {
      let replayed = try store.replayLog(of: instance.lastSession)
      invariants.committed(before, store, replayed)
      if isShared { return join(instance) }
      let state = store.recover()
      invariants.recovered(state)
      log("restart with \(state.unfinished) calls, \(state.running.count) of them running")
      instance.start(seed: random.next(), state)
      post(.recovered(state), to: instance)
      post(.namespaces(knownNamespaces), to: instance)
    } catch {
      invariants.require(false, error.message)
    }
  }

  // MARK: The end

  /// From now on nothing fails. One more restart gives back what the engine cannot know.
  func heal() {
    log("all is well from now on")
    isHealed = true
    healedAt = now
    for instance in instances {
      instance.network.isHealed = true
      if instance.hadUnnoticedFault || instance.isDraining { crash(instance) }
    }
    agenda.add(.tidy, at: now + .seconds(35))
    if isShared { agenda.add(.rest, at: now + .seconds(40)) }
  }

  func askForReport() {
    for instance in instances where instance.isUp {
      let answer = instance.answer
      post(.question(Question({ $0.report() }, then: { answer.latest = $0 })), to: instance)
    }
  }
}
