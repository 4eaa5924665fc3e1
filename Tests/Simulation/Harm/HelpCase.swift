@testable internal import RedialCore
@testable internal import VirtualTime
internal import RedialModel

/// Calls to targets that are dead, overloaded, rate-limited or hanging, drawn at random: one protection should help.
struct HelpCase: RunLoad {
  private(set) var calls: [RunCall] = []
  private(set) var attemptTimeout = Duration.seconds(5)
  /// The service's limits.
  private(set) var maxInFlight = 4096
  private(set) var maxInFlightPerTarget = 64
  /// The calls to the first target that come within this time count, in seconds.
  private(set) var counted = 0.0...0.0
  /// From when on their time counts, if they come before.
  private(set) var countedFrom = 0.0
  /// The requests that are wasted at the first target within this time count.
  private(set) var wasted = 0.0...Double.infinity
  private var targets: [ModelTarget] = []
  /// What the first target takes in a fixed window of time; nil for any number.
  private var quota: Quota?
  private var random: RandomSource

  /// So many requests in each window; the others get 429 and the time until the next.
  private struct Quota {
    let limit: Int
    let seconds: Double
    var window = 0
    var taken = 0
  }

  /// Before anything goes wrong, in seconds.
  private static let calm = 30.0
  /// No more calls than can be run at once.
  private static let mostCalls = 15_000.0

  init(_ protection: Protection, seed: UInt64) {
    random = RandomSource(seed: seed &* 0x9e37_79b9_7f4a_7c15 ^ 0x6865_6c70)
    switch protection {
    case .breaker: addOutage(headroom: 0.5...4, counts: .requestsMeanwhile)
    case .pace: addOutage(headroom: 0.25...4, counts: .requestsAfter)
    case .slowStart: addOutage(headroom: 0.5...4, isCold: true, counts: .requestsAfter)
    case .newCallShare: addOutage(headroom: 0.25...1, counts: .newCalls)
    case .retryAfterPause: addQuota()
    case .retryBudget: addOverload()
    case .unprovenShare: addHanging(random.between(0.3, 3), worked: random.chance(0.5))
    case .targetShare: addOneThatHangs()
    }
    calls.sort { $0.at < $1.at }
  }

  // MARK: What goes wrong

  private enum Counted { case requestsMeanwhile, requestsAfter, newCalls }

  /// An outage in which nothing gets through. Afterwards the target takes some more than the new calls, by the headroom.
  ///
  /// - Parameter isCold: Whether it takes a tenth of that at first, and all after half a minute. It refuses nothing, but is slow.
  private mutating func addOutage(headroom: ClosedRange<Double>, isCold: Bool = false, counts: Counted) {
    let headroom = random.between(headroom.lowerBound, headroom.upperBound)
    let length = random.between(60, 600).rounded()
    let end = Self.calm + length
    // As long as the ideal sender needs, who delivers the backlog beside the new calls.
    let recovery = length / headroom + 30
    let rate = min(random.between(2, 50), Self.mostCalls / (end + 2 * recovery))
    let capacity = max(1, Int((rate * (1 + headroom)).rounded(.up)))
    var target = OutageScenario.Target(
      capacity: capacity, latency: .milliseconds(Int(random.between(5, 1000))),
      overload: random.pick([.queue(longest: .seconds(1)), .refuse(retryAfter: false)]))
    if isCold {
      target.overload = .queue(longest: .seconds(60))
      target.changes = (1...10).map {
        .init(from: .seconds(Int(end) + 3 * ($0 - 1)), capacity: max(1, capacity * $0 / 10))
      }
    }
    let failure = random.pick([OutageScenario.Outage.Failure.refused, .unanswered, .status(503), .status(500)])
    targets.append(
      ModelTarget(
        target, capacity: Double(capacity),
        outage: .init(from: .seconds(Int(Self.calm)), to: .seconds(Int(end)), failure: failure), start: World.start))
    addCalls(rate, 0...(end + 2 * recovery))
    counted = counts == .newCalls ? (end + 5)...(end + recovery / 2) : Self.calm...end
    countedFrom = counts == .newCalls ? 0 : end
    wasted = counts == .requestsMeanwhile ? Self.calm...end : end...(.infinity)
  }

  /// A quota of requests per window, which bursts of calls exceed for some time.
  private mutating func addQuota() {
    let rate = random.between(0.5, 50)
    let seconds = random.pick([1.0, 10, 60])
    quota = Quota(limit: max(1, Int(rate * seconds)), seconds: seconds)
    targets.append(healthy())
    let share = random.between(0.3, 0.9)
    for burst in 0..<5 {
      let begin = Double(burst) * 120
      let count = Int(share * Double(quota?.limit ?? 1) * 120 / seconds)
      calls += (0..<min(count, 3000)).map { _ in RunCall(at: begin + random.unitInterval()) }
    }
    counted = 0...600
  }

  /// More new calls than the target can take for some minutes, and fewer afterwards.
  private mutating func addOverload() {
    let capacity = random.pick(5...40)
    let length = random.between(60, 200)
    let load = random.between(1.2, 2)
    targets.append(
      ModelTarget(
        .init(
          capacity: capacity, latency: .milliseconds(Int(random.between(5, 1000))),
          overload: random.pick([.queue(longest: .seconds(1)), .refuse(retryAfter: false)])),
        capacity: Double(capacity), outage: Self.never, start: World.start))
    addCalls(load * Double(capacity), 0...length)
    addCalls(0.4 * Double(capacity), length...(5 * length))
    counted = 0...length
  }

  /// A healthy target, beside many that hang.
  ///
  /// - Parameters:
  ///   - share: How many times the attempts of which the service can have one each.
  ///   - worked: Whether they have answered for a time.
  private mutating func addHanging(_ share: Double, worked: Bool) {
    maxInFlight = random.pick([128, 256, 512])
    attemptTimeout = .seconds(random.pick(5...30))
    let count = Int(share * Double(maxInFlight))
    targets = [healthy()] + (0..<count).map { _ in hanging(from: worked ? Self.calm : 0) }
    let begin = worked ? Self.calm : 5
    addCalls(20, 0...(begin + 60))
    for target in 1...count {
      for _ in 0..<4 { calls.append(RunCall(at: begin + 10 * random.unitInterval(), target: target)) }
      if worked { calls += (0..<20).map { RunCall(at: Double($0) + random.unitInterval(), target: target) } }
    }
    counted = begin...(begin + 60)
  }

  /// A healthy target, beside one that has answered, may have as many attempts in flight as there are, and hangs.
  private mutating func addOneThatHangs() {
    maxInFlight = random.pick([64, 128, 256])
    maxInFlightPerTarget = maxInFlight
    attemptTimeout = .seconds(random.pick(5...30))
    let latency = random.between(0.3, 1)
    targets = [healthy(), hanging(from: Self.calm, latency: latency)]
    addCalls(10, 0...(Self.calm + 60))
    let rate = random.between(0.3, 0.9) * Double(maxInFlight) / latency
    addCalls(rate, (Self.calm - 10)...(Self.calm + 10), target: 1)
    counted = Self.calm...(Self.calm + 60)
  }

  private mutating func healthy() -> ModelTarget {
    ModelTarget(
      .init(latency: .milliseconds(Int(random.between(5, 300)))), capacity: nil, outage: Self.never, start: World.start)
  }

  private func hanging(from begin: Double, latency: Double = 0.05) -> ModelTarget {
    ModelTarget(
      .init(latency: .milliseconds(Int(latency * 1000))), capacity: nil,
      outage: .init(from: .seconds(Int(begin)), to: .seconds(86_400), failure: .unanswered), start: World.start)
  }

  private static let never = OutageScenario.Outage(from: .zero, to: .zero)

  private mutating func addCalls(_ rate: Double, _ times: ClosedRange<Double>, target: Int = 0) {
    calls += random.arrivals(rate, from: times.lowerBound) { $1 < times.upperBound }.map {
      RunCall(at: $0, target: target)
    }
  }

  // MARK: A run

  func isAwaited(_ call: Int) -> Bool { calls[call].target == 0 && counted.contains(calls[call].at) }

  mutating func answer(_ call: Int, attempt: Int, at now: Timestamp, timeout: Duration) -> ModelTarget.Answer {
    let target = calls[call].target
    if target == 0, let wait = takeQuota(at: (now - World.start).inSeconds) {
      return .init(
        outcome: .answered, status: 429, latency: ModelTarget.refusalLatency, isOverload: true,
        retryAfter: .seconds(wait))
    }
    return targets[target].answer(at: now, timeout: timeout, using: &random)
  }

  /// Counts a request. Returns how many seconds there are until the next window if there is nothing left in this.
  private mutating func takeQuota(at time: Double) -> Int? {
    guard var now = quota else { return nil }
    let window = Int(time / now.seconds)
    if window != now.window { now = Quota(limit: now.limit, seconds: now.seconds, window: window) }
    defer { quota = now }
    now.taken += 1
    return now.taken > now.limit ? Int((Double(window + 1) * now.seconds - time).rounded(.up)) : nil
  }
}
