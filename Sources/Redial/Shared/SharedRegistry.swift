/// Objects that are shared by key and created on first use, such as breakers by host.
///
/// ```swift
/// let breakers = SharedRegistry { host in SharedCircuitBreaker(name: host) }
/// var retrier = Retrier()
/// retrier.breaker = breakers["api.example.com"]
/// ```
///
/// The number of keys is limited. Beyond it, the value that was not used for the longest time is removed, and created
/// again on its next use. A breaker that is not closed is removed only if all others are open too, and one that an
/// operator has forced never is: if every key has such a breaker, a further key's value is not kept.
public final class SharedRegistry<Key: Hashable & Sendable, Value: AnyObject & Sendable>: Sendable {
  private struct Entry {
    var value: Value
    /// Its id in the queue.
    var place: UInt64
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    /// The keys, the least recently used first.
    var order = WaitQueue<Key>()

    mutating func use(_ key: Key, _ value: Value) {
      if let entry = entries[key] { order.remove(entry.place) }
      entries[key] = Entry(value: value, place: order.append(key))
    }

    mutating func forget(_ key: Key) {
      if let entry = entries.removeValue(forKey: key) { order.remove(entry.place) }
    }

    /// Removes the least valuable entry; false if each must be kept.
    mutating func makeRoom() -> Bool {
      var leastMissed: (key: Key, worth: RegistryWorth)?
      // A value that must stay moves to the back of the queue, so that it is not checked again each time.
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
  ///   - limit: The maximum number of keys; 1 or more.
  ///   - make: Creates the value of a key. It is called once per key, under a lock: it must not use the registry.
  public init(limit: Int = 10_000, make: @escaping @Sendable (Key) -> Value) {
    self.limit = max(1, limit)
    self.make = make
  }

  /// The value of a key, created if there is none.
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

  /// All values, in no order.
  public var all: [Key: Value] { state.withLock { $0.entries.mapValues(\.value) } }

  /// Removes a key; other owners of its value keep it.
  public func remove(_ key: Key) { state.withLock { $0.forget(key) } }
}

/// How valuable a value is compared with a new one.
enum RegistryWorth: Int, Comparable {
  /// Not at all, or no more than any other.
  case replaceable
  /// It has information that a new one would have to learn: that a target is down.
  case informed
  /// It has an operator's order, which a new one would not follow.
  case kept

  static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A value that knows its worth for a registry.
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
