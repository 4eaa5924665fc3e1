internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// A run: one engine or several with one store, and everything around them, in virtual time, from one seed.
final class World {
  static let start = Timestamp(microseconds: 1_796_083_200_000_000)
  /// The longest time of a request to a healthy store, including its time in the queue.
  static let longestQueue = Duration.seconds(3)
  /// The longest wait between attempts that any policy of the workload allows.
  static let longestWait = Duration.seconds(61)

  enum Happening {
    case step(Int, life: Int)
    case wake(Int, life: Int)
    case storeEnds(Int, life: Int, job: UInt64)
    case storeFails(Int, life: Int)
    case lateBegins(LateJob)
    case lateEnds(LateJob)
    case reconnect(Int, life: Int)
    case resolve(Int, life: Int, seen: Int64)
    case replicate(Int)
    case failOver(Int)
    case hint(Int, life: Int)
    case documents(Int, life: Int)
    case forwardArrives(Forwarded, Int, life: Int)
    case forwardEnds(Forwarded, SubmissionReply?, server: Int)
    case attemptEnds(Int, life: Int, CallID, number: Int)
    case submit
    case join(Int)
    case command(CallCommand.Kind, CallID)
    case resubmit
    case readRepeated(CallID, Int, life: Int)
    case rerun(CallCommand, Int, life: Int)
    case control(TargetCommand.Kind, TargetKey)
    case tidy
    case drain(Int)
    case crash(Int)
    case restart(Int)
    case stall(Int, Duration)
    case goOn(Int, life: Int)
    case heal
    case look
    case rest
  }

  enum Asked {
    case submit(IdempotencyKey?, number: Int)
    case forwarded(Forwarded)
    case operation(CallCommand)
    case control(TargetCommand)
  }

  let settings: EngineSettings
  var random: RandomSource
  /// A separate generator for runs that share the store, so that other runs stay the same.
  var sharedRandom: RandomSource
  var now = World.start
  var agenda = Agenda<Happening>()
  var invariants: Invariants

  var store = SimulatedStore()
  var instances: [Instance] = []
  var isShared: Bool { settings.leases != nil }
  var isOver = false
  /// Consecutive checks at which nothing was left to do.
  var restedFor = 0
  /// Generators for lost connections and for failovers, so that other runs stay the same.
  var lossRandom: RandomSource
  var failoverRandom: RandomSource
  /// The same for forwarded submissions.
  var forwardRandom: RandomSource
  /// The same for calls that run again because they were submitted again.
  var rerunRandom: RandomSource
  /// Whether a submission under the key of a call that has ended runs it again. Other runs stay as they were.
  let reruns: Bool
  /// Whether clients erase calls, too. Other runs stay as they were.
  let erases: Bool
  /// Whether the service reclaims calls. Other runs stay as they were.
  let reclaims: Bool
  /// The submissions, by their numbers, of calls that end the process whenever an attempt of them ends; none in most runs.
  let lethal: Set<Int>
  /// What the next server will have at a failover, by the number of the failover.
  var copies: [Int: SimulatedStore] = [:]
  /// When the server is ready that has taken over.
  var serverUpAt = World.start
  /// When the store was last written; other instances' writes become known only some time later.
  var lastWritten = World.start

  var tokens: UInt64 = 0
  var known: [CallID] = []
  /// Earlier submissions with keys, to be repeated.
  var keyed: [CallDescriptor] = []

  /// How often a transaction fails, and when all of them do.
  var faultRate = 0.0
  var badWeather: [Range<Timestamp>] = []
  /// Submissions so far; each begins its body with its number.
  var submissions = 0
  var unnoticedFaults = false
  var isHealed = false
  /// When the last failure can have been.
  var healedAt: Timestamp?
  var targets: [SimulatedNetwork.Target] = []
  /// Targets whose response times alone are a reason for a low rate. They get webhooks about calls of any namespace.
  lazy var slowTargets = Set(
    targets.filter { $0.latency.upperBound > 300 }.flatMap { target in
      [target.key] + NamespaceWatch.names.map { TargetKey("webhook:" + target.key.bare, in: $0) }
    })
  var crowd: Crowd?
  var holds = HoldWatch()

  /// Receives the trace, if one is wanted.
  var trace: ((String) -> Void)?

  init(seed: UInt64) {
    random = RandomSource(seed: seed)
    sharedRandom = RandomSource(seed: seed ^ 0x6c65_6173_6573)
    lossRandom = RandomSource(seed: seed ^ 0x6c65_6467_6572)
    failoverRandom = RandomSource(seed: seed ^ 0x6661_696c_6f76_6572)
    var settings = Workload.settings(&random)
    let count = Workload.share(&settings, &sharedRandom)
    forwardRandom = RandomSource(seed: seed ^ 0x666f_7277_6172_64)
    rerunRandom = RandomSource(seed: seed ^ 0x7265_7275_6e)
    reruns = seed % 7 == 2
    erases = seed % 7 == 3
    reclaims = seed % 7 == 5
    let poison = [Int(seed / 5 % 20) + 1, Int(seed / 7 % 20) + 1]
    lethal = seed % 5 != 4 ? [] : Set(poison.prefix(Int(seed % 2) + 1))
    Workload.forward(&settings, &forwardRandom)
    crowd = Crowd(seed: seed, &settings)
    self.settings = settings
    invariants = Invariants(settings: settings)
    invariants.isShared = settings.leases != nil
    for number in 0..<count {
      instances.append(
        Instance(
          number: number, settings: settings, clock: Workload.clock(of: settings, &sharedRandom),
          well: crowd?.well.key))
    }
    plan()
    if isShared {
      planInstances()
      planFailovers()
    }
  }

  /// Runs to the end, and returns a violation.
  func run() -> String? {
    while !isOver, invariants.violation == nil, let (time, happening) = agenda.next() {
      if time - World.start > .seconds(1200) { break }
      if time > now { for instance in instances { instance.stepsAtOnce = 0 } }
      now = time
      happen(happening)
    }
    if invariants.violation == nil {
      askForReport()
      for instance in instances where instance.isUp { step(instance) }
    }
    invariants.checkRun(store, instances.filter(\.isUp).map(\.answer.latest))
    for instance in instances where instance.isUp {
      let isKnown = now - lastWritten > .seconds(10)
      let wrong = instance.engine.roster.namespaces.first { $0.unfinished != 0 || isKnown && $0.elsewhere != 0 }
      invariants.require(
        wrong == nil,
        "instance \(instance.number) counts \(wrong?.unfinished ?? 0) calls that have not ended, and elsewhere "
          + "\(wrong?.elsewhere ?? 0)")
    }
    invariants.require(instances.contains(where: \.isUp), "no instance is up")
    checkBalance()
    checkDocuments()
    let waiting = instances.flatMap(\.waiting.keys)
    if invariants.violation == nil, let token = waiting.min(by: { $0 < $1 }) {
      return "client \(token) never got a reply"
    }
    return invariants.violation
  }

  func log(_ text: @autoclosure () -> String) {
    if let trace { trace("\(now.text) \(text())") }
  }

  func log(_ instance: Instance, _ text: @autoclosure () -> String) {
    log(isShared ? "[\(instance.number)] \(text())" : text())
  }

  private func happen(_ happening: Happening) {
    switch happening {
    case .step(let number, let life):
      guard let instance = awake(number, life, happening) else { return }
      instance.stepIsPlanned = false
      step(instance)
    case .wake(let number, let life):
      guard let instance = awake(number, life, happening), instance.wakePlanned ?? .distantFuture <= now else { return }
      instance.wakePlanned = nil
      step(instance)
    case .storeEnds(let number, let life, let job):
      // The store works on while its instances stand still.
      if instances[number].life == life { storeEnds(instances[number], job) }
    case .storeFails(let number, let life):
      if instances[number].life == life { serveStore(instances[number], failing: true) }
    case .lateBegins(let late): lateBegins(late)
    case .lateEnds(let late): lateEnds(late)
    case .reconnect(let number, let life):
      if let instance = awake(number, life, happening) { reconnect(instance) }
    case .resolve(let number, let life, let seen):
      if let instance = awake(number, life, happening) { resolve(instance, seen: seen) }
    case .replicate(let number): copies[number] = store
    case .failOver(let number): failOver(number)
    case .hint(let number, let life):
      if let instance = awake(number, life, happening) { post(.callsStored, to: instance) }
    case .documents(let number, let life):
      if let instance = awake(number, life, happening) { readDocuments(instance) }
    case .forwardArrives(let call, let number, let life):
      if let instance = awake(number, life, happening) { forwardArrives(call, instance) }
    case .forwardEnds(let call, let reply, let server):
      if let instance = awake(call.from, call.life, happening) { forwardEnds(call, reply, server: server, instance) }
    case .attemptEnds(let number, let life, let id, let attempt):
      guard let instance = awake(number, life, happening) else { return }
      attemptEnds(instance, id, attempt)
    case .submit: submit()
    case .join(let number): joinCrowd(number)
    case .command(let kind, let id): operate(kind, id)
    case .resubmit: resubmit()
    case .readRepeated(let id, let number, let life):
      if let instance = awake(number, life, happening) { readRepeated(id, instance) }
    case .rerun(let command, let number, let life):
      if let instance = awake(number, life, happening) { rerun(command, at: instance) }
    case .control(let kind, let target): control(kind, target)
    case .tidy: tidy()
    case .drain(let number): drain(instances[number])
    case .crash(let number): crash(instances[number])
    case .restart(let number): restart(instances[number])
    case .stall(let number, let time): stall(instances[number], for: time)
    case .goOn(let number, let life): if instances[number].life == life { goOn(instances[number]) }
    case .heal: heal()
    case .look: askForReport()
    case .rest: rest()
    }
  }

  /// The instance of a happening, unless it is another by now; if it stands still, the happening is postponed.
  private func awake(_ number: Int, _ life: Int, _ happening: Happening) -> Instance? {
    let instance = instances[number]
    guard instance.life == life else { return nil }
    if let until = instance.stalledUntil {
      agenda.add(happening, at: until)
      return nil
    }
    return instance
  }

  // MARK: An engine's lane

  func post(_ event: EngineEvent, to instance: Instance) {
    instance.inbox.append(event)
    planStep(of: instance)
  }

  func planStep(of instance: Instance) {
    guard !instance.stepIsPlanned else { return }
    instance.stepIsPlanned = true
    agenda.add(.step(instance.number, life: instance.life), at: now + random.duration(0...2))
  }

  func step(_ instance: Instance) {
    let events = instance.inbox
    instance.inbox = []
    instance.stepsAtOnce += 1
    invariants.require(instance.stepsAtOnce < 500, "the engine asks for step after step at one instant")
    let now = instance.clock.reading(at: now)
    // The engine may now do what it had put off.
    let heard = instance.putOff + events
    instance.breakers.willHear(heard, at: now)
    instance.slots.willHear(events, instance.engine)
    instance.shares.willHear(heard, instance.engine)
    holds.willHear(events, instance.engine, at: now)
    instance.watch.willHear(heard, calls: instance.engine.calls.table, at: now)
    for event in events { log(instance, "  hears \(event.summary)") }
    for case .leased(let grant, _) in events { invariants.recovered(grant.state) }
    let unsaved =
      instance.knows(store)
      ? PaceWatch.check(instance, events, store) ?? PauseWatch.check(instance, events, store, at: now) : nil
    let limited = PaceWatch.limited(instance.engine)
    let outages = OutageWatch.outages(instance.engine)
    let privacies = instance.engine.privacies
    let effects = instance.engine.handle(events, at: now)
    let blame = instance.suspects.step(events, BreakerWatch.starts(effects.store), instance.engine, at: now)
    invariants.require(blame == nil, blame ?? "")
    invariants.checkPrivacy(effects.store, privacies, instance.engine)
    invariants.checkMemory(
      instance.engine.calls.count, inFlight: instance.engine.roster.occupancy.inFlight, clients: instance.waiting.count)
    invariants.checkShares(
      due: instance.engine.roster.occupancy.ready, targets: instance.engine.roster.occupancy.busyTargets)
    for start in BreakerWatch.starts(effects.store) {
      let id = start.call.id
      invariants.require(start.call.progress.due == now, "attempt \(start.number) of \(id) was decided on earlier")
    }
    let putOff = Set(
      instance.putOff.compactMap { if case .targetCommand(let command) = $0 { command.reply } else { nil } })
    let fault =
      instance.breakers.step(effects, putOff: putOff, at: now)
      ?? instance.watch.step(effects, instance.engine, putOff: putOff, at: now)
      ?? instance.namespaces.step(BreakerWatch.starts(effects.store), instance.engine)
      ?? instance.slots.step(effects, instance.engine, at: now)
      ?? unsaved ?? PaceWatch.checkTakeover(instance.engine, events, effects, at: now)
      ?? PaceWatch.checkBegin(before: limited, instance.engine, events, effects)
      ?? instance.shares.step(effects, instance.engine)
    invariants.require(fault == nil, fault ?? "")
    let outage = OutageWatch.step(before: outages, instance.engine, events, effects, at: now)
    invariants.require(outage == nil, outage ?? "")
    let held = holds.step(
      instance.engine, slow: slowTargets, healedAt: healedAt.map { instance.clock.reading(at: $0) }, at: now)
    invariants.require(held == nil, held ?? "")
    instance.breakers.remember { instance.engine.roster.place(of: $0) != nil }
    for request in effects.store { log(instance, "  asks for \(request.summary)") }
    instance.lane.post(effects.store)
    perform(effects.actions, instance)
    serveStore(instance)
    guard instance.isUp, let wake = effects.wakeAt else { return }
    let time = max(instance.clock.time(of: wake), self.now)
    guard time < instance.wakePlanned ?? .distantFuture else { return }
    instance.wakePlanned = time
    agenda.add(.wake(instance.number, life: instance.life), at: time)
  }

  func perform(_ actions: [Action], _ instance: Instance) {
    for action in actions where instance.isUp {
      log(instance, "  does \(action.summary)")
      switch action {
      case .reply(let reply): answer(reply, by: instance)
      case .answer(let tell): tell()
      case .start(let start): begin(start, instance)
      case .abort(let id):
        if let number = instance.network.abort(id, at: instance.clock.reading(at: now)) {
          agenda.add(
            .attemptEnds(instance.number, life: instance.life, id, number: number), at: now + random.duration(0...3))
        } else {
          invariants.abortedInVain(id, decidedOn: instance.engine.calls[id]?.record.progress.attempts ?? 0)
        }
      case .notice(.leaseLost): invariants.forgetRefused(instance.number)
      // Each instance has all keys.
      case .notice, .event, .tookOver, .resign: break
      case .forward(let descriptor, let reply): forward(descriptor, reply, by: instance)
      case .tellOwners(let shards): tellOwners(of: shards)
      case .drained:
        invariants.require(
          instance.network.exchanges.isEmpty, "the engine says that it has drained, with attempts in flight")
        log(instance, "drained")
        if let session = instance.lane.session, instance.knows(store) { store.resign(session) }
        crash(instance)
      }
    }
  }

  /// Sends hints to the owners of shards, of which one in four is lost. The time decides about that and about the delay,
  /// so that no random number is drawn for it.
  private func tellOwners(of shards: ShardSet) {
    guard now.microseconds & 3 != 0 else { return }
    for other in instances {
      guard let session = other.lane.session, shards.shards.contains(where: { store.owners[$0] == session }) else {
        continue
      }
      agenda.add(.hint(other.number, life: other.life), at: now + .microseconds(now.microseconds >> 2 & 0xFFF))
    }
  }

  private func begin(_ start: AttemptStart, _ instance: Instance) {
    let time = instance.clock.reading(at: now)
    if time >= start.startBefore {
      log(instance, "  is too late to start \(start.call.id)")
      return post(.attemptTooLate(start.call.id, number: start.number), to: instance)
    }
    if isShared {
      let readings = instances.map { $0.clock.reading(at: now) }
      let spread = (readings.max() ?? now) - (readings.min() ?? now)
      invariants.clockSpread = max(invariants.clockSpread, spread)
    }
    if instance.knows(store) {
      checkShares(start, instance)
      invariants.started(start, by: instance.number, at: time, store: store, network: instance.network)
    }
    let duration = instance.network.start(start, isInStore: instance.knows(store), at: time, &random) - time
    agenda.add(
      .attemptEnds(instance.number, life: instance.life, start.call.id, number: start.number),
      at: instance.clock.time(of: time + duration))
  }

  private func isLethal(_ call: CallRecord) -> Bool {
    call.kind == .call && lethal.contains { call.body.starts(with: Array("\($0) ".utf8)) }
  }

  private func attemptEnds(_ instance: Instance, _ id: CallID, _ number: Int) {
    guard let call = instance.network.exchanges[id]?.start.call, let result = instance.network.end(id, number: number)
    else { return }
    if isLethal(call), !isHealed, result.outcome != .cancelled {
      log(instance, "\(id) ends the process")
      if instance.knows(store) { invariants.ended(theProcess: id, number: number, in: store) }
      return crash(instance)
    }
    invariants.ended(
      result, call, by: instance.number, at: instance.clock.reading(at: now),
      isOwner: store.owns(call.spec.target, instance.lane.session) && !instance.lane.hasLost(store))
    post(.attemptEnded(id, number: number, result), to: instance)
  }
}
