internal import RedialCore
internal import RedialModel

/// One run of a live load in virtual time, until its backlog is drained. Pace, breaker and policies are the service's
/// own code; only the target is a model.
struct DrainSimulation<Pace: Pacing> {
  private typealias Call = DrainQueue.Call

  private enum Event {
    case due(Call)
    case ended(Call, ModelTarget.Answer, CircuitBreaker.Permit?, Pace.Ticket)
    case look
  }

  /// Counts at one time, to compute the average since.
  private struct Mark {
    var at: Timestamp
    var backlog: Int
    var attempts: Int
  }

  private let load: LiveLoad
  private let mostAttempts: Int
  /// The number of calls taken from the queue, and of steps, at which the simulation ends.
  private let mostTaken: Int
  private var random = RandomSource(seed: 1)
  private var target: ModelTarget
  private var sender: Sender<Pace>
  private var queue: DrainQueue
  private var events = EventHeap<Event>()
  /// The call that starts next; it has left the queue.
  private var first: Call?
  private var inFlight = 0
  private var nextLook: Timestamp?
  private var now: Timestamp
  private var curve: DrainCurve
  private var attempts = 0
  private var refused = 0
  private var taken = 0
  /// Times at which something happened.
  private var steps = 0
  private var peak = 0
  private var failed: [StopReason: Int] = [:]
  /// The state when half of the attempts were made.
  private var half: Mark?

  init(_ load: LiveLoad, pace: Pace, mostAttempts: Int) {
    self.load = load
    self.mostAttempts = max(1, mostAttempts)
    mostTaken = 20 * max(1, mostAttempts)
    now = load.now
    let settings = load.settings
    target = ModelTarget(
      OutageScenario.Target(latency: load.latency, overload: load.overload), capacity: load.capacity,
      failing: load.failing,
      outage: OutageScenario.Outage(from: .zero, to: max(.zero, (load.returnsAt ?? load.now) - load.now)),
      start: load.now)
    let breaker =
      load.openUntil.map { CircuitBreaker(settings: settings.breaker, openUntil: $0.until, trips: $0.trips) }
      ?? CircuitBreaker(settings: settings.breaker)
    sender = Sender(
      pace: pace, breaker: breaker, slowStart: load.pace == nil ? settings.slowStart : .zero,
      rate: settings.rateLimiter, concurrency: settings.maxInFlight, pausedUntil: load.pausedUntil ?? .epoch)
    queue = DrainQueue(load)
    curve = DrainCurve(start: load.now)
  }

  mutating func run() -> DrainForecast {
    let end = load.now + DrainForecast.horizon
    let back = load.returnsAt ?? load.now
    peak = backlog
    curve.note(backlog: peak, attempts: 0, at: now)
    while attempts < mostAttempts, taken < mostTaken, steps < mostTaken {
      steps += 1
      let before = attempts
      dispatch()
      let backlog = backlog
      curve.note(backlog: backlog, attempts: Double(attempts - before), at: now)
      peak = max(peak, backlog)
      if backlog <= load.ordinary, now >= back { return result(drainsIn: now - load.now) }
      if half == nil, attempts >= mostAttempts / 2 { half = Mark(at: now, backlog: backlog, attempts: attempts) }
      guard let time = nextTime(backlog, back), time < end else { return result(obstacle: .tooLong) }
      advance(to: time)
    }
    return extrapolated(to: end)
  }

  /// The time of the next event, of the return, or of the next call if that could start.
  private func nextTime(_ backlog: Int, _ back: Timestamp) -> Timestamp? {
    var event = events.first
    if now < back { event = min(event ?? back, back) }
    guard backlog == 0, let call = queue.next(after: now) else { return event }
    return min(event ?? call, call)
  }

  private mutating func advance(to time: Timestamp) {
    now = time
    while let first = events.first, first <= now, let (event, _) = events.next() { handle(event) }
    target.advance(to: now)
  }

  private mutating func handle(_ event: Event) {
    switch event {
    case .due(let call): queue.append(call)
    case .ended(let call, let answer, let permit, let ticket): ended(call, answer, permit, ticket)
    case .look: nextLook = nil
    }
  }

  /// Starts the calls that may start.
  private mutating func dispatch() {
    // Until it is closed, every call joins the backlog.
    if !sender.isClosed { queue.joinBacklog(beyond: 0, at: now) }
    while attempts < mostAttempts, taken < mostTaken, let call = firstCall() {
      switch sender.leave(inFlight: inFlight, at: now) {
      case .afterAnother: return
      case .at(let time): return look(at: time)
      case .rejected(let until):
        look(at: until)
        // Calls that do not wait for the breaker end here.
        guard call.policy.onTrip == .fail else { return }
        first = nil
        failed[.tripped, default: 0] += 1
      case .granted(let permit):
        first = nil
        queue.start(call, at: now)
        begin(call, permit)
      }
    }
  }

  /// The first due call; those before it whose deadline has passed have failed.
  private mutating func firstCall() -> Call? {
    while taken < mostTaken {
      guard let call = first ?? queue.take(at: now) else { return nil }
      if first == nil { taken += 1 }
      first = call
      if now < call.deadline { return call }
      first = nil
      failed[.deadlineExceeded, default: 0] += 1
    }
    return nil
  }

  private var backlog: Int { queue.count(at: now) + (first == nil ? 0 : 1) }

  private mutating func begin(_ waiting: Call, _ permit: CircuitBreaker.Permit?) {
    var call = waiting
    call.attempts += 1
    attempts += 1
    inFlight += 1
    let timeout = min(call.policy.attemptTimeout, load.settings.attemptTimeout)
    var answer = target.answer(at: now, timeout: min(timeout, call.deadline - now), using: &random)
    answer.isCut = answer.outcome == .maybeSent && call.deadline - now < min(timeout, .seconds(1))
    if answer.isOverload { refused += 1 }
    let ticket = sender.start(at: now)
    events.add(.ended(call, answer, permit, ticket), at: now + answer.latency)
  }

  private mutating func ended(
    _ waiting: Call, _ answer: ModelTarget.Answer, _ permit: CircuitBreaker.Permit?, _ ticket: Pace.Ticket
  ) {
    inFlight -= 1
    var call = waiting
    let end = AttemptEnd(
      outcome: answer.outcome, status: answer.status, retryAfter: answer.retryAfter, attempts: call.attempts,
      startedAt: call.startedAt, waits: call.waits)
    if sender.end(answer, end.breakerResult, permit, ticket, of: nil, at: now) { queue.joinBacklog(beyond: 0, at: now) }
    call.isNew = false
    let decision = call.policy.decide(end, at: now, using: &random)
    call.waits = decision.waits
    switch decision.action {
    case .succeed: break
    case .stop(let reason): failed[reason, default: 0] += 1
    case .retry(let wait): events.add(.due(call), at: now + wait)
    case .park(let time): events.add(.due(call), at: time)
    }
  }

  private mutating func look(at time: Timestamp) {
    guard time > now, nextLook.map({ time < $0 }) ?? true else { return }
    nextLook = time
    events.add(.look, at: time)
  }

  // MARK: Results

  /// The result if the rest continues as the last half of the attempts did.
  private mutating func extrapolated(to end: Timestamp) -> DrainForecast {
    let backlog = backlog
    guard let half, now > half.at else { return result(obstacle: .tooLong, isExtrapolated: true) }
    let seconds = (now - half.at).inSeconds
    let falling = Double(half.backlog - backlog) / seconds
    let rate = Double(attempts - half.attempts) / seconds
    guard falling > 0, rate > 0 else { return result(obstacle: .arrivals, isExtrapolated: true) }
    let left = Duration(clampingSeconds: Double(backlog - load.ordinary) / falling)
    guard now + left < end else { return result(obstacle: .tooLong, isExtrapolated: true) }
    let start = now
    for step in 1...DrainForecast.mostPoints {
      let time = left * step / DrainForecast.mostPoints
      let there = max(0, backlog - Int((falling * time.inSeconds).rounded()))
      curve.note(
        backlog: there, attempts: rate * left.inSeconds / Double(DrainForecast.mostPoints), at: start + time)
    }
    failed[.deadlineExceeded, default: 0] += missedLater(rate: rate, within: left)
    attempts += Int(rate * left.inSeconds)
    return result(drainsIn: start + left - load.now, isExtrapolated: true)
  }

  /// How many calls of the backlog will miss their deadlines, and of the new ones that join it: they are taken at the
  /// rate of the attempts, without the share of new calls.
  private mutating func missedLater(rate: Double, within left: Duration) -> Int {
    let count = queue.count(at: now)
    let speed = max(rate / 1000, rate - min(load.arrivals, rate * queue.share.newShare))
    let step = max(1, count / Self.mostChecked)
    var (position, late) = (0, 0)
    while position < count, let call = queue.takeOldest(at: now) {
      if now + Duration(clampingSeconds: Double(position) / speed) >= call.deadline { late += step }
      position += step
      queue.skip(step - 1, at: now)
    }
    // Without a share the wait of a new call shrinks evenly to nothing.
    let longest = Double(count) / rate
    guard queue.share.isOff, longest > 0 else { return late }
    return late + Int(load.arrivals * left.inSeconds * max(0, 1 - load.policy.deadline.inSeconds / longest))
  }

  /// Calls of a long queue whose deadlines are checked.
  private static var mostChecked: Int { 10_000 }

  private func result(
    drainsIn: Duration? = nil, obstacle: DrainForecast.Obstacle? = nil, isExtrapolated: Bool = false
  ) -> DrainForecast {
    var others = failed
    others[.deadlineExceeded] = nil
    return DrainForecast(
      drainsIn: drainsIn, obstacle: obstacle, peak: peak, missesDeadline: failed[.deadlineExceeded] ?? 0,
      failed: others, attempts: attempts, refused: refused, points: curve.points(),
      simulatedAttempts: min(attempts, mostAttempts), isExtrapolated: isExtrapolated)
  }
}
