internal import RedialCore

/// The connections to each origin, which all its targets share: some may be customers at one host. An attempt begins only
/// when there is one for it, so that its time does not run while it waits.
///
/// Over HTTP/1.1 each attempt in flight has a connection of its own. Over HTTP/2 many share one, so they are not limited.
struct OriginTable: Sendable {
  private struct Origin: Sendable {
    var inFlight = 0
    var isMultiplexed = false
    var shares = SlotShares()
    /// Targets that wait for a connection, in order.
    var waiting = Queue<Int>()
  }

  /// A connection that an attempt in flight has.
  struct Connection: Sendable {
    fileprivate var origin: UInt64
    fileprivate var isCounted: Bool
  }

  private struct Target: SlotHolder {
    let place: Int
    func forEachHolder(_ body: (UInt64) -> Void) { body(UInt64(place)) }
  }

  /// Maximum connections to one origin.
  private let most: Int
  /// Those with attempts in flight, or with targets that wait, by hash.
  private var origins: [UInt64: Origin] = [:]
  /// The targets that wait, each for one origin.
  private var waiting: [Int: UInt64] = [:]

  init(most: Int) {
    self.most = most
  }

  /// Whether a target may have another connection to an origin.
  ///
  /// - Parameter isProven: Whether the target has earned slots by answering (``SlotCredit``). A quarter of the connections is
  ///   for these alone, so that any number of targets that never answer leave them some.
  func hasConnection(to origin: UInt64, for target: Int, isProven: Bool) -> Bool {
    guard let state = origins[origin], !state.isMultiplexed else { return true }
    guard state.inFlight < (isProven ? most : most - most / 4) else { return false }
    return state.shares.crowded(beside: state.inFlight, of: most)?.excess(of: Target(place: target)) == nil
  }

  /// A target waits for a connection. ``end(_:of:startedAt:isProven:)`` returns it when there may be one.
  mutating func wait(_ target: Int, for origin: UInt64) {
    guard waiting[target] == nil else { return }
    waiting[target] = origin
    origins[origin, default: Origin()].waiting.append(target)
  }

  /// The place of a target may soon be another's.
  mutating func forget(_ target: Int) {
    guard let origin = waiting.removeValue(forKey: target) else { return }
    origins[origin]?.waiting.removeAll { $0 == target }
  }

  /// An attempt starts.
  mutating func start(_ target: Int, to origin: UInt64, at now: Timestamp) -> Connection {
    let inFlight = origins[origin]?.inFlight ?? 0
    origins[origin, default: Origin()].inFlight += 1
    let isCounted = origins[origin]?.shares.start(Target(place: target), beside: inFlight, of: most, at: now)
    return Connection(origin: origin, isCounted: isCounted ?? false)
  }

  /// An attempt has got an answer. It has not ended yet.
  ///
  /// - Parameter isMultiplexed: Whether it shared its connection; nil if that is not known.
  mutating func noteAnswer(on connection: Connection, to target: Int, isMultiplexed: Bool?, at now: Timestamp) {
    origins[connection.origin]?.shares.noteAnswer(to: Target(place: target), at: now)
    if let isMultiplexed { origins[connection.origin]?.isMultiplexed = isMultiplexed }
  }

  /// An attempt has ended. Returns targets that may have a connection now, to be examined.
  mutating func end(_ connection: Connection, of target: Int, startedAt: Timestamp, isProven: (Int) -> Bool) -> [Int] {
    let key = connection.origin
    precondition(origins[key].map { $0.inFlight > 0 } == true, "A connection is given back that was not taken.")
    if connection.isCounted { origins[key]?.shares.end(Target(place: target), startedAt: startedAt) }
    origins[key]?.inFlight -= 1
    guard let origin = origins[key] else { return [] }
    if origin.waiting.isEmpty {
      if origin.inFlight == 0 { origins[key] = nil }
      return []
    }
    let free = origin.isMultiplexed ? .max : most - origin.inFlight
    var found: [Int] = []
    // Those that may have none are passed over, so that they do not delay the others.
    for _ in 0..<min(origin.inFlight == 0 ? .max : Self.mostExamined, origin.waiting.count) where found.count < free {
      guard let next = origins[key]?.waiting.popFirst() else { break }
      if hasConnection(to: key, for: next, isProven: isProven(next)) {
        waiting[next] = nil
        found.append(next)
      } else {
        origins[key]?.waiting.append(next)
      }
    }
    return found
  }

  /// How many targets that wait are looked at when an attempt ends.
  private static let mostExamined = 64
}
