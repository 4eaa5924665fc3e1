internal import RedialCore
internal import RedialModel

/// The sending side of a simulation: the service's own limits, pace and breaker, in the order in which the engine asks
/// them.
struct Sender<Pace: Pacing> {
  /// Whether an attempt may start now.
  enum Leave {
    /// It may, with the breaker's permit.
    case granted(CircuitBreaker.Permit?)
    /// When another attempt has ended.
    case afterAnother
    /// At this time at the earliest.
    case at(Timestamp)
    /// The breaker is not closed; it lets probes through at this time, or when others have ended.
    case rejected(until: Timestamp)
  }

  private(set) var pace: Pace
  private var breaker: CircuitBreaker?
  private var slowStart: SlowStart
  private var rate: RateLimiter?
  private let concurrency: Int
  /// The end of the pause that the target asked for.
  private var pausedUntil: Timestamp

  init(
    pace: Pace, breaker: CircuitBreaker?, slowStart: Duration, rate: RateLimiter? = nil, concurrency: Int,
    pausedUntil: Timestamp = .epoch
  ) {
    self.pace = pace
    self.breaker = breaker
    self.slowStart = SlowStart(duration: slowStart)
    self.rate = rate
    self.concurrency = concurrency
    self.pausedUntil = pausedUntil
  }

  /// Whether the breaker lets everything through.
  var isClosed: Bool { breaker.map { $0.state == .closed } ?? true }

  /// Whether the breaker lets nothing through.
  func isOpen(at now: Timestamp) -> Bool { breaker.map { !$0.admits(at: now) } ?? false }

  /// The state of a breaker that is not closed.
  var openUntil: OpenBreaker? {
    switch breaker?.state {
    case .open(let until, let trips): OpenBreaker(until: until, trips: trips)
    case .halfOpen(let probing): OpenBreaker(until: .epoch, trips: probing.trips)
    case .closed, .forced, nil: nil
    }
  }

  /// Asks for an attempt, beside so many in flight. If it is granted, it must start.
  mutating func leave(inFlight: Int, at now: Timestamp) -> Leave {
    guard now >= pausedUntil else { return .at(pausedUntil) }
    guard pace.hasRoom(beside: inFlight, within: slowStart.limit(of: concurrency, at: now)) else {
      return .afterAnother
    }
    if case .rejected(let until)? = rate?.peek(at: now) { return .at(until) }
    if let time = pace.wait(at: now) { return .at(time) }
    switch breaker?.acquire(at: now) {
    case .permitted(let permit): return .granted(permit)
    case .rejected(let until): return .rejected(until: until)
    case nil: return .granted(nil)
    }
  }

  /// An attempt starts.
  mutating func start(at now: Timestamp) -> Pace.Ticket {
    if rate != nil { _ = rate?.acquire(at: now) }
    return pace.start(at: now)
  }

  /// An attempt has ended.
  ///
  /// - Parameters:
  ///   - result: What it says about the target, by the policy's rules.
  ///   - call: The number of its call; nil if each attempt is of another call.
  /// - Returns: Whether the breaker has opened.
  mutating func end(
    _ answer: ModelTarget.Answer, _ result: CircuitBreaker.Result, _ permit: CircuitBreaker.Permit?,
    _ ticket: Pace.Ticket, of call: Int?, at now: Timestamp
  ) -> Bool {
    let sign = answer.sign
    // A probe that is refused is a failure: nothing else shows that the target works.
    let isLoad = sign == .refused && permit?.isProbe != true && pace.isDelivering(at: now)
    pace.end(ticket, sign, at: now)
    if let wait = answer.retryAfter { pausedUntil = max(pausedUntil, now + wait) }
    guard let permit else { return false }
    let before = breaker?.state
    breaker?.record(
      isLoad || answer.isCut ? .ignored : result, of: permit, call: call.map { UInt64($0) }, took: answer.latency,
      at: now)
    let hasOpened = before == .closed && breaker?.state != .closed
    if hasOpened { pace.suspend(at: breaker?.failingSince ?? now) }
    if before != .closed, breaker?.state == .closed {
      slowStart.start(at: now)
      pace.recover(at: now)
    }
    return hasOpened
  }
}
