/// Lets calls back in gradually after a breaker has closed: a value, without threads or a clock.
///
/// During recovery, no more calls are in flight than a share of the full load that grows with time
/// (``RedialCore/SlowStart``); the others queue in order. After the ramp the limit continues to grow at the same rate,
/// until the queue is empty; without that, all of the queue would go at once.
struct RecoveryGate {
  private let recovery: BreakerRecovery
  private var slowStart: SlowStart
  private var isRecovering = false
  private var queue = WaitQueue<Waiter>()
  /// The maximum in flight while nothing limited them.
  private var peak = 0
  private(set) var inFlight = 0

  init(_ recovery: BreakerRecovery) {
    self.recovery = recovery
    slowStart = recovery.slowStart
  }

  /// Begins the ramp.
  mutating func begin(at now: Timestamp) {
    guard slowStart.duration > .zero else { return }
    slowStart.start(at: now)
    isRecovering = true
  }

  /// Ends the ramp: the breaker itself holds calls back from now on. Each of the returned calls has a place.
  mutating func end() -> [Waiter] {
    isRecovering = false
    var freed: [Waiter] = []
    while let waiter = queue.takeFirst() { freed.append(waiter) }
    inFlight += freed.count
    return freed
  }

  /// How many may be in flight now.
  func limit(at now: Timestamp) -> Int {
    guard isRecovering, let startedAt = slowStart.startedAt else { return .max }
    let elapsed = now - startedAt
    guard elapsed > slowStart.duration else { return slowStart.limit(of: full, at: now) }
    return queue.isEmpty ? .max : Int(min(1e9, Double(full) * (elapsed.inSeconds / slowStart.duration.inSeconds)))
  }

  /// About how long until one more may be in flight.
  var step: Duration { slowStart.duration / max(1, full) }

  /// Takes a place for a new call; false if it must queue, or cannot go.
  ///
  /// - Parameter cannotWait: Whether it ends if it gets none. Such calls go beyond the limit, unless that is for all.
  mutating func take(at now: Timestamp, orElse cannotWait: Bool) -> Bool {
    let limit = limit(at: now)
    if limit == .max { isRecovering = false }
    guard queue.isEmpty && inFlight < limit || cannotWait && !recovery.limitsAll else { return false }
    inFlight += 1
    if !isRecovering { peak = max(peak, inFlight) }
    return true
  }

  /// Adds a call to the queue, and returns its id there.
  mutating func wait(_ waiter: Waiter) -> UInt64 { queue.append(waiter) }

  /// Removes a call from the queue; false if it has a place already.
  mutating func removeFromQueue(_ id: UInt64) -> Bool { queue.remove(id) != nil }

  /// Gives a place back.
  mutating func giveBackPlace() { inFlight -= 1 }

  /// The calls that now have a place, to be woken.
  mutating func admitted(at now: Timestamp) -> [Waiter] {
    var admitted: [Waiter] = []
    while inFlight < limit(at: now), let waiter = queue.takeFirst() {
      inFlight += 1
      admitted.append(waiter)
    }
    return admitted
  }

  private var full: Int { recovery.fullLoad.map { max(1, $0) } ?? max(BreakerRecovery.leastFullLoad, peak) }
}

/// How the calls return when a shared breaker has closed.
///
/// Without it all calls that have waited reach the target at once, when it has only just recovered.
public struct BreakerRecovery: Sendable, Hashable {
  /// The ramp. A duration of zero lets all go at once.
  public var slowStart: SlowStart
  /// How many calls in flight are the full load, 1 or more; nil for the maximum that was in flight before the breaker
  /// opened, and at least ``leastFullLoad``.
  public var fullLoad: Int?
  /// Whether calls that do not wait are limited too: those of ``SharedCircuitBreaker/run(outcome:_:)``, and of policies with
  /// `TripBehavior.fail`. Those beyond the limit then end with ``CircuitRecovering``, although the breaker is closed. Default
  /// false.
  public var limitsAll: Bool

  /// The minimum of the full load if it is measured.
  public static let leastFullLoad = 10

  /// From a tenth of the load to all of it in 30 seconds by default.
  public init(_ slowStart: SlowStart = SlowStart(), fullLoad: Int? = nil, limitsAll: Bool = false) {
    self.slowStart = slowStart
    self.fullLoad = fullLoad
    self.limitsAll = limitsAll
  }

  /// All go at once.
  public static let none = BreakerRecovery(SlowStart(duration: .zero))
}
