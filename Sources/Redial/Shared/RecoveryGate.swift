/// Lets calls back in bit by bit after a breaker has closed: a value, without threads or a clock.
///
/// While it recovers, no more calls are in flight than a share of the full load that grows with time
/// (``RedialCore/SlowStart``); the others queue, the first first. After the ramp the limit goes on growing at the same
/// rate, until the queue is empty; a limit that were lifted at once would let all of the queue go at once.
struct RecoveryGate {
  private let recovery: BreakerRecovery
  private var slowStart: SlowStart
  private var isRecovering = false
  private var queue = WaitQueue<Waiter>()
  /// The most that were in flight while nothing limited them.
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

  /// Ends the ramp: the breaker itself holds calls back from now on. Each of those that are returned has a place.
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

  /// About how long it takes until one more may be in flight.
  var step: Duration { slowStart.duration / max(1, full) }

  /// Takes a place for a call that comes anew; false when it has to queue.
  mutating func take(at now: Timestamp) -> Bool {
    let limit = limit(at: now)
    if limit == .max { isRecovering = false }
    guard queue.isEmpty, inFlight < limit else { return false }
    inFlight += 1
    if !isRecovering { peak = max(peak, inFlight) }
    return true
  }

  /// Has a call wait for a place, and returns its id in the queue.
  mutating func wait(_ waiter: Waiter) -> UInt64 { queue.append(waiter) }

  /// Takes a call out of the queue; false when it has a place already.
  mutating func leaveQueue(_ id: UInt64) -> Bool { queue.remove(id) != nil }

  /// Gives a place back.
  mutating func leave() { inFlight -= 1 }

  /// The calls that have a place now, and are to be woken.
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

/// How the calls come back when a shared breaker has closed.
///
/// Without it everybody who waits for a target meets it at once, when it has only just recovered.
public struct BreakerRecovery: Sendable, Hashable {
  /// The ramp. A duration of zero lets everybody go at once.
  public var slowStart: SlowStart
  /// How many calls in flight are the full load, 1 or more; nil for the most that were in flight before the breaker
  /// opened, and ``leastFullLoad`` at least.
  public var fullLoad: Int?

  /// The least that counts as the full load where it is measured.
  public static let leastFullLoad = 10

  /// From a tenth of the load to all of it in 30 seconds, unless told otherwise.
  public init(_ slowStart: SlowStart = SlowStart(), fullLoad: Int? = nil) {
    self.slowStart = slowStart
    self.fullLoad = fullLoad
  }

  /// Everybody goes at once.
  public static let none = BreakerRecovery(SlowStart(duration: .zero))
}
