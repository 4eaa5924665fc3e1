internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// One run of a scenario in virtual time: calls arrive, and the service's own engine attempts and retries them. Only the
/// target is a model.
struct OutageSimulation {
  private let scenario: OutageScenario
  private var service: VirtualService
  private var target: ModelTarget
  private var random: RandomSource
  /// Its own source, so that services with other settings meet the same calls.
  private var arrivals: RandomSource
  private let call: CallSpec
  private var events = EventHeap<Event>()
  private var unfinished = 0
  private var isOpen = false
  private var now = start
  private var load: LoadRecord
  private let mostAttempts: Int
  /// The share of the capacity that is not lost to requests which fail at random.
  private let useful: Double

  private static var start: Timestamp { Timestamp(microseconds: 1_000_000_000) }
  /// The target's key.
  static var key: TargetKey { TargetKey("http://target.example", in: .default) }

  private enum Event {
    case arrival
    case ended(CallID, number: Int, AttemptResult)
  }

  /// - Parameters:
  ///   - failing: The share of requests that fail although the target works, 0..<1, and their status.
  ///   - mostAttempts: The number of attempts at which the run ends.
  init(_ scenario: OutageScenario, failing: Double = 0, status: Int = 500, mostAttempts: Int = 2_000_000) {
    self.scenario = scenario
    self.mostAttempts = mostAttempts
    useful = 1 - failing
    random = RandomSource(seed: scenario.seed)
    arrivals = RandomSource(seed: scenario.seed &+ 7_777)
    target = ModelTarget(
      scenario.target, capacity: scenario.target.capacity.map { Double($0) }, failing: failing, status: status,
      outage: scenario.outage, start: Self.start)
    service = VirtualService(EngineSettings(only: scenario.settings), seed: scenario.seed)
    call = CallSpec(simulated: scenario.policy, to: Self.key)
    load = LoadRecord(scenario, start: Self.start)
    _ = service.begin(Self.key, at: Self.start)
    scheduleArrival()
  }

  mutating func run() -> OutageFigures {
    let isCutShort = advance(until: { _ in false })
    return load.figures(unfinished: unfinished, isCutShort: isCutShort)
  }

  /// Runs until the target has recovered, and the ideal sender too.
  mutating func recover() -> RecoveryFigures {
    _ = advance(until: { $0.recovery != nil && $0.ideal.recovery != nil })
    return RecoveryFigures(
      backlog: load.ideal.backlog, ideal: load.ideal.recovery, recovery: load.recovery,
      refused: load.refusedInRecovery, failed: load.totals.failed.values.reduce(0, +))
  }

  /// Runs until a condition holds, or the scenario ends. Returns whether there were too many attempts before.
  private mutating func advance(until isEnough: (LoadRecord) -> Bool) -> Bool {
    let end = Self.start + scenario.duration
    while load.totals.attempts < mostAttempts, let time = nextTime, time < end {
      step()
      if isEnough(load) { return false }
    }
    let isCutShort = load.totals.attempts >= mostAttempts
    if !isCutShort { load.advance(to: end, unfinished: unfinished, isOpen: isOpen) }
    return isCutShort
  }

  private var nextTime: Timestamp? { [events.first, service.wakeAt].compactMap { $0 }.min() }

  /// Handles the next event, or lets the engine do what is due before that.
  private mutating func step() {
    guard let time = nextTime else { return }
    load.advance(to: time, unfinished: unfinished, isOpen: isOpen)
    now = time
    if events.first == time, let event = events.next()?.event { handle(event) } else { stepService([]) }
    target.advance(to: now)
    load.observe(unfinished: unfinished, capacity: target.capacity.map { $0 * useful }, at: now)
  }

  private mutating func scheduleArrival() {
    events.add(.arrival, at: now + Duration(clampingSeconds: arrivals.exponential() / scenario.rate))
  }

  private mutating func handle(_ event: Event) {
    switch event {
    case .arrival:
      unfinished += 1
      load.called(at: now)
      stepService([call.submission])
      scheduleArrival()
    case .ended(let id, let number, let result): stepService([.attemptEnded(id, number: number, result)])
    }
  }

  private mutating func stepService(_ happened: [EngineEvent]) {
    let effect = service.step(happened, at: now)
    for end in effect.ends {
      unfinished -= 1
      if let reason = end.failure {
        load.failed(reason, at: now)
      } else {
        load.succeeded(after: now - end.roundStartedAt, at: now)
      }
    }
    for action in effect.actions {
      switch action {
      case .start(let start): begin(start)
      case .notice(.breakerOpened): isOpen = true
      case .notice(.breakerClosed): isOpen = false
      default: break
      }
    }
  }

  private mutating func begin(_ start: AttemptStart) {
    let answer = target.answer(at: now, timeout: start.timeout, using: &random)
    load.attempted(at: now, isOverload: answer.isOverload)
    let result = answer.result(within: start.timeout)
    events.add(.ended(start.call.id, number: start.number, result), at: now + result.duration)
  }
}

extension OutageScenario {
  /// The target's settings. Without a breaker nothing opens it.
  var settings: TargetSettings {
    TargetSettings(
      breaker: breaker ?? CircuitBreakerSettings(consecutiveFailures: 0, failureRate: 2), maxInFlight: concurrency,
      pace: pace, newCallShare: newCallShare, slowStart: slowStart)
  }
}
