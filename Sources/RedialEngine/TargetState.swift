internal import RedialCore
internal import RedialModel

/// A target in the engine's memory: its breaker, its queue, and its attempts in flight.
struct TargetState: Sendable {
  let key: String
  /// The place of its namespace.
  let namespace: Int
  /// The settings in effect.
  var settings: TargetSettings
  /// Maximum attempts in flight, by its settings and by its share of all.
  var maxInFlight: Int
  /// The controls that operators have set.
  var controls = TargetControls()
  var breaker: CircuitBreaker
  /// The pattern of the rule that its settings come from.
  var pattern: String?
  /// Results of its recent attempts.
  var recent = RecentAttempts()
  /// Due calls in memory, without retries if they have a budget.
  var queue = ReadyQueue()
  /// Due retries in memory, if they have a budget.
  var retries = ReadyQueue()
  var rate: RateLimiter?
  var budget: RetryBudget?
  var slowStart: SlowStart
  /// The end of the target's Retry-After pause; nil or past if there is none.
  var retryAfterUntil: Timestamp?
  /// When its retry budget, which is used up, allows the next retry.
  var retriesUntil: Timestamp?
  /// Whether an attempt needs more checks than the number of attempts in flight.
  var isLimited = false
  /// The standing that was last reported.
  var reported = TargetStanding()
  /// Due calls in memory, the bytes of their bodies, and how many of them wait for the retry budget.
  var ready = 0
  var readyBytes = 0
  var readyRetries = 0
  /// The recent usual size of a body.
  var usualBody = 0
  /// Calls in memory, in any phase.
  var held = 0
  /// Attempts in flight.
  var inFlight = 0
  /// How many slots it has earned by answering; see Engine+Slots.
  var proven = 0
  /// When the first attempt after its last response started; ``Timestamp/distantFuture`` if none has.
  var silentSince = Timestamp.distantFuture
  /// Due calls in the store.
  var stored = 0
  /// The highest priority that a due call in the store can have.
  var storedPriority = 0
  /// How many of those were written since a refill was requested; nil while there is no refill.
  var storedSinceRefill: Int?
  /// How many calls the current refill has requested.
  var expected = 0
  /// How long it usually takes to respond.
  var responseTime = ResponseTime()
  /// When its breaker was last informed of the end of an attempt.
  var lastEnd = Timestamp.epoch
  /// When a timer will examine it again.
  var nextLook: Timestamp?
  /// Whether it is in the engine's rotation.
  var inRotation = false
  /// Whether it waits in line for more slots, or for its first.
  var isCrowded = false
  var isNewcomer = false
  /// Whether it is in the rotation because the pool had a slot for it.
  var isAdmitted = false
  /// Whether it is about to belong to another instance, so that no attempt starts any more.
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

  /// Attempts in flight beyond its earned slots.
  var borrowed: Int { max(0, inFlight - proven) }

  /// Whether it can be forgotten without loss: its failures are too old to matter.
  func isForgettable(at now: Timestamp) -> Bool {
    isIdle && breaker.state == .closed && (breaker.consecutiveFailures == 0 || lastEnd + memory <= now)
      && retryAfterUntil ?? now <= now && slowStart.share(at: now) == 1
      && rate.map { $0.available(at: now) == $0.burst } ?? true
  }

  /// Whether its breaker is still open, or half-open, only because there was no call for so long.
  func isStale(at now: Timestamp) -> Bool {
    guard isIdle else { return false }
    switch breaker.state {
    case .open(let until, _): return until + memory <= now
    case .halfOpen(let probing): return probing.inFlight == 0 && lastEnd + memory <= now
    case .closed, .forced: return false
    }
  }

  /// Whether it has no calls in memory or in the store, no attempts in flight, and no controls.
  private var isIdle: Bool {
    held == 0 && stored == 0 && inFlight == 0 && storedSinceRefill == nil && !inRotation && !isNewcomer
      && controls == TargetControls()
  }

  /// How long the results of its attempts are relevant.
  private var memory: Duration {
    guard case .time(let window) = settings.breaker.window else { return Self.leastMemory }
    return max(window, TargetSettings.retryWindow)
  }

  /// The same if the breaker's window counts calls, not time.
  private static let leastMemory = Duration.seconds(60)

  /// How long the results of its attempts are shown to people, and therefore kept.
  static let recentMemory = Duration.seconds(16 * 60)

  /// Updates whether an attempt needs more checks.
  mutating func noteLimits(at now: Timestamp) {
    if let until = retryAfterUntil, until <= now { retryAfterUntil = nil }
    isLimited = isLeaving || controls.isPaused || retryAfterUntil != nil || rate != nil || slowStart.share(at: now) < 1
  }

  /// Due calls in memory, void places included.
  var readyPlaces: [ReadyQueue.Place] { queue.contents + retries.contents }

  /// The reasons for which its calls wait.
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
      breaker: state, isPaused: controls.isPaused, heldUntil: retryAfterUntil, rateUntil: rateUntil,
      retriesUntil: retriesUntil)
  }

  /// Whether there is something to see: calls wait or run, an operator controls the target, or its breaker is not
  /// closed.
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
      heldUntil: retryAfterUntil.flatMap { $0 > now ? $0 : nil }, settings: settings)
    snapshot.overrides = controls.overrides
    snapshot.pattern = pattern
    snapshot.recent = recent
    snapshot.time = now
    return snapshot
  }
}
