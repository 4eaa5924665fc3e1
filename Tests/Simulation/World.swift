internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// A run: an engine, and everything around it, on virtual time, from one seed.
final class World {
  static let start = Timestamp(microseconds: 1_796_083_200_000_000)
  /// The longest that a request to a healthy store takes, queueing included.
  static let longestQueue = Duration.seconds(3)
  /// The longest wait between attempts that any policy of the workload allows.
  static let longestWait = Duration.seconds(61)

  enum Happening {
    case turn(life: Int)
    case wake(life: Int)
    case storeEnds(life: Int)
    case attemptEnds(life: Int, CallID, number: Int)
    case submit
    case operate(Operation.Kind, CallID)
    case control(TargetControl.Kind, String)
    case tidy
    case drain
    case crash
    case restart
    case heal
    case look
  }

  enum Asked {
    case submit(IdempotencyKey?, number: Int)
    case operation(Operation)
    case control(TargetControl)
    case report
  }

  let settings: EngineSettings
  var random: RandomSource
  var now = World.start
  var agenda = Agenda<Happening>()
  var invariants: Invariants
  var breakers: BreakerWatch
  var watch: TargetWatch
  var namespaces = NamespaceWatch()
  var store = SimulatedStore()
  var lane = SimulatedStoreLane()
  var network = SimulatedNetwork()

  var engine: Engine
  /// Counts engines; what was planned for an earlier one is void.
  var life = 0
  var isUp = false
  var isDraining = false
  var inbox: [EngineEvent] = []
  var turnIsPlanned = false
  var wakePlanned: Timestamp?
  var turnsAtOnce = 0

  var tokens: UInt64 = 0
  var waiting: [ReplyToken: Asked] = [:]
  var known: [CallID] = []
  /// What was submitted under keys, to be submitted again.
  var keyed: [CallDescriptor] = []
  var report: EngineReport?

  /// How often a transaction fails, and when it does so all the time.
  var faultRate = 0.0
  var badWeather: [Range<Timestamp>] = []
  /// Submissions so far; each begins its body with its number.
  var submissions = 0
  var unnoticedFaults = false
  var hadUnnoticedFault = false
  var isHealed = false
  var targets: [SimulatedNetwork.Target] = []

  /// Says what happens, when somebody wants to know.
  var trace: ((String) -> Void)?

  init(seed: UInt64) {
    random = RandomSource(seed: seed)
    settings = Workload.settings(&random)
    invariants = Invariants(settings: settings)
    breakers = BreakerWatch(settings: settings, recovered: RecoveredState())
    watch = TargetWatch(settings: settings, recovered: RecoveredState())
    engine = Engine(settings: settings, seed: 0)
    plan()
  }

  /// Runs to the end, and answers what was not as it must be.
  func run() -> String? {
    while invariants.violation == nil, let (time, happening) = agenda.next() {
      if time - World.start > .seconds(1200) { break }
      if time > now { turnsAtOnce = 0 }
      now = time
      happen(happening)
    }
    if invariants.violation == nil {
      askForReport()
      turn()
    }
    invariants.checkRun(store, report)
    if invariants.violation == nil, let token = waiting.keys.min(by: { $0.rawValue < $1.rawValue }) {
      return "client \(token.rawValue) never got a reply"
    }
    return invariants.violation
  }

  func note(_ text: @autoclosure () -> String) {
    if let trace { trace("\(now.text) \(text())") }
  }

  private func happen(_ happening: Happening) {
    switch happening {
    case .turn(let life) where life == self.life:
      turnIsPlanned = false
      turn()
    case .wake(let life) where life == self.life && wakePlanned == now:
      wakePlanned = nil
      turn()
    case .storeEnds(let life) where life == self.life: storeEnds()
    case .attemptEnds(let life, let id, let number) where life == self.life: attemptEnds(id, number)
    case .turn, .wake, .storeEnds, .attemptEnds: break
    case .submit: submit()
    case .operate(let kind, let id): operate(kind, id)
    case .control(let kind, let target): control(kind, target)
    case .tidy: tidy()
    case .drain: drain()
    case .crash: crash()
    case .restart: restart()
    case .heal: heal()
    case .look: askForReport()
    }
  }

  // MARK: The engine's lane

  func post(_ event: EngineEvent) {
    inbox.append(event)
    guard !turnIsPlanned else { return }
    turnIsPlanned = true
    agenda.add(.turn(life: life), at: now + random.span(0...2))
  }

  func turn() {
    let events = inbox
    inbox = []
    turnsAtOnce += 1
    invariants.require(turnsAtOnce < 500, "the engine asks for turn after turn at one instant")
    breakers.willHear(events)
    watch.willHear(events, calls: engine.calls, at: now)
    for event in events { note("  hears \(event.summary)") }
    let effects = engine.handle(events, at: now)
    invariants.checkMemory(engine.calls.count, inFlight: engine.inFlight, clients: waiting.count)
    for start in BreakerWatch.starts(effects.store) {
      let id = start.call.id
      invariants.require(start.call.progress.due == now, "attempt \(start.number) of \(id) was decided on earlier")
    }
    let fault =
      breakers.turn(effects, at: now) ?? watch.turn(effects, engine, at: now)
      ?? namespaces.turn(BreakerWatch.starts(effects.store), engine)
    invariants.require(fault == nil, fault ?? "")
    for request in effects.store { note("  asks for \(request.summary)") }
    lane.post(effects.store)
    perform(effects.actions)
    serveStore()
    guard isUp, let wake = effects.wakeAt, wake < wakePlanned ?? .distantFuture else { return }
    wakePlanned = wake
    agenda.add(.wake(life: life), at: max(wake, now))
  }

  func perform(_ actions: [Action]) {
    for action in actions where isUp {
      note("  does \(action.summary)")
      switch action {
      case .reply(let token, let reply): answer(token, reply)
      case .start(let start):
        invariants.started(start, at: now, store: store, network: network)
        let end = network.start(start, at: now, &random)
        agenda.add(.attemptEnds(life: life, start.call.id, number: start.number), at: end)
      case .abort(let id):
        if let number = network.abort(id, at: now) {
          agenda.add(.attemptEnds(life: life, id, number: number), at: now + random.span(0...3))
        } else {
          invariants.abortedInVain(id, decidedOn: engine.calls[id]?.record.progress.attempts ?? 0)
        }
      case .notice: break
      case .drained:
        invariants.require(network.exchanges.isEmpty, "the engine says that it has drained, with attempts under way")
        note("drained")
        crash()
      }
    }
  }

  private func attemptEnds(_ id: CallID, _ number: Int) {
    guard let call = network.exchanges[id]?.start.call, let result = network.end(id, number: number) else { return }
    invariants.ended(result, call, at: now)
    post(.attemptEnded(result))
  }

  // MARK: The store's lane

  func serveStore() {
    guard isUp, let job = lane.begin() else { return }
    let latency = lane.isVoid(job) ? Duration.zero : random.span(0.1...(random.chance(0.02) ? 400 : 20))
    agenda.add(.storeEnds(life: life), at: now + latency)
  }

  private func fault() -> SimulatedStoreLane.Fault? {
    let isBad = badWeather.contains { $0.contains(now) }
    guard !isHealed, random.chance(isBad ? 0.9 : faultRate) else { return nil }
    if random.chance(0.5) { return .before }
    return unnoticedFaults ? .unnoticed : .atDeath
  }

  func storeEnds(fault given: SimulatedStoreLane.Fault? = nil) {
    guard let job = lane.job else { return }
    let fault = lane.isVoid(job) ? nil : given ?? self.fault()
    let isFull = fault != nil && random.chance(0.4)
    let before = store
    let outcome: SimulatedStoreLane.Outcome
    do {
      outcome = try lane.end(on: &store, fault: fault, isFull: isFull)
    } catch {
      return invariants.require(false, error.message)
    }
    if case .commit(let group) = job {
      note("store \(fault.map { "fails (\($0))" } ?? "commits") \(group.count)")
      if fault == .unnoticed { hadUnnoticedFault = true }
      if fault == nil || fault == .unnoticed {
        let writes = SimulatedStoreLane.writes(group)
        invariants.committed(before, store, writes)
        if fault == nil, !writes.isEmpty { invariants.checkRefused(store) }
      }
    } else if fault != nil {
      note("store fails a claim")
    }
    switch outcome {
    case .committed(let then): perform(then)
    case .events(let events): for event in events { post(event) }
    }
    serveStore()
  }
}
