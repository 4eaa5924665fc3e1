internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// One run of a live load in virtual time, by the service's own engine, until its backlog is drained. Only the target is a
/// model.
///
/// While a target is down hardly anything is decided, but many calls may come. So the run begins when the target is back,
/// with what waits then.
struct DrainSimulation {
  private enum Event {
    case arrival
    case ended(CallID, number: Int, AttemptResult)
  }

  /// Counts at one time, to compute the average since.
  private struct Mark {
    var at: Timestamp
    var backlog: Int
    var attempts: Int
  }

  private let load: LiveLoad
  private let mostAttempts: Int
  /// The number of steps at which the simulation ends.
  private let mostSteps: Int
  /// When the target works.
  private let start: Timestamp
  private let call: CallSpec
  private var random = RandomSource(seed: 1)
  private var target: ModelTarget
  private var service: VirtualService
  private var events = EventHeap<Event>()
  private var arrived = 0
  private var now: Timestamp
  private var curve: DrainCurve
  private var attempts = 0
  private var refused = 0
  private var peak: Int
  private var failed: [StopReason: Int]
  /// The state when half of the attempts were made.
  private var half: Mark?

  private static var key: TargetKey { OutageSimulation.key }

  init(_ load: LiveLoad, mostAttempts: Int) {
    self.load = load
    self.mostAttempts = max(1, mostAttempts)
    mostSteps = 10 * self.mostAttempts
    start = max(load.now, load.returnsAt ?? load.now)
    now = start
    target = ModelTarget(
      OutageScenario.Target(latency: load.latency, overload: load.overload), capacity: load.capacity,
      failing: load.failing, outage: OutageScenario.Outage(from: .zero, to: .zero), start: start)
    call = CallSpec(simulated: load.policy, to: Self.key)
    var settings = load.settings
    settings.pace = load.pace == nil ? .fixed : .adaptive
    let waiting = load.waiting(at: start, for: Self.key)
    failed = waiting.failed
    service = VirtualService(EngineSettings(only: settings), store: VirtualStore(waiting.batches), seed: 1)
    peak = load.due
    curve = DrainCurve(start: load.now)
    curve.add(backlog: load.due, attempts: 0, at: load.now)
    begin()
  }

  private mutating func begin() {
    var pace = load.pace
    if start > load.now, load.openUntil == nil { pace?.suspend(at: load.now) }
    let record = TargetRecord(
      breaker: load.breaker(at: start), askedUntil: load.pausedUntil.flatMap { $0 > start ? $0 : nil })
    take(service.begin(Self.key, record, pace: pace, at: start))
    if load.arrivals > 0 { scheduleArrival() }
    guard start > load.now else { return }
    // Until then it grows evenly.
    let (more, time) = (backlog - load.due, start - load.now)
    for part in 1..<DrainForecast.mostPoints {
      curve.add(
        backlog: load.due + more * part / DrainForecast.mostPoints, attempts: 0,
        at: load.now + time * part / DrainForecast.mostPoints)
    }
  }

  mutating func run() -> DrainForecast {
    let end = load.now + DrainForecast.horizon
    var (steps, counted) = (0, 0)
    while attempts < mostAttempts, steps < mostSteps {
      steps += 1
      let backlog = backlog
      curve.add(backlog: backlog, attempts: Double(attempts - counted), at: now)
      counted = attempts
      peak = max(peak, backlog)
      if backlog <= load.ordinary { return result(drainsIn: now - load.now) }
      if half == nil, attempts >= mostAttempts / 2 || steps >= mostSteps / 2 {
        half = Mark(at: now, backlog: backlog, attempts: attempts)
      }
      guard let time = [events.first, service.wakeAt].compactMap({ $0 }).min(), time < end else {
        return result(obstacle: .tooLong)
      }
      advance(to: time)
    }
    return extrapolated(to: end)
  }

  private var backlog: Int { service.due(Self.key, at: now) }

  private mutating func advance(to time: Timestamp) {
    now = time
    guard events.first == time, let event = events.next()?.event else { return take(service.step([], at: now)) }
    switch event {
    case .arrival:
      take(service.step([call.submission], at: now))
      scheduleArrival()
    case .ended(let id, let number, let result):
      take(service.step([.attemptEnded(id, number: number, result)], at: now))
    }
  }

  /// Calls arrive evenly.
  private mutating func scheduleArrival() {
    arrived += 1
    // Rounded, and not now again.
    let time = max(now + .microseconds(1), start + Duration(clampingSeconds: Double(arrived) / load.arrivals))
    events.add(.arrival, at: time)
  }

  private mutating func take(_ effect: VirtualService.Effect) {
    for end in effect.ends { if let reason = end.failure { failed[reason, default: 0] += 1 } }
    for case .start(let start) in effect.actions {
      let answer = target.answer(at: now, timeout: start.timeout, using: &random)
      attempts += 1
      if answer.isOverload { refused += 1 }
      let result = answer.result(within: start.timeout)
      events.add(.ended(start.call.id, number: start.number, result), at: now + result.duration)
    }
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
    for step in 1...DrainForecast.mostPoints {
      let time = left * step / DrainForecast.mostPoints
      let there = max(0, backlog - Int((falling * time.inSeconds).rounded()))
      curve.add(backlog: there, attempts: rate * left.inSeconds / Double(DrainForecast.mostPoints), at: now + time)
    }
    failed[.deadlineExceeded, default: 0] += missedLater(rate: rate, backlog: backlog, within: left)
    attempts += Int(rate * left.inSeconds)
    return result(drainsIn: now + left - load.now, isExtrapolated: true)
  }

  /// How many calls of the backlog will miss their deadlines, and of the new ones that join it: they are taken at the
  /// rate of the attempts, without the share of new calls.
  private func missedLater(rate: Double, backlog: Int, within left: Duration) -> Int {
    let share = load.settings.newCallShare
    let late = service.store.late(at: now, perSecond: max(rate / 1000, rate - min(load.arrivals, rate * share)))
    // Without a share the wait of a new call shrinks evenly to nothing.
    let longest = Double(backlog) / rate
    guard share <= 0, longest > 0 else { return late }
    return late + Int(load.arrivals * left.inSeconds * max(0, 1 - load.policy.deadline.inSeconds / longest))
  }

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
