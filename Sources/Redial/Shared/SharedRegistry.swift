/// Things that are shared by key, made when first asked for: breakers by host, say.
///
/// ```swift
/// let breakers = SharedRegistry { host in SharedCircuitBreaker(name: host) }
/// var retrier = Retrier()
/// retrier.breaker = breakers["api.example.com"]
/// ```
///
/// The number of keys is bounded. Beyond it, the value that was not asked for the longest is forgotten, and made anew when
/// it is asked for again. A breaker that lets nothing through is forgotten only when all others are as bad, and one that
/// an operator has forced never is: when every key is taken by such breakers, a further key's value is not kept.
public final class SharedRegistry<Key: Hashable & Sendable, Value: AnyObject & Sendable>: Sendable {
  private struct Entry {
    var value: Value
    /// Its id in the queue.
    var place: UInt64
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    /// The keys, those that were asked for the longest ago first.
    var order = WaitQueue<Key>()

    mutating func use(_ key: Key, _ value: Value) {
      if let entry = entries[key] { order.remove(entry.place) }
      entries[key] = Entry(value: value, place: order.append(key))
    }

    mutating func forget(_ key: Key) {
      if let entry = entries.removeValue(forKey: key) { order.remove(entry.place) }
    }

    /// Forgets the value that is missed the least; false when each must be kept.
    mutating func makeRoom() -> Bool {
      var leastMissed: (key: Key, worth: RegistryWorth)?
      // What must stay moves to the back of the queue, so that it is not looked at again each time.
      for _ in 0..<entries.count {
        guard let key = order.takeFirst(), let value = entries[key]?.value else { break }
        let worth = (value as? any RegistryMember)?.worth ?? .replaceable
        entries[key]?.place = order.append(key)
        if worth < leastMissed?.worth ?? .kept { leastMissed = (key, worth) }
        if worth == .replaceable { break }
      }
      guard let leastMissed else { return false }
      forget(leastMissed.key)
      return true
    }
  }

  private let limit: Int
  private let make: @Sendable (Key) -> Value
  private let state = Guarded(State())

  /// An empty registry.
  ///
  /// - Parameters:
  ///   - limit: The most keys; 1 or more.
  ///   - make: Makes the value of a key. It is called once a key, under a lock: it must not ask the registry.
  public init(limit: Int = 10_000, make: @escaping @Sendable (Key) -> Value) {
    self.limit = max(1, limit)
    self.make = make
  }

  /// The value of a key, made if there is none.
  public subscript(key: Key) -> Value {
    state.withLock { state in
      if let entry = state.entries[key] {
        state.use(key, entry.value)
        return entry.value
      }
      let value = make(key)
      if state.entries.count < limit || state.makeRoom() { state.use(key, value) }
      return value
    }
  }

  /// Everything there is, in no order.
  public var all: [Key: Value] { state.withLock { $0.entries.mapValues(\.value) } }

  /// Forgets a key; who has its value keeps it.
  public func remove(_ key: Key) { state.withLock { $0.forget(key) } }
}

/// How much a value would be missed if it were made anew.
enum RegistryWorth: Int, Comparable {
  /// Not at all, or no more than any other.
  case replaceable
  /// It knows something that a new one would have to learn: that a target is down.
  case informed
  /// It holds an order, which a new one would not follow.
  case kept

  static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A value that knows how much a registry would miss it.
protocol RegistryMember {
  var worth: RegistryWorth { get }
}

extension SharedCircuitBreaker: RegistryMember {
  var worth: RegistryWorth {
    switch snapshot.state {
    case .closed: .replaceable
    case .open, .halfOpen: .informed
    case .forced: .kept
    }
  }
}
