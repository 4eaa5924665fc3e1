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

    /// An attempt of a target starts. Returns whether it is counted.
    mutating func start(_ target: Int, of most: Int, at now: Timestamp) -> Bool {
      defer { inFlight += 1 }
      return shares.start(SlotHolders(target: target), beside: inFlight, of: most, at: now) != nil
    }

    mutating func recordAnswer(to target: Int, isMultiplexed: Bool?, at now: Timestamp) {
      shares.recordAnswer(to: SlotHolders(target: target), at: now)
      if let isMultiplexed { self.isMultiplexed = isMultiplexed }
    }

    /// An attempt of a target has ended. Returns whether nobody is left.
    mutating func end(_ target: Int, isCounted: Bool, startedAt: Timestamp) -> Bool {
      precondition(inFlight > 0, "A connection is given back that was not taken.")
      if isCounted { shares.end(SlotHolders(target: target), startedAt: startedAt) }
      inFlight -= 1
      return inFlight == 0 && waiting.isEmpty
    }
  }

  /// A connection that an attempt in flight has.
  struct Connection: Sendable {
    fileprivate var origin: UInt64
    fileprivate var isCounted: Bool
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
    return state.shares.crowded(beside: state.inFlight, of: most)?.excess(of: SlotHolders(target: target)) == nil
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
    Connection(origin: origin, isCounted: origins[origin, default: Origin()].start(target, of: most, at: now))
  }

  /// An attempt has got an answer. It has not ended yet.
  ///
  /// - Parameter isMultiplexed: Whether it shared its connection; nil if that is not known.
  mutating func recordAnswer(on connection: Connection, to target: Int, isMultiplexed: Bool?, at now: Timestamp) {
    origins[connection.origin]?.recordAnswer(to: target, isMultiplexed: isMultiplexed, at: now)
  }

  /// An attempt has ended. Returns targets that may have a connection now, to be examined.
  mutating func end(_ connection: Connection, of target: Int, startedAt: Timestamp, isProven: (Int) -> Bool) -> [Int] {
    let key = connection.origin
    guard let index = origins.index(forKey: key) else { preconditionFailure("An origin is forgotten too early.") }
    if origins.values[index].end(target, isCounted: connection.isCounted, startedAt: startedAt) {
      origins.remove(at: index)
      return []
    }
    let (inFlight, waitingCount) = (origins.values[index].inFlight, origins.values[index].waiting.count)
    let free = origins.values[index].isMultiplexed ? .max : most - inFlight
    var found: [Int] = []
    // Those that may have none are passed over, so that they do not delay the others.
    for _ in 0..<min(inFlight == 0 ? .max : Self.mostExamined, waitingCount) where found.count < free {
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

extension SlotHolders {
  /// A target at an origin is alone.
  fileprivate init(target: Int) {
    self.init(first: UInt64(target))
  }
}
