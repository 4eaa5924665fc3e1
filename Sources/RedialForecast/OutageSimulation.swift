internal import RedialCore
internal import RedialModel

/// One run of a scenario in virtual time: calls arrive, are attempted as the breaker and the concurrency allow, and are
/// retried as the policy decides. All of that is the service's own policy code; only the target is a model.
///
/// `Pace` decides how fast attempts start: nothing, the service's adaptive pace, or something to compare with it.
struct OutageSimulation<Pace: Pacing> {
  let scenario: OutageScenario
  private var random: RandomSource
  private var target: ModelTarget
  private(set) var sender: Sender<Pace>
  /// Its own source, so that every pace meets the same calls.
  private var arrivals: RandomSource
  private var events = EventHeap<Event>()
  private var calls: [Call] = []
  /// Due calls, in the order of their due times: new ones, and the backlog.
  private var new = Queue<Int>()
  private var backlog = Queue<Int>()
  private var share: FairShare
  private var inFlight = 0
  private var unfinished = 0
  /// When the breaker is checked again; nil if no call waits for it.
  private var nextLook: Timestamp?
  private var now = start
  private var load: LoadRecord

  private let mostAttempts: Int

  /// As in the service: a shorter silence says nothing if the call's deadline ended it.
  private static var longSilence: Duration { .seconds(1) }

  private static var start: Timestamp { Timestamp(microseconds: 1_000_000_000) }

  private struct Call {
    let startedAt: Timestamp
    var attempts = 0
    var waits = WaitHistory.none
    /// Whether it waits in the queue.
    var isReady = false
  }

  private enum Event {
    case arrival
    case due(Int)
    case timeUp(Int)
    case ended(Int, ModelTarget.Answer, CircuitBreaker.Permit?, Pace.Ticket)
    case look
  }

  /// The share of the capacity that is not lost to requests which fail at random.
  private let useful: Double

  /// - Parameters:
  ///   - failing: The share of requests that fail although the target works, 0..<1, and their status.
  ///   - mostAttempts: The number of attempts at which the run ends; two million take one core a second or two.
  init(
    _ scenario: OutageScenario, pace: Pace, failing: Double = 0, status: Int = 500, mostAttempts: Int = 2_000_000
  ) {
    self.scenario = scenario
    useful = 1 - failing
    share = FairShare(newShare: scenario.newCallShare)
    self.mostAttempts = mostAttempts
    random = RandomSource(seed: scenario.seed)
    arrivals = RandomSource(seed: scenario.seed &+ 7_777)
    target = ModelTarget(
      scenario.target, capacity: scenario.target.capacity.map { Double($0) }, failing: failing, status: status,
      outage: scenario.outage, start: Self.start)
    sender = Sender(
      pace: pace, breaker: scenario.breaker.map { CircuitBreaker(settings: $0, seed: scenario.seed) },
      slowStart: scenario.pace == .fixed ? scenario.slowStart : .zero, concurrency: scenario.concurrency)
    load = LoadRecord(scenario, start: Self.start)
    scheduleArrival()
  }

  mutating func run() -> OutageForecast {
    let isCutShort = advance(until: { _ in false })
    return load.forecast(unfinished: unfinished, isCutShort: isCutShort)
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
    while load.totals.attempts < mostAttempts, let time = events.first, time < end {
      step()
      if isEnough(load) { return false }
    }
    let isCutShort = load.totals.attempts >= mostAttempts
    if !isCutShort { load.advance(to: end, unfinished: unfinished, isOpen: sender.isOpen(at: now)) }
    return isCutShort
  }

  /// Handles the next event.
  mutating func step() {
    guard let (event, time) = events.next() else { return }
    load.advance(to: time, unfinished: unfinished, isOpen: sender.isOpen(at: now))
    now = time
    handle(event)
    dispatch()
    target.advance(to: now)
    load.note(unfinished: unfinished, capacity: target.capacity.map { $0 * useful }, at: now)
  }

  private mutating func scheduleArrival() {
    events.add(.arrival, at: now + Duration(clampingSeconds: arrivals.exponential() / scenario.rate))
  }

  private mutating func handle(_ event: Event) {
    switch event {
    case .arrival:
      arrive()
      scheduleArrival()
    case .due(let index): becomeReady(index)
    case .timeUp(let index):
      guard calls[index].isReady else { return }
      calls[index].isReady = false
      fail(.deadlineExceeded)
    case .ended(let index, let answer, let permit, let ticket): ended(index, answer, permit, ticket)
    case .look: nextLook = nil
    }
  }

  private mutating func arrive() {
    unfinished += 1
    load.called(at: now)
    let index = calls.count
    calls.append(Call(startedAt: now))
    if let (wait, waits) = scenario.policy.initialWait(using: &random), wait > .zero {
      calls[index].waits = waits
      events.add(.due(index), at: now + wait)
    } else {
      becomeReady(index)
    }
    let deadline = now + scenario.policy.deadline
    if deadline < Self.start + scenario.duration { events.add(.timeUp(index), at: deadline) }
  }

  private mutating func becomeReady(_ index: Int) {
    calls[index].isReady = true
    guard calls[index].attempts == 0, sender.isClosed else { return backlog.append(index) }
    let place = share.place(
      beside: new.count, hasBacklog: !backlog.isEmpty,
      oldest: new.first.map { now - calls[$0].startedAt } ?? .zero, at: now)
    if place == .newAfterOthers { joinBacklog() }
    if place == .backlog { backlog.append(index) } else { new.append(index) }
  }

  /// New calls become backlog.
  private mutating func joinBacklog() {
    while let index = new.popFirst() { backlog.append(index) }
  }

  /// The next call to start, and whether it is a new one.
  private mutating func next() -> (index: Int, isNew: Bool)? {
    // Calls whose deadline has passed are no longer ready.
    while let first = new.first, !calls[first].isReady { _ = new.popFirst() }
    while let first = backlog.first, !calls[first].isReady { _ = backlog.popFirst() }
    guard let young = new.first else { return backlog.first.map { ($0, false) } }
    guard let old = backlog.first, !share.isNewNext else { return (young, true) }
    return (old, false)
  }

  /// Takes out the call that ``next()`` has returned.
  private mutating func take(isNew: Bool) {
    _ = isNew ? new.popFirst() : backlog.popFirst()
  }

  /// Starts the calls that may start.
  private mutating func dispatch() {
    while let (index, isNew) = next() {
      switch sender.leave(inFlight: inFlight, at: now) {
      case .afterAnother: return
      case .at(let time): return look(at: time)
      case .rejected where scenario.policy.onTrip == .fail:
        take(isNew: isNew)
        calls[index].isReady = false
        fail(.tripped)
      case .rejected(let until): return look(at: until)
      case .granted(let permit):
        take(isNew: isNew)
        share.start(isNew: isNew, at: now)
        begin(index, permit)
      }
    }
  }

  private mutating func look(at time: Timestamp) {
    // A breaker that waits for its probes is checked again when one of them has ended.
    guard time > now, nextLook.map({ time < $0 }) ?? true else { return }
    nextLook = time
    events.add(.look, at: time)
  }

  private mutating func begin(_ index: Int, _ permit: CircuitBreaker.Permit?) {
    inFlight += 1
    calls[index].isReady = false
    calls[index].attempts += 1
    let left = scenario.policy.deadline - (now - calls[index].startedAt)
    var answer = target.answer(at: now, timeout: min(scenario.policy.attemptTimeout, left), using: &random)
    answer.isCut = answer.outcome == .maybeSent && left < scenario.policy.attemptTimeout && left < Self.longSilence
    load.attempted(at: now, isOverload: answer.isOverload)
    let ticket = sender.start(at: now)
    events.add(.ended(index, answer, permit, ticket), at: now + answer.latency)
  }

  private mutating func ended(
    _ index: Int, _ answer: ModelTarget.Answer, _ permit: CircuitBreaker.Permit?, _ ticket: Pace.Ticket
  ) {
    inFlight -= 1
    let end = AttemptEnd(
      outcome: answer.outcome, status: answer.status, retryAfter: answer.retryAfter, attempts: calls[index].attempts,
      startedAt: calls[index].startedAt, waits: calls[index].waits)
    if sender.end(answer, end.breakerResult, permit, ticket, of: index, at: now) { joinBacklog() }
    let decision = scenario.policy.decide(end, at: now, using: &random)
    calls[index].waits = decision.waits
    switch decision.action {
    case .succeed:
      unfinished -= 1
      load.succeeded(after: now - calls[index].startedAt, at: now)
    case .stop(let reason): fail(reason)
    case .retry(let wait): events.add(.due(index), at: now + wait)
    case .park(let time): events.add(.due(index), at: time)
    }
  }

  private mutating func fail(_ reason: StopReason) {
    unfinished -= 1
    load.failed(reason, at: now)
  }

  // MARK: Live loads

  /// The time since the scenario's start.
  var time: Duration { now - Self.start }
  /// Calls that are due.
  var due: Int { waiting.count }
  private var waiting: [Int] { (backlog.all + new.all).filter { calls[$0].isReady }.sorted() }
  /// Whether anything is left to simulate.
  var hasEvents: Bool { events.first != nil }

  /// The state as a live load, which a forecast can start from.
  ///
  /// - Parameter pace: The pace as it is now; nil if it is fixed.
  func liveLoad(pace: AdaptivePace?) -> LiveLoad {
    func waiting(_ index: Int, _ due: Timestamp) -> LiveLoad.Waiting {
      let call = calls[index]
      return .init(
        due: due, attempts: call.attempts, startedAt: call.startedAt, waits: call.waits, policy: scenario.policy)
    }
    let dueNow = self.waiting.map { waiting($0, now) }
    let later = events.all.compactMap { event, time in
      if case .due(let index) = event { waiting(index, time) } else { nil }
    }.sorted { $0.due < $1.due }
    var settings = TargetSettings(maxInFlight: scenario.concurrency, slowStart: scenario.slowStart)
    settings.breaker = scenario.breaker ?? CircuitBreakerSettings(consecutiveFailures: 0, failureRate: 2)
    return LiveLoad(
      now: now, due: dueNow.count, later: later.count, dueSample: dueNow, laterSample: later, arrivals: scenario.rate,
      policy: scenario.policy, latency: scenario.target.latency, capacity: target.capacity,
      overload: scenario.target.overload, settings: settings, pace: pace, openUntil: sender.openUntil)
  }
}
