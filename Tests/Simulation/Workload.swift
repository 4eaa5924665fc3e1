internal import RedialCore
internal import RedialEngine
internal import RedialJSON
@testable internal import RedialModel

/// The engine's settings in a run, and its clients' submissions.
enum Workload {
  static func settings(_ random: inout RandomSource) -> EngineSettings {
    let perTarget = random.pick(1...6)
    var settings = EngineSettings(
      maxInFlight: random.pick(2...12), maxInFlightPerTarget: perTarget, maxHeld: random.pick(24...96),
      maxHeldBytes: random.chance(0.2) ? 1600 : 1 << 20, maxReadyPerTarget: random.pick(2...12),
      maxParkedPerTarget: random.pick(1...12),
      maxUnfinished: random.chance(0.1) ? 40 : 10_000, maxTargets: random.pick(2...8),
      holdWindow: .milliseconds(random.pick(0...5000)), claimAhead: .milliseconds(random.pick(0...1000)),
      claimBatch: random.pick(1...10), maxInterruptions: random.pick(1...5),
      storeRetry: .milliseconds(random.pick(random.chance(0.2) ? 0...5 : 100...2000)),
      breaker: CircuitBreakerSettings(
        consecutiveFailures: random.pick(2...5), significance: 1, failureRate: random.chance(0.5) ? 0.5 : 2,
        window: random.chance(0.7) ? .time(.seconds(20)) : .calls(12),
        minimumCalls: 6, openInterval: .milliseconds(random.pick(500...5000)), openMultiplier: 2,
        maximumOpenInterval: .seconds(20), halfOpenProbes: random.pick(1...3),
        probeTimeout: .milliseconds(random.pick(1000...30_000))),
      webhookPolicy: RetryPolicy(
        maxAttempts: 40, deadline: .seconds(86_400), attemptTimeout: .seconds(5),
        backoff: Backoff(initial: .seconds(1), multiplier: 2, maximum: .seconds(20)),
        retryOn: RetryConditions(network: .always, statuses: StatusSet([300...599])),
        retryAfter: RetryAfterRule(isRespected: true, maximum: .seconds(60))))
    // With a share of 1, only the rotation decides.
    settings.namespaceShare = random.pick([0.5, 1])
    settings.target.slowStart = random.pick([.zero, .seconds(2), .seconds(10)])
    settings.maxRetryAfterPause = random.pick([.milliseconds(500), .seconds(5), .seconds(60)])
    // Without a draw of its own, so that the seeds of earlier bugs keep their runs.
    settings.target.pace = settings.target.breaker.consecutiveFailures % 2 == 0 ? .adaptive : .fixed
    if settings.maxInterruptions > 3 { settings.target.breaker.significance = 1e-6 }
    if settings.maxInterruptions > 4 { settings.target.breaker.failureTime = .seconds(2) }
    if settings.maxInterruptions == 2 { settings.maxConnectionsPerOrigin = settings.target.breaker.consecutiveFailures }
    settings.target.newCallShare = [0.5, 0.8, 0.5, 0, 0.95][settings.maxInterruptions - 1]
    // Once a call was given up after one more.
    settings.maxInterruptions += 1
    return settings
  }

  /// Whether instances share the store, and how many.
  static func share(_ settings: inout EngineSettings, _ random: inout RandomSource) -> Int {
    guard random.chance(0.5) else { return 1 }
    let milliseconds = random.pick(4000...20_000)
    let duration = Duration.milliseconds(milliseconds)
    settings.leases = LeaseSettings(
      duration: duration, margin: duration / random.pick(8...12), interval: .milliseconds(random.pick(500...4000)))
    // Half of them ask less often while they have nothing to do.
    settings.leases?.rest = milliseconds % 2 == 0 ? duration : .milliseconds(500)
    return random.pick([1, 2, 2, 3])
  }

  /// Whether instances forward submissions. Their patience is so short that they often store calls that their owners store,
  /// too.
  static func forward(_ settings: inout EngineSettings, _ random: inout RandomSource) {
    guard settings.leases != nil, random.chance(0.5) else { return }
    settings.forwarding = ForwardingSettings(patience: .milliseconds(random.pick([10, 20, 50, 200, 1000])))
  }

  /// An instance's clock, whose rate differs by no more than the leases allow.
  static func clock(of settings: EngineSettings, _ random: inout RandomSource) -> SimulatedClock {
    guard settings.leases != nil, random.chance(0.7) else { return SimulatedClock() }
    return SimulatedClock(
      offset: .milliseconds(random.pick(-2000...2000)), drift: Int64(random.pick(-30_000...30_000)))
  }

  /// The overrides that an operator sets for a target.
  static func overrides(_ random: inout RandomSource) -> TargetOverrides {
    var overrides = TargetOverrides()
    if random.chance(0.4) {
      overrides.ratePerSecond = random.pick([0.5, 2, 10])
      overrides.rateBurst = random.pick(1...4)
    }
    if random.chance(0.4) {
      overrides.retriesPerSecond = 1
      overrides.retryShare = random.pick([0, 0.1, 0.5])
    }
    if random.chance(0.3) { overrides.maxInFlight = random.pick(1...8) }
    // Without a draw of its own. It changes what people see and nothing else, so that earlier seeds keep their runs.
    overrides.redact = overrides.maxInFlight.flatMap { JSONPointer("/card\($0)") }.map { [$0] }
    if random.chance(0.3) { overrides.slowStart = random.pick([.zero, .seconds(5), .seconds(30)]) }
    if random.chance(0.3) { overrides.attemptTimeout = random.duration(50...5000) }
    if random.chance(0.4) {
      overrides.consecutiveFailures = random.pick(1...6)
      // Off, in some cases without a rule in its place.
      if overrides.consecutiveFailures == 5 { overrides.consecutiveFailures = 0 }
      overrides.probes = random.pick(1...3)
      overrides.openInterval = random.duration(100...5000)
      overrides.pace = overrides.probes == 3 ? .fixed : .adaptive
      overrides.newCallShare = overrides.consecutiveFailures == 6 ? 0.3 : nil
    }
    return overrides
  }

  static func targets(
    from start: Timestamp, for length: Duration, sharingOrigin: Bool, _ random: inout RandomSource
  ) -> [SimulatedNetwork.Target] {
    let spaces = random.pick(1...NamespaceWatch.names.count)
    return (0..<random.pick(1...4)).map { number in
      let outages = (0..<random.pick(0...2)).map { _ in
        let from = start + random.duration(0...length.inSeconds * 1000)
        return from..<(from + random.duration(500...60_000))
      }
      let slowest = random.chance(0.3) ? 8000.0 : 300
      return SimulatedNetwork.Target(
        key: TargetKey("http://target\(number)", in: NamespaceWatch.names[random.pick(0...spaces - 1)]),
        latency: 1...slowest, failureRate: random.pick([0, 0.05, 0.3, 0.6]),
        outages: outages, capacity: number == 2 ? RateLimiter(permits: 5, burst: 5) : nil,
        sharesOrigin: sharingOrigin)
    }
  }

  static func descriptor(
    to target: SimulatedNetwork.Target, callback: SimulatedNetwork.Target, at now: Timestamp,
    _ random: inout RandomSource
  ) -> CallDescriptor {
    var policy = RetryPolicy.service
    policy.maxAttempts = random.pick(1...6)
    // Either soon over, or so late that a call which waits for its deadline is noticed.
    policy.deadline = random.chance(0.4) ? random.duration(200...20_000) : .seconds(86_400)
    policy.attemptTimeout = random.duration(100...10_000)
    let initial = random.duration(10...5000)
    let curve: BackoffCurve = random.pick([
      .exponential(initial: initial, multiplier: 2), .exponential(initial: initial, multiplier: 2),
      .decorrelated(base: initial), .fibonacci(initial: initial), .schedule([initial, .seconds(6)], then: .stop),
    ])
    policy.backoff = Backoff(
      curve, maximum: .seconds(15), jitter: random.pick([.none, .full, .equal, .proportional(factor: 0.5)]))
    policy.retryOn.network = random.pick([.never, .whenNotSent, .always, .always])
    policy.retryAfter.maximum = .seconds(30)
    policy.retryAfter.beyond = random.chance(0.5) ? .stop : .park
    policy.onTrip = random.chance(0.25) ? .fail : .wait
    let all = EventType.ofCallbacks
    let events = random.chance(0.7) ? all : [random.pick(all)]
    let answersTo = random.chance(0.5) ? Callback(url: callback.url, events: events) : nil
    let priority = random.chance(0.3) ? random.pick(0...9) : CallSpec.defaultPriority
    let orderingKey = random.chance(0.3) ? random.pick(["a", "b"]) : nil
    let spec = CallSpec(
      url: target.url, method: "POST", headers: orderingKey.map { [HeaderField("Authorization", $0)] } ?? [],
      target: target.key, policy: policy, captureLimit: 100
    ) {
      $0.labels = [CallSpec.Label(name: "tenant", value: policy.maxAttempts % 2 == 0 ? "even" : "odd")]
      $0.callback = answersTo
      $0.isSensitive = policy.maxAttempts == 6
      $0.priority = priority
      $0.orderingKey = orderingKey
    }
    let start: CallDescriptor.Start
    switch random.pick(0...9) {
    case 0...5: start = .after(.zero)
    case 6, 7: start = .after(random.duration(1...8000))
    case 8: start = .after(random.duration(1...120_000))
    default: start = .at(Timestamp(microseconds: now.microseconds + Int64(random.pick(-5_000_000...60_000_000))))
    }
    return CallDescriptor(
      spec: spec, body: Array(repeating: 0x78, count: random.pick(0...60)), start: start)
  }
}
