internal import RedialCore
internal import RedialModel

/// How a target stands: what may start, what people see of it, and whether it can be forgotten.
extension TargetState {
  /// Due calls in memory that are not new, and could be the next.
  var readyBacklog: Int { max(0, occupancy.ready - due.waitingNew - due.passedOver) }

  /// Whether calls are due, in memory or in the store.
  var hasDue: Bool { occupancy.ready + stored.count > 0 }

  /// Whether a call could start now.
  func canRun(at now: Timestamp) -> Bool {
    breaker.admitsBeside(at: now) && !limits.isPaused && limits.pause.until == nil
  }

  /// Whether its pace is limited to what it can take.
  var isPaced: Bool { limits.pace?.rate != nil }

  /// Whether a call does not wait with the rest for what other callers have caused: for the interval of the breaker,
  /// because it tells more than they do, or for the pace after what may not have been an outage of the target.
  func goesAhead(_ call: CallSpec) -> Bool {
    guard !failing.isEmpty else { return false }
    return switch breaker.state {
    case .closed: failing.isUnproven && isPaced && !failing.fails(call.callers)
    case .open, .halfOpen: failing.isTelling(call.callers)
    case .forced: false
    }
  }

  /// How little a call that goes ahead tells about the target, 0 at best; nil for one that does not.
  func doubt(_ call: CallSpec) -> Int? {
    guard goesAhead(call) else { return nil }
    return breaker.state == .closed ? 0 : failing.doubt(call.callers)
  }

  /// Whether a call ends because it does not wait for an open breaker.
  func trips(_ call: CallSpec, at now: Timestamp) -> Bool {
    call.policy.onTrip == .fail && !breaker.admits(at: now) && !goesAhead(call)
  }

  /// A change of the breaker, of which others learn.
  enum BreakerChange: Sendable {
    case opened(until: Timestamp, trips: Int)
    case halfOpened
    case closed
  }

  /// Whether it can be forgotten without loss: its failures are too old to matter.
  ///
  /// - Parameter isQueued: Whether it is in the rotation, or waits for a slot.
  func isForgettable(isQueued: Bool, at now: Timestamp) -> Bool {
    isIdle && !isQueued && breaker.state == .closed && record.outage == nil
      && (breaker.consecutiveFailures == 0 || lastEnd + memory <= now)
      && limits.pause.until ?? now <= now && limits.slowStart.share(at: now) == 1
      && limits.pace.map { $0.rate == nil || $0.changedAt + memory <= now } ?? true
      && limits.rate.map { $0.available(at: now) == $0.burst } ?? true
  }

  /// Whether attempts have ended within the time for which a saved pace is used.
  func isUsed(at now: Timestamp) -> Bool { now - lastEnd < SavedPace.memory }

  /// Whether its breaker is still open, or half-open, only because there was no call for so long.
  ///
  /// - Parameter isQueued: Whether it is in the rotation, or waits for a slot.
  func isStale(isQueued: Bool, at now: Timestamp) -> Bool {
    guard isIdle, !isQueued else { return false }
    switch breaker.state {
    case .open(let until, _): return until + memory <= now
    case .halfOpen(let probing): return probing.inFlight == 0 && lastEnd + memory <= now
    case .closed, .forced: return false
    }
  }

  /// When an outage of it lapses unless it is called before: nobody waits for it, and what was seen of it is too old to be
  /// shown. Nil while calls are due or run.
  ///
  /// That is longer than the longest wait between two attempts of the default policy.
  var outageLapsesAt: Timestamp? {
    guard occupancy.inFlight == 0, !hasDue else { return nil }
    var last = lastEnd
    if case .open(let until, _) = breaker.state { last = max(last, until) }
    return last + Self.recentMemory
  }

  /// Whether it has no calls in memory or in the store, no attempts in flight, and no controls.
  private var isIdle: Bool {
    occupancy.held == 0 && stored.count == 0 && occupancy.inFlight == 0 && !stored.isRefilling
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

  /// The reasons for which its calls wait.
  func standing(at now: Timestamp) -> TargetStanding {
    var rateUntil: Timestamp?
    if case .rejected(let until)? = limits.rate?.peek(at: now) { rateUntil = until }
    let state: TargetStanding.Breaker =
      switch breaker.state {
      case .open(let until, _): .open(until: until)
      case .halfOpen: .halfOpen
      case .forced(.open): .tripped
      case .closed, .forced: .closed
      }
    return TargetStanding(
      breaker: state, isPaused: isPaused, isPaced: isPaced, paceUntil: limits.pace?.opening(at: now),
      lacksConnection: lacksConnection,
      retryAfterUntil: limits.pause.until, rateUntil: rateUntil,
      retriesUntil: limits.retriesUntil)
  }

  /// Whether there is something to see: calls wait or run, the target is paused or tripped, its breaker is not
  /// closed, or a part of it fails.
  func isActive(at now: Timestamp) -> Bool {
    if occupancy.inFlight > 0 || occupancy.held > 0 || stored.count > 0 { return true }
    if isPaused || controls.isTripped || !parts.shown(at: now).isEmpty { return true }
    var breaker = breaker
    breaker.advance(to: now)
    return breaker.state != .closed && breaker.state != .forced(.closed)
  }

  /// Whether it is down, held or fails, or calls wait for it.
  func isTroubled(at now: Timestamp) -> Bool {
    record.outage != nil || isPaused || controls.isTripped || dueCalls > 0 || recent.isFailing(at: now)
      || !parts.shown(at: now).isEmpty
  }

  /// Its due calls, in memory and in its queue in the store.
  var dueCalls: Int { occupancy.ready + stored.count }

  /// The target as people see it.
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
      consecutiveFailures: breaker.consecutiveFailures, inFlight: occupancy.inFlight,
      waiting: dueCalls,
      isPaused: isPaused, isTripped: controls.isTripped,
      retryAfterUntil: limits.pause.until.flatMap { $0 > now ? $0 : nil }, settings: settings)
    snapshot.pace = limits.pace
    snapshot.storedCalls = stored.count
    snapshot.overrides = controls.overrides
    snapshot.pattern = pattern
    snapshot.outage = record.outage
    snapshot.pastOutages = record.current(at: now).pastOutages
    snapshot.failing = parts.shown(at: now)
    snapshot.recent = recent
    snapshot.ends = ends
    snapshot.time = now
    return snapshot
  }
}
