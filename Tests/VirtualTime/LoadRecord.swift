internal import RedialCore
internal import RedialModel

/// The counts while a scenario runs.
struct LoadRecord {
  private(set) var totals = OutageFigures.Totals()
  private let scenario: OutageScenario
  private let start: Timestamp
  private let step: Duration
  private var steps: [OutageFigures.Step]
  /// How many steps have ended.
  private var closed = 0
  private var latencies: [Duration] = []
  /// Of the calls that were accepted between the outage's end and the recovery.
  private var latenciesInRecovery: [Duration] = []
  private(set) var recovery: Duration?

  private static let stepCount = 240

  init(_ scenario: OutageScenario, start: Timestamp) {
    self.scenario = scenario
    self.start = start
    let length = max(1000, (scenario.duration.wholeMicroseconds + Int64(Self.stepCount) - 1) / Int64(Self.stepCount))
    step = .microseconds(length)
    steps = Array(repeating: .init(), count: Int(max(1, (scenario.duration.wholeMicroseconds + length - 1) / length)))
  }

  /// The recovery of the ideal sender.
  private(set) var ideal = IdealSender()
  /// Attempts that the target refused between the outage's end and the recovery.
  private(set) var refusedInRecovery = 0

  mutating func called(at now: Timestamp) {
    ideal.called()
    totals.calls += 1
    steps[index(of: now)].calls += 1
  }

  mutating func attempted(at now: Timestamp, isOverload: Bool) {
    totals.attempts += 1
    totals.overload += isOverload ? 1 : 0
    if isOverload, recovery == nil, now - start >= scenario.outage.to { refusedInRecovery += 1 }
    steps[index(of: now)].attempts += 1
    steps[index(of: now)].overload += isOverload ? 1 : 0
  }

  mutating func succeeded(after time: Duration, at now: Timestamp) {
    totals.succeeded += 1
    steps[index(of: now)].succeeded += 1
    latencies.append(time)
    let since = (now - start) - time - scenario.outage.to
    if since >= .zero, recovery.map({ since < $0 }) ?? true { latenciesInRecovery.append(time) }
  }

  mutating func failed(_ reason: StopReason, at now: Timestamp) {
    totals.failed[reason, default: 0] += 1
    steps[index(of: now)].failed += 1
  }

  /// Looks at how many calls are unfinished, which shows the recovery. Lets the ideal sender deliver what the target
  /// can take.
  mutating func observe(unfinished: Int, capacity: Double?, at now: Timestamp) {
    let time = now - start
    guard time >= scenario.outage.from else { return ideal.learnUsual(unfinished) }
    guard time >= scenario.outage.to else { return }
    let sinceOutage = time - scenario.outage.to
    ideal.drain(capacity, unfinished: unfinished, after: sinceOutage, latency: scenario.target.latency)
    if recovery == nil, unfinished <= ideal.enough { recovery = sinceOutage }
  }

  /// Records the state at the end of every step up to a time.
  mutating func advance(to time: Timestamp, unfinished: Int, isOpen: Bool) {
    while closed < steps.count, start + step * (closed + 1) <= time || closed + 1 == steps.count && time >= end {
      steps[closed].unfinished = unfinished
      steps[closed].isOpen = isOpen
      closed += 1
    }
  }

  private var end: Timestamp { start + scenario.duration }

  private func index(of now: Timestamp) -> Int {
    min(steps.count - 1, Int((now - start).wholeMicroseconds / step.wholeMicroseconds))
  }

  func figures(unfinished: Int, isCutShort: Bool) -> OutageFigures {
    var totals = totals
    totals.unfinished = unfinished
    let busiest = steps.indices.max { steps[$0].attempts < steps[$1].attempts } ?? 0
    return OutageFigures(
      scenario: scenario, steps: isCutShort ? Array(steps[..<closed]) : steps, step: step, totals: totals,
      peak: Double(steps[busiest].attempts) / step.inSeconds, peakAt: step * busiest, recovery: recovery,
      latency: .init(latencies), latencyInRecovery: .init(latenciesInRecovery), isCutShort: isCutShort)
  }
}
