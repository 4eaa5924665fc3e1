/// Brings a target back after an outage: finds how many requests per second it can take, until nothing is held back.
///
/// There is no limit but after an outage. Refusals, slow answers and silence of a target that delivers begin none: most
/// often they are not about the load, and then a limit does harm. When the target works again after an outage that
/// lasted longer than seconds, the pace is a rate. It is judged in rounds of some fifty requests:
///
/// - It begins at the usual rate, after an outage of less than half a minute at twice that, and grows by a half each round,
///   until there is a sign of overload (as in slow start; RFC 5681, section 3.1). A lower beginning costs targets with slow
///   answers a round for each doubling, and was refused no less.
/// - Of all requests that started in a round, the share *p* was refused. The next rate is
///   rate · (1 − *p*) / (1 − *a*): a small share *a* of refusals is aimed at, which shows that all of the capacity is
///   used.
/// - A queue at the target lengthens even the shortest response time of a round (Nichols and Jacobson, "Controlling
///   Queue Delay", ACM Queue 2012). What is delivered meanwhile is the capacity (as in BBR; Cardwell et al., ACM Queue
///   2016), and the next rate is the capacity with a correction that keeps the queue short (as in TIMELY; Mittal et al.,
///   SIGCOMM 2015).
/// - The share that the target refused while there was no limit is usual for it, and counts no longer. Nor do refusals,
///   or a queue, that stay when the rate falls.
/// - When the limit has held nothing back for a quarter of a minute, there is none any more.
///
/// Nothing is allocated. If the clock steps back, a request waits for one interval at most.
public struct AdaptivePace: Sendable, Hashable {
  /// What the end of a request says about the target's load.
  public enum Sign: Sendable, Hashable {
    /// It was processed, after this time.
    case delivered(after: Duration)
    /// It was refused because of load: 429, 503, or another server error with `Retry-After`.
    case refused
    /// No response arrived in time.
    case silent
    /// It says nothing about the load: another failure, or an end on this side.
    case none

    /// The sign of a response.
    ///
    /// - Parameters:
    ///   - status: Its status.
    ///   - time: How long it took.
    ///   - asksToWait: Whether it asks to wait; evaluated only where that counts.
    public init(status: Int, after time: Duration, asksToWait: @autoclosure () -> Bool) {
      switch status {
      case 429, 503: self = .refused
      case ..<500: self = .delivered(after: time)
      default: self = asksToWait() ? .refused : .none
      }
    }
  }

  /// Why the pace changed last.
  public enum Reason: UInt8, Sendable, Hashable, CaseIterable {
    /// There was no outage, or what came after it is over.
    case noOverload
    /// The target works again after an outage.
    case recovered
    /// The target took all that it got.
    case grew
    /// The target refused requests, or did not answer them in time.
    case refused
    /// Requests wait in a queue at the target.
    case queued
    /// Fewer requests did not help, so more are tried, or the signs were not about the load.
    case notLoad
  }

  /// A request in flight: the round and the span of time in which it started.
  public struct Ticket: Sendable, Hashable {
    let round: UInt32
    let span: UInt32
  }

  /// Requests per second, ``slowest`` or more; nil for no limit.
  public internal(set) var rate: Double?
  /// Why the pace changed last.
  public internal(set) var reason = Reason.noOverload
  /// When it changed last.
  public internal(set) var changedAt = Timestamp.epoch
  /// Requests per second that the target processed, on average of the last rounds.
  public internal(set) var delivered = 0.0

  /// Requests per second that the target processed when it was last overloaded; 0 if it never was.
  public internal(set) var full = 0.0

  var gate = StartGate()
  private var young = YoungRequests()
  /// The round that requests start in.
  var round = PaceRound()
  /// A round that waits for the ends of its requests. What starts meanwhile is not judged.
  var ending: PaceRound?
  var baseline = LoadBaseline()
  var capacity = CapacityEstimate()
  var cycle = RefusalCycle()
  var isRising = false
  /// Whether it rises slowly, since there was too much once.
  var isSearching = false
  /// Whether the target had a queue in the last round; whether it had one since the last recovery.
  var isQueued = false
  var hasQueued = false
  /// Rounds in a row without a sign of overload.
  var quietRounds = 0
  /// Since when the limit has held nothing back; nil if it has, in the last round.
  var unusedSince: Timestamp?
  private var isSuspended = false
  /// When the outage began, and when it ended; one that follows soon is the same.
  private var outageFrom = Timestamp.epoch
  private var outageTo = Timestamp.epoch
  private var lastDelivery = Timestamp.epoch

  /// The lowest rate: one request in ten seconds.
  public static let slowest = 0.1
  /// The share of refusals that is aimed at.
  static let aim = 0.005
  /// After an outage that is no longer, a target begins at twice its usual rate: it has hardly had the time to become cold.
  static let shortOutage = Duration.seconds(30)
  /// After one that is no longer there is no limit: there is hardly a backlog, and it may have been chance.
  static let momentaryOutage = Duration.seconds(5)
  /// An outage that begins so soon after another is the same: the target does not take its load.
  static let relapse = Duration.seconds(10)
  /// What a target can take of which nothing is known, in requests per second.
  static let unknown = 4.0
  /// Requests in a round; while the rate rises from low, fewer.
  static let roundStarts = 50
  static let risingStarts = 4
  static let searchingStarts = 12
  /// The limit is lifted when it has held nothing back for so long: until then, calls of the backlog wait for their next
  /// attempts.
  static let unusedTime = Duration.seconds(15)
  /// A new owner of the target trusts an earlier limit for so long.
  public static let memory = Duration.seconds(300)

  /// A pace without a limit.
  public init() {}

  /// A pace that begins with what an earlier one has learned. If that had a limit a short time ago (``memory``), it
  /// begins as after an outage; otherwise without a limit.
  ///
  /// - Parameters:
  ///   - delivered: What the earlier one has ``delivered``, in requests per second; 0 if unknown.
  ///   - limitedAt: When it had a limit last; nil if it had none.
  ///   - now: The current time.
  public init(delivered: Double, limitedAt: Timestamp?, at now: Timestamp) {
    self.delivered = delivered.isFinite ? max(0, delivered) : 0
    if let limitedAt, now - limitedAt < Self.memory { begin(isShort: false, at: now) }
  }

  /// The mean response time of the target; nil if unknown.
  public var usualTime: Duration? { baseline.usual > 0 ? .microseconds(Int64(min(baseline.usual, 1e12))) : nil }

  // MARK: Requests

  /// When the next request may start; nil for at once.
  ///
  /// - Complexity: O(1); without a limit, one comparison.
  public mutating func wait(at now: Timestamp) -> Timestamp? {
    guard let rate else { return nil }
    let time = gate.opening(rate: rate, at: now)
    guard time > now else { return nil }
    round.isLimited = true
    return time
  }

  /// The same for somebody who only looks: a time that has passed is at once. Nil without a limit.
  package func opening(at now: Timestamp) -> Timestamp? {
    var gate = gate
    return rate.map { gate.opening(rate: $0, at: now) }
  }

  /// How many requests may be in flight at a time, without those that take much longer than usual: twice as many as the rate
  /// needs, within `full`.
  public func concurrency(within full: Int) -> Int {
    guard let rate, baseline.usual > 0 else { return full }
    let needed = 2 * rate * (2 * baseline.usual + LoadBaseline.shortQueue) / 1e6
    return needed < Double(full) ? min(full, max(Self.fewest, Int(needed.rounded(.up)))) : full
  }

  private static let fewest = 8

  /// Until when another request may not be in flight beside so many, within `full`, unless one ends before; nil if it may. One
  /// that may not counts as held back.
  ///
  /// Requests that have taken long count no more: a few that hang would hold back all others until they end.
  public mutating func fullUntil(beside inFlight: Int, within full: Int, at now: Timestamp) -> Timestamp? {
    let most = concurrency(within: full)
    guard inFlight >= most, most == full || young.count(usual: baseline.usual, at: now) >= most else { return nil }
    if most < full { round.isLimited = true }
    return max(now, young.next(usual: baseline.usual))
  }

  /// Counts a request that starts now. The ticket is needed at its end.
  public mutating func start(at now: Timestamp) -> Ticket {
    if let rate { gate.pass(rate: rate, at: now) }
    round.start(at: now)
    cycle.start()
    return Ticket(round: round.number, span: young.start(usual: baseline.usual, at: now))
  }

  /// Counts the end of a request.
  public mutating func end(_ ticket: Ticket, _ sign: Sign, at now: Timestamp) {
    young.end(ticket.span)
    switch sign {
    case .delivered(let time):
      lastDelivery = now
      round.delivered += 1
      baseline.learn(responseTime: time)
    case .refused: cycle.refused(isLimited: rate != nil, at: now)
    case .silent, .none: break
    }
    if ticket.round == round.number {
      round.end(sign)
    } else if ticket.round == ending?.number {
      ending?.end(sign)
    }
    if !isSuspended { review(at: now) }
  }

  /// Whether the target has processed a request a moment ago. Then a refusal is about its load, and is no reason to
  /// open a breaker.
  public func isDelivering(at now: Timestamp) -> Bool {
    now - lastDelivery <= max(.seconds(1), .microseconds(Int64(min(4 * baseline.usual, 1e12))))
  }

  // MARK: Outages

  /// The target's breaker has opened: what is in flight says nothing about the load.
  ///
  /// - Parameter begin: When the outage began: with the failures that have opened it.
  public mutating func suspend(at begin: Timestamp) {
    isSuspended = true
    if begin - outageTo > Self.relapse || begin < outageFrom { outageFrom = begin }
    self.begin(at: begin)
  }

  /// An operator has closed the target's breaker: an outage is over, and there is no limit.
  public mutating func release(at now: Timestamp) {
    if isSuspended { outageTo = now }
    isSuspended = false
    if rate != nil { lift(at: now) }
    begin(at: now)
  }

  /// The target works again after an outage.
  public mutating func recover(at now: Timestamp) {
    isSuspended = false
    outageTo = now
    let length = now - outageFrom
    guard length > Self.momentaryOutage || rate != nil else { return begin(at: now) }
    begin(isShort: length <= Self.shortOutage, at: now)
  }

  /// The target begins to work again, at its usual rate or at twice that.
  private mutating func begin(isShort: Bool, at now: Timestamp) {
    isRising = true
    isSearching = false
    isQueued = false
    hasQueued = false
    quietRounds = 0
    unusedSince = nil
    gate = StartGate()
    young.forget()
    capacity = CapacityEstimate()
    cycle = RefusalCycle()
    baseline.forgetFalls()
    // What is refused in any case is sent too.
    let usual = delivered / (1 - baseline.refusedShare)
    set(max(Self.unknown, usual) * (isShort && delivered > 0 ? 2 : 1), .recovered, at: now)
    begin(at: now)
  }

  mutating func set(_ new: Double, _ reason: Reason, at now: Timestamp) {
    rate = max(Self.slowest, new)
    self.reason = reason
    changedAt = now
  }

  /// There is no limit any more.
  mutating func lift(at now: Timestamp) {
    rate = nil
    reason = .noOverload
    changedAt = now
  }

  /// Begins a round.
  mutating func begin(at now: Timestamp) {
    ending = nil
    round = PaceRound(number: round.number &+ 1, from: now, rate: rate)
  }
}
