internal import RedialCore
internal import RedialModel

/// The counts while a scenario runs.
struct LoadRecord {
  private(set) var totals = OutageForecast.Totals()
  private let scenario: OutageScenario
  private let start: Timestamp
  private let step: Duration
  private var steps: [OutageForecast.Step]
  /// How many steps have ended.
  private var closed = 0
  private var latencies: [Duration] = []
  /// The maximum number of unfinished calls at a time before the outage.
  private var usual = 0
  private var recovery: Duration?

  private static let stepCount = 240

  init(_ scenario: OutageScenario, start: Timestamp) {
    self.scenario = scenario
    self.start = start
    let length = max(1000, (scenario.duration.wholeMicroseconds + Int64(Self.stepCount) - 1) / Int64(Self.stepCount))
    step = .microseconds(length)
    steps = Array(repeating: .init(), count: Int(max(1, (scenario.duration.wholeMicroseconds + length - 1) / length)))
  }

  mutating func called(at now: Timestamp) {
    totals.calls += 1
    steps[index(of: now)].calls += 1
  }

  mutating func attempted(at now: Timestamp, isOverload: Bool) {
    totals.attempts += 1
    totals.overload += isOverload ? 1 : 0
    steps[index(of: now)].attempts += 1
    steps[index(of: now)].overload += isOverload ? 1 : 0
  }

  mutating func succeeded(after time: Duration, at now: Timestamp) {
    totals.succeeded += 1
    steps[index(of: now)].succeeded += 1
    latencies.append(time)
  }

  mutating func failed(_ reason: StopReason, at now: Timestamp) {
    totals.failed[reason, default: 0] += 1
    steps[index(of: now)].failed += 1
  }

  /// Records how many calls are unfinished, which shows the recovery.
  mutating func note(unfinished: Int, at now: Timestamp) {
    let time = now - start
    if time < scenario.outage.from {
      usual = max(usual, unfinished)
    } else if time >= scenario.outage.to, recovery == nil, unfinished <= max(1, usual) {
      recovery = time - scenario.outage.to
    }
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

  func forecast(unfinished: Int, isCutShort: Bool) -> OutageForecast {
    var totals = totals
    totals.unfinished = unfinished
    let busiest = steps.indices.max { steps[$0].attempts < steps[$1].attempts } ?? 0
    return OutageForecast(
      scenario: scenario, steps: isCutShort ? Array(steps[..<closed]) : steps, step: step, totals: totals,
      peak: Double(steps[busiest].attempts) / step.inSeconds, peakAt: step * busiest, recovery: recovery,
      latency: .init(latencies), isCutShort: isCutShort)
  }
}
