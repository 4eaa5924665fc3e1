/// A circuit breaker: it stops calls to a target that keeps failing, and lets
/// single probes find out when it is well again.
///
/// Each call that it lets through carries a ``Permit``. The permit names the
/// breaker's generation, which changes with every change of state, so that a
/// result which comes in late changes nothing.
public struct CircuitBreaker: Sendable, Hashable {
  /// What the breaker is doing.
  public enum State: Sendable, Hashable {
    /// Calls pass and are judged. Leads to `open`.
    case closed
    /// No call passes before `until`. Leads to `halfOpen`. `trips` counts the openings since it last closed.
    case open(until: Timestamp, trips: Int)
    /// Probes find out. Leads to `closed` when enough of them succeed; to `open` when one
    /// fails, or when they are not done by `until`.
    case halfOpen(HalfOpen)

    /// The probing of a half-open breaker.
    public struct HalfOpen: Sendable, Hashable {
      /// When the probes are given up.
      public var until: Timestamp
      /// Probes under way.
      public var inFlight: Int
      /// Probes that have succeeded.
      public var successes: Int
      /// Openings since the breaker last closed.
      public var trips: Int
    }
  }

  /// The right to make one call, to be given back with what became of it.
  public struct Permit: Sendable, Hashable {
    /// The breaker's generation when the permit was given.
    public var generation: UInt64
    /// Whether the call is a probe of a half-open breaker.
    public var isProbe: Bool
  }

  /// The answer to a request for permission.
  public enum Admission: Sendable, Hashable {
    /// The call may go, with this permit.
    case permitted(Permit)
    /// No call may go before this time; what the answer will be then is open.
    case rejected(until: Timestamp)
  }

  /// What became of a call that had a permit.
  public enum Result: Sendable, Hashable {
    /// The target works.
    case success
    /// The target does not.
    case failure
    /// It says nothing about the target: cancelled, interrupted, this side's own fault.
    case ignored
  }

  /// The state now.
  public private(set) var state: State = .closed
  /// Failures in a row while closed.
  public private(set) var consecutiveFailures = 0
  /// Changes with every change of state.
  public private(set) var generation: UInt64 = 0
  /// When the breaker trips and how it recovers.
  public let settings: CircuitBreakerSettings
  private var window: SlidingWindow

  /// A closed breaker.
  public init(settings: CircuitBreakerSettings = CircuitBreakerSettings()) {
    self.settings = settings
    window = SlidingWindow(length: settings.window)
  }

  /// A breaker that was open when its process ended, and goes on being so.
  public init(settings: CircuitBreakerSettings, openUntil: Timestamp, trips: Int) {
    self.init(settings: settings)
    state = .open(until: openUntil, trips: trips)
    generation = 1
  }

  /// Asks whether a call may go now. An open breaker whose interval is over becomes half-open.
  public mutating func acquire(at now: Timestamp) -> Admission {
    advance(to: now)
    switch state {
    case .closed:
      return .permitted(Permit(generation: generation, isProbe: false))
    case .open(let until, _):
      return .rejected(until: until)
    case .halfOpen(var probing):
      guard probing.inFlight + probing.successes < max(1, settings.halfOpenProbes) else {
        return .rejected(until: probing.until)
      }
      probing.inFlight += 1
      state = .halfOpen(probing)
      return .permitted(Permit(generation: generation, isProbe: true))
    }
  }

  /// Whether a call could go now, without asking for a permit.
  public func admits(at now: Timestamp) -> Bool {
    var copy = self
    if case .permitted = copy.acquire(at: now) { return true }
    return false
  }

  /// Takes a permit back with what became of the call. A permit of an earlier generation changes nothing.
  public mutating func record(_ result: Result, of permit: Permit, at now: Timestamp) {
    advance(to: now)
    guard permit.generation == generation else { return }
    switch state {
    case .closed: recordClosed(result, at: now)
    case .open: break
    case .halfOpen(var probing):
      probing.inFlight -= 1
      switch result {
      case .ignored:
        state = .halfOpen(probing)
      case .failure:
        open(after: probing.trips, at: now)
      case .success:
        probing.successes += 1
        state = .halfOpen(probing)
        if probing.successes >= max(1, settings.halfOpenProbes) { close() }
      }
    }
  }

  /// Lets time pass: an open interval ends, and a half-open breaker gives up on probes that never came back.
  public mutating func advance(to now: Timestamp) {
    if case .open(let until, let trips) = state, now >= until {
      generation += 1
      state = .halfOpen(.init(until: now + settings.probeTimeout, inFlight: 0, successes: 0, trips: trips))
    }
    // Probes that nobody asked for yet are not late: only those under way can be.
    if case .halfOpen(let probing) = state, probing.inFlight > 0, now >= probing.until {
      open(after: probing.trips, at: now)
    } else if case .halfOpen(var probing) = state, probing.inFlight == 0, now >= probing.until {
      probing.until = now + settings.probeTimeout
      state = .halfOpen(probing)
    }
  }

  private mutating func recordClosed(_ result: Result, at now: Timestamp) {
    switch result {
    case .ignored:
      return
    case .success:
      consecutiveFailures = 0
      window.record(success: true, at: now)
    case .failure:
      consecutiveFailures += 1
      window.record(success: false, at: now)
    }
    // Judged after successes too: the window may only now hold its minimum.
    if shouldTrip(at: now) { open(after: 0, at: now) }
  }

  private func shouldTrip(at now: Timestamp) -> Bool {
    if settings.consecutiveFailures > 0, consecutiveFailures >= settings.consecutiveFailures { return true }
    guard settings.failureRate <= 1 else { return false }
    let (successes, failures) = window.counts(at: now)
    let total = successes + failures
    return failures > 0 && total >= max(1, settings.minimumCalls)
      && Double(failures) >= settings.failureRate * Double(total)
  }

  private mutating func open(after trips: Int, at now: Timestamp) {
    generation += 1
    var seconds = settings.openInterval.inSeconds
    let longest = max(settings.maximumOpenInterval, settings.openInterval).inSeconds
    var step = 0
    while step < trips, seconds < longest {
      seconds *= max(1, settings.openMultiplier)
      step += 1
      if settings.openMultiplier <= 1 { break }
    }
    state = .open(until: now + Duration(clampingSeconds: min(seconds, longest)), trips: trips + 1)
  }

  private mutating func close() {
    generation += 1
    state = .closed
    consecutiveFailures = 0
    window.clear()
  }
}
