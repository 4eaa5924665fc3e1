/// A circuit breaker: it stops calls to a target that keeps failing, and lets single probes find out when it works
/// again.
///
/// Each call that it lets through has a ``Permit``. The permit contains the breaker's generation, which changes with
/// every change of state, and expires. So a late result changes nothing, and a half-open breaker whose probes never
/// return is never stuck.
///
/// | from | event | to |
/// | --- | --- | --- |
/// | closed | a run of failures that chance does not explain, or a threshold reached with its minimum of calls | open |
/// | open | permission asked for after the interval | half-open |
/// | half-open | enough probes succeeded | closed |
/// | half-open | more probes failed than allowed, or time is up for those in flight | open, for longer |
/// | half-open | a probe ignored, or its lease over | half-open, its place free again |
/// | any | ``force(_:)`` | the state that was asked for; only ``reset()`` and ``force(_:)`` lead out of it |
public struct CircuitBreaker: Sendable, Hashable {
  /// The state now.
  public private(set) var state: State = .closed
  /// Failures in a row while closed. Those of one call count once, and those of calls that began before one that has
  /// succeeded do not count.
  public var consecutiveFailures: Int { run.count }
  /// Since when calls have failed without a success; nil if they have not.
  public var failingSince: Timestamp? { run.since }
  /// The share of failures that is usual for the target. It is kept when the breaker opens and closes.
  public private(set) var usual = UsualFailures()
  /// Changes with every change of state.
  public private(set) var generation: UInt64 = 0
  /// When the breaker trips and how it recovers.
  public private(set) var settings: CircuitBreakerSettings
  private var window: SlidingWindow
  private var places: ProbePlaces
  private var run = FailureRun()
  private var early = EarlyProbes()
  /// When it opened; nil while it is closed, and if an earlier process has opened it.
  private var brokenAt: Timestamp?
  private let seed: UInt64
  /// Permits that were given.
  private var permits: UInt64 = 0
  /// When the open interval began, or when it was first checked; nil before.
  private var openedAt: Timestamp?

  /// A closed breaker.
  ///
  /// - Parameters:
  ///   - settings: When it trips and how it recovers.
  ///   - seed: The seed for the jitter of the open intervals; breakers of several instances should have different ones.
  public init(settings: CircuitBreakerSettings = CircuitBreakerSettings(), seed: UInt64 = 0) {
    self.settings = settings
    self.seed = seed
    window = SlidingWindow(settings.window)
    places = ProbePlaces(settings.probesAtATime)
  }

  /// A breaker that was open when its process ended, and stays open.
  public init(settings: CircuitBreakerSettings, openUntil: Timestamp, trips: Int, seed: UInt64 = 0) {
    self.init(settings: settings, seed: seed)
    state = .open(until: openUntil, trips: trips)
    generation = 1
  }

  /// The outcomes from which the rates are computed.
  public func counts(at now: Timestamp) -> SlidingWindow.Counts { window.counts(at: now) }

  // MARK: Permits

  /// Asks whether a call may go now. An open breaker whose interval has passed becomes half-open.
  public mutating func acquire(at now: Timestamp) -> Admission {
    advance(to: now)
    switch state {
    case .closed, .forced(.closed), .forced(.disabled), .forced(.metricsOnly):
      return .permitted(permit(until: now + settings.permitLease))
    case .forced(.open): return .rejected(until: .distantFuture)
    case .open(let until, _): return .rejected(until: until)
    case .halfOpen(var probing):
      let expiry = now + settings.permitLease
      if let until = early.delay(at: now) { return .rejected(until: until) }
      guard hasRoom(probing), let place = places.take(until: expiry) else { return .rejected(until: probing.until) }
      // Only probes in flight have a time limit; a breaker without calls has none.
      if probing.inFlight == 0 { probing.until = now + settings.probeTimeout }
      probing.inFlight += 1
      state = .halfOpen(probing)
      let permit = permit(until: expiry, place: place)
      early.start(permit.number, isEarly: false, at: now)
      return .permitted(permit)
    }
  }

  /// Asks for a call that tells more than those which have failed: as a probe, it does not wait for the interval
  /// (``EarlyProbes``). Its success counts as that of any probe; its failure changes nothing.
  package mutating func acquireEarly(at now: Timestamp) -> Admission {
    let usual = acquire(at: now)
    guard case .rejected = usual else { return usual }
    switch state {
    case .closed, .forced: return usual
    case .open, .halfOpen: break
    }
    let opening = early.opening(at: now)
    guard opening <= now else { return .rejected(until: opening) }
    let permit = earlyPermit(at: now)
    early.start(permit.number, isEarly: true, at: now)
    return .permitted(permit)
  }

  /// Asks like ``acquire(at:)``, for a target of which some calls may hang: probes of a half-open breaker that get no answer for
  /// long do not keep others from going beside them, one each ``EarlyProbes/patience``. Their results count as those of
  /// ``acquireEarly(at:)``.
  package mutating func acquireBeside(at now: Timestamp) -> Admission {
    let usual = acquire(at: now)
    guard case .rejected(let until) = usual, let opening = openingBeside(at: now) else { return usual }
    guard opening <= now else { return .rejected(until: min(until, opening)) }
    let permit = earlyPermit(at: now)
    early.startBeside(permit.number, at: now)
    return .permitted(permit)
  }

  /// Whether ``acquireBeside(at:)`` would let a call go.
  package func admitsBeside(at now: Timestamp) -> Bool {
    admits(at: now) || openingBeside(at: now).map { $0 <= now } ?? false
  }

  private func openingBeside(at now: Timestamp) -> Timestamp? {
    guard case .halfOpen(let probing) = state, probing.inFlight > 0 else { return nil }
    return early.openingBeside(at: now)
  }

  private mutating func earlyPermit(at now: Timestamp) -> Permit {
    var permit = permit(until: now + settings.permitLease)
    permit.isEarly = true
    return permit
  }

  /// A permit for a call that goes whatever the breaker says. Its result counts as long as the breaker is closed.
  package mutating func bypass(at now: Timestamp) -> Permit { permit(until: now + settings.permitLease) }

  private mutating func permit(until expiry: Timestamp, place: ProbePlaces.Holder? = nil) -> Permit {
    permits += 1
    return Permit(generation: generation, number: permits, expiry: expiry, place: place)
  }

  /// Whether a call could go now, without asking for a permit.
  public func admits(at now: Timestamp) -> Bool {
    switch state {
    case .closed, .forced(.closed), .forced(.disabled), .forced(.metricsOnly): return true
    case .forced(.open): return false
    case .open(let until, _): return now >= until
    case .halfOpen(let probing):
      guard now >= probing.until else {
        return hasRoom(probing) || places.hasOver(at: now)
      }
      // Time is up: with probes in flight it opens again, without any it continues to wait for the first.
      return probing.inFlight == 0
    }
  }

  /// Returns a permit with the result of the call. A permit of an earlier generation, or one that has expired, changes
  /// nothing.
  ///
  /// - Parameters:
  ///   - result: The result of the call.
  ///   - permit: The permit from ``acquire(at:)``.
  ///   - call: What identifies the call among those of the target, so that its failures count once; nil if each permit
  ///     is for another call.
  ///   - took: How long the call took, for the rate of slow calls.
  ///   - now: The time of its end.
  public mutating func record(
    _ result: Result, of permit: Permit, call: UInt64? = nil, took: Duration = .zero, at now: Timestamp
  ) {
    if permit.isEarly { return endEarlyProbe(result, of: permit, took: took, at: now) }
    guard permit.generation == generation, now <= permit.expiry else { return advance(to: now) }
    let isSlow = took > settings.slowCallDuration
    switch state {
    case .closed:
      count(result, of: permit, call: call, took: took, at: now)
      // Checked after successes too: only now the window may have its minimum.
      guard result != .ignored, isBroken(by: settings, at: now) else { return }
      open(after: 0, at: now)
      brokenAt = now
    case .forced(.metricsOnly): count(result, of: permit, call: call, took: took, at: now)
    case .open, .forced: break
    case .halfOpen(var probing):
      // Results in time count before the time itself is checked.
      guard let place = permit.place, places.giveBack(place) else { return advance(to: now) }
      probing.inFlight -= 1
      precondition(probing.inFlight >= 0, "A probe ends that was not let through.")
      _ = early.end(permit.number)
      endProbe(result, isSlow: isSlow, probing, at: now)
    }
  }

  /// Lets time pass: an open interval ends, leases end, and a half-open breaker gives up on probes that never returned.
  ///
  /// If the clock steps back, the open interval begins again, and so does the time for probes: nobody waits until the
  /// clock reaches its old time.
  public mutating func advance(to now: Timestamp) {
    if case .open(let until, let trips) = state {
      if let openedAt, now < openedAt { state = .open(until: now + (until - openedAt), trips: trips) }
      openedAt = min(openedAt ?? now, now)
    }
    if case .open(let until, let trips) = state, now >= until {
      generation += 1
      places.freeAll()
      state = .halfOpen(
        .init(until: now + settings.probeTimeout, inFlight: 0, successes: 0, failures: 0, trips: trips))
    }
    guard case .halfOpen(var probing) = state else { return }
    probing.until = min(probing.until, now + settings.probeTimeout)
    if now >= probing.until {
      // Probes that were not requested yet are not late: only those in flight can be.
      guard probing.inFlight == 0 else { return open(after: probing.trips, at: now) }
      probing.until = now + settings.probeTimeout
    } else {
      probing.inFlight -= places.freeOver(at: now, latest: now + settings.permitLease)
      precondition(probing.inFlight >= 0, "The time of a probe is over that was not let through.")
    }
    state = .halfOpen(probing)
  }

  // MARK: Operators

  /// Forces the breaker into a state of the operator's choice, until ``reset()``. Results of calls in flight change
  /// nothing.
  public mutating func force(_ forced: Forced) {
    generation += 1
    places.freeAll()
    state = .forced(forced)
  }

  /// Opens a breaker as if a threshold had been reached; a forced one stays as it is.
  public mutating func trip(at now: Timestamp) {
    switch state {
    case .forced: break
    case .open(let until, let trips):
      // It was opened already, and is never opened for a shorter time.
      let longer = now + settings.openInterval(afterTrips: 0, draw: 0.5)
      if longer > until {
        state = .open(until: longer, trips: trips)
        openedAt = now
      }
    case .closed: open(after: 0, at: now)
    case .halfOpen(let probing): open(after: probing.trips, at: now)
    }
  }

  /// Continues with other settings, in the same state, unless it would not have opened by them: then it closes. An open
  /// breaker has its interval by the new settings, a half-open one begins its probes again. Its counts are reset, and
  /// results of calls in flight change nothing.
  ///
  /// - Parameter settings: When it trips and how it recovers from now on.
  public mutating func change(to settings: CircuitBreakerSettings) {
    let isBroken = isBroken(by: settings)
    self.settings = settings
    generation += 1
    // What has opened it is kept until it closes.
    if brokenAt == nil {
      run = FailureRun()
      window = SlidingWindow(settings.window)
    }
    places = ProbePlaces(settings.probesAtATime)
    switch state {
    case .open where !isBroken, .halfOpen where !isBroken:
      close()
    case .open(let until, let trips):
      var random = RandomSource(seed: seed &+ generation)
      let interval = settings.openInterval(afterTrips: max(0, trips - 1), draw: random.unitInterval())
      state = .open(until: openedAt.map { $0 + interval } ?? until, trips: trips)
    case .halfOpen(var probing):
      probing.inFlight = 0
      probing.successes = 0
      probing.failures = 0
      state = .halfOpen(probing)
    case .closed, .forced: break
    }
  }

  /// Closes the breaker, and forgets what it has counted. What it has learned to be usual stays.
  public mutating func close() {
    generation += 1
    state = .closed
    brokenAt = nil
    run = FailureRun()
    window = SlidingWindow(settings.window)
    places.freeAll()
  }

  /// Closes the breaker, and forgets what it has counted and learned.
  public mutating func reset() {
    close()
    usual = UsualFailures()
  }

  /// Goes on with what was usual in the process before.
  public mutating func recall(_ usual: UsualFailures) {
    self.usual = usual
  }

  // MARK: Transitions

  /// As many at a time as the settings say, and no more in all than the decision can need.
  private func hasRoom(_ probing: State.HalfOpen) -> Bool {
    probing.inFlight < settings.probesAtATime
      && probing.inFlight + probing.successes + probing.failures < settings.probesToDecide
  }

  private mutating func count(_ result: Result, of permit: Permit, call: UInt64?, took: Duration, at now: Timestamp) {
    switch result {
    case .ignored: return
    case .failure:
      if !run.fail(permit.number, of: call, at: now) { usual.learn(failures: 1, of: 1, at: now) }
    case .success:
      let failures = run.succeed(permit.number)
      usual.learn(failures: failures, of: failures + 1, at: now)
      usual.learn(took)
    }
    window.record(isFailure: result == .failure, isSlow: took > settings.slowCallDuration, at: now)
  }

  private func isBroken(by settings: CircuitBreakerSettings, at now: Timestamp) -> Bool {
    if settings.consecutiveFailures > 0, run.count >= settings.consecutiveFailures,
      run.length(at: now) >= usual.time(atLeast: settings.failureTime),
      usual.isUnlikely(run: run.count, significance: settings.significance)
    {
      return true
    }
    guard settings.failureRate <= 1 || settings.slowCallRate <= 1 else { return false }
    let counts = window.counts(at: now)
    guard counts.total >= max(1, settings.minimumCalls) else { return false }
    return Self.reaches(settings.failureRate, counts.failures, of: counts.total)
      || Self.reaches(settings.slowCallRate, counts.slow, of: counts.total)
  }

  /// Whether it would have opened by other settings, too; one that an earlier process has opened, unless they turn it off.
  package func isBroken(by settings: CircuitBreakerSettings) -> Bool {
    brokenAt.map { isBroken(by: settings, at: $0) } ?? !settings.isOff
  }

  /// Even a rate of 0 needs one.
  private static func reaches(_ rate: Double, _ count: Int, of total: Int) -> Bool {
    rate <= 1 && count > 0 && Double(count) >= rate * Double(total)
  }

  /// A slow probe is not a success if slow calls count.
  private mutating func endProbe(_ result: Result, isSlow: Bool, _ ended: State.HalfOpen, at now: Timestamp) {
    var probing = ended
    switch result {
    case .ignored: state = .halfOpen(probing)
    case .success where !isSlow || settings.slowCallRate > 1:
      probing.successes += 1
      state = .halfOpen(probing)
      if probing.successes >= settings.successesNeeded { close() }
    case .success, .failure:
      probing.failures += 1
      state = .halfOpen(probing)
      if probing.failures > settings.failuresBorne { open(after: probing.trips, at: now) }
    }
  }

  /// The success of an early probe makes an open breaker half-open, if it does not close it.
  private mutating func endEarlyProbe(_ result: Result, of permit: Permit, took: Duration, at now: Timestamp) {
    guard early.end(permit.number), now <= permit.expiry, result == .success,
      took <= settings.slowCallDuration || settings.slowCallRate > 1
    else { return advance(to: now) }
    // With probes in flight it counts before their time is checked, as theirs do.
    if case .open = state { advance(to: now) }
    if case .open(_, let trips) = state {
      generation += 1
      places.freeAll()
      state = .halfOpen(
        .init(until: now + settings.probeTimeout, inFlight: 0, successes: 0, failures: 0, trips: trips))
    }
    guard case .halfOpen(let probing) = state else { return }
    endProbe(.success, isSlow: false, probing, at: now)
  }

  private mutating func open(after trips: Int, at now: Timestamp) {
    if state == .closed { early.beginOutage(after: permits) }
    generation += 1
    places.freeAll()
    run.end()
    var random = RandomSource(seed: seed &+ generation)
    let interval = settings.openInterval(afterTrips: trips, draw: random.unitInterval())
    state = .open(until: now + interval, trips: trips.next)
    openedAt = now
  }
}

extension Int {
  /// One more, unless that overflows: with 32 bits, it may.
  var next: Int { self < .max ? self + 1 : self }
}
