internal import RedialCore
internal import RedialModel

/// A target in the engine's memory: its breaker, its queue, and what is under way.
struct TargetState: Sendable {
  let key: String
  /// The place of its namespace.
  let namespace: Int
  /// What holds for it now.
  var settings: TargetSettings
  /// The most attempts under way, by its settings and by its share of all.
  var maxInFlight: Int
  /// What operators have made of it.
  var controls = TargetControls()
  var breaker: CircuitBreaker
  /// The pattern of the rule that its settings follow.
  var pattern: String?
  /// What came of its attempts of late.
  var recent = RecentAttempts()
  /// Due calls in memory; without the retries where there is a budget of them.
  var queue = ReadyQueue()
  /// Due retries in memory, where there is a budget of them.
  var retries = ReadyQueue()
  var rate: RateLimiter?
  var budget: RetryBudget?
  var slowStart: SlowStart
  /// When the target wants to be asked again, by its own word; while it is nil or past, it may be.
  var heldUntil: Timestamp?
  /// When its retry budget, which is spent, allows the next.
  var retriesUntil: Timestamp?
  /// Whether anything but the number of attempts under way has to be asked before one begins.
  var isLimited = false
  /// What was last told of what its calls wait for.
  var told = TargetStanding()
  /// Due calls in memory, the bytes of their bodies, and those among them that wait for the retry budget.
  var ready = 0
  var readyBytes = 0
  var readyRetries = 0
  /// What a body has taken of late.
  var usualBody = 0
  /// Calls in memory, in any phase.
  var held = 0
  /// Attempts under way.
  var inFlight = 0
  /// How many of these it may have since it has proven to answer; see Engine+Slots.
  var proven = 0
  /// When the first attempt began after its last answer; ``Timestamp/distantFuture`` when none has.
  var silentSince = Timestamp.distantFuture
  /// Due calls in the store.
  var stored = 0
  /// No due call in the store has a higher priority.
  var storedPriority = 0
  /// How many of those were put there since a refill was asked for; nil when none is under way.
  var storedSinceRefill: Int?
  /// How many calls were asked for with the refill that is under way.
  var expected = 0
  /// How long it takes to answer.
  var responseTime = ResponseTime()
  /// When its breaker was last told of the end of an attempt.
  var lastEnd = Timestamp.epoch
  /// When a timer will have it looked at again.
  var nextLook: Timestamp?
  /// Whether it is in the engine's rotation.
  var inRotation = false
  /// Whether it waits in line for more slots than it has, and for its first.
  var isCrowded = false
  var isNewcomer = false
  /// Whether it is in the rotation since the pool had a slot for it.
  var isAdmitted = false
  /// Whether it is about to be another instance's, so that nothing begins any more.
  var isLeaving = false
  /// Whether its place is free.
  var isForgotten = false

  init(key: String, namespace: Int, settings: TargetSettings, most: Int) {
    self.key = key
    self.namespace = namespace
    self.settings = settings
    maxInFlight = min(settings.maxInFlight, most)
    breaker = CircuitBreaker(settings: settings.breaker)
    slowStart = SlowStart(duration: settings.slowStart)
    rate = settings.rateLimiter
    budget = settings.retryBudget
    isLimited = rate != nil
  }

  /// Attempts under way beyond what it has proven to answer.
  var borrowed: Int { max(0, inFlight - proven) }

  /// Whether nothing would be lost by forgetting it: what it failed at is as good as forgotten with its window.
  func isForgettable(at now: Timestamp) -> Bool {
    isIdle && breaker.state == .closed && (breaker.consecutiveFailures == 0 || lastEnd + memory <= now)
      && heldUntil ?? now <= now && slowStart.share(at: now) == 1
      && rate.map { $0.available(at: now) == $0.burst } ?? true
  }

  /// Whether its breaker is still open, or half-open, for no other reason than that nobody has asked for so long.
  func isStale(at now: Timestamp) -> Bool {
    guard isIdle else { return false }
    switch breaker.state {
    case .open(let until, _): return until + memory <= now
    case .halfOpen(let probing): return probing.inFlight == 0 && lastEnd + memory <= now
    case .closed, .forced: return false
    }
  }

  /// Whether nothing of it waits or is under way, and operators have made nothing of it.
  private var isIdle: Bool {
    held == 0 && stored == 0 && inFlight == 0 && storedSinceRefill == nil && !inRotation && !isNewcomer
      && controls == TargetControls()
  }

  /// How long what became of its attempts says anything of it.
  private var memory: Duration {
    guard case .time(let window) = settings.breaker.window else { return Self.leastMemory }
    return max(window, TargetSettings.retryWindow)
  }

  /// The same where the breaker's window is one of calls, which says nothing of time.
  private static let leastMemory = Duration.seconds(60)

  /// For how long what came of its attempts is shown to people, and is therefore kept.
  static let recentMemory = Duration.seconds(16 * 60)

  /// Looks anew whether there is anything to be asked before an attempt begins.
  mutating func noteLimits(at now: Timestamp) {
    if let until = heldUntil, until <= now { heldUntil = nil }
    isLimited = isLeaving || controls.isPaused || heldUntil != nil || rate != nil || slowStart.share(at: now) < 1
  }

  /// Due calls in memory, void places included.
  var readyPlaces: [ReadyQueue.Place] { queue.contents + retries.contents }

  /// What its calls wait for.
  func standing(at now: Timestamp) -> TargetStanding {
    var rateUntil: Timestamp?
    if case .rejected(let until)? = rate?.peek(at: now) { rateUntil = until }
    let state: TargetStanding.Breaker =
      switch breaker.state {
      case .open(let until, _): .open(until: until)
      case .halfOpen: .halfOpen
      case .forced(.open): .tripped
      case .closed, .forced: .closed
      }
    return TargetStanding(
      breaker: state, isPaused: controls.isPaused, heldUntil: heldUntil, rateUntil: rateUntil,
      retriesUntil: retriesUntil)
  }

  /// Whether something is going on: calls wait or run, an operator holds the target, or its breaker is not closed.
  func isActive(at now: Timestamp) -> Bool {
    if inFlight > 0 || held > 0 || stored > 0 || controls.isPaused || controls.isTripped { return true }
    var breaker = breaker
    breaker.advance(to: now)
    return breaker.state != .closed && breaker.state != .forced(.closed)
  }

  func snapshot(at now: Timestamp) -> TargetSnapshot {
    var breaker = breaker
    breaker.advance(to: now)
    let state: TargetSnapshot.BreakerState
    var openUntil: Timestamp?
    var trips = 0
    switch breaker.state {
    case .closed: state = .closed
    case .open(let until, let count):
      state = .open
      openUntil = until
      trips = count
    case .halfOpen(let probing):
      state = .halfOpen
      trips = probing.trips
    case .forced(.open): state = .open
    case .forced: state = .closed
    }
    var snapshot = TargetSnapshot(
      key: key, breaker: state, openUntil: openUntil, trips: trips,
      consecutiveFailures: breaker.consecutiveFailures, inFlight: inFlight, waiting: ready + stored,
      isPaused: controls.isPaused, isTripped: controls.isTripped,
      heldUntil: heldUntil.flatMap { $0 > now ? $0 : nil }, settings: settings)
    snapshot.overrides = controls.overrides
    snapshot.pattern = pattern
    snapshot.recent = recent
    snapshot.time = now
    return snapshot
  }
}
