internal import Synchronization

/// Things that are shared by key, made when first asked for: breakers by host, say.
///
/// ```swift
/// let breakers = SharedRegistry { host in SharedCircuitBreaker(name: host) }
/// var retrier = Retrier()
/// retrier.breaker = breakers["api.example.com"]
/// ```
///
/// The number of keys is bounded; beyond it, the one that was not asked for the longest is forgotten, and made anew
/// when it is asked for again.
public final class SharedRegistry<Key: Hashable & Sendable, Value: AnyObject & Sendable>: Sendable {
  private struct Entry {
    var value: Value
    var used: UInt64
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    var uses: UInt64 = 0
  }

  private let limit: Int
  private let make: @Sendable (Key) -> Value
  private let state = Mutex(State())

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
      state.uses += 1
      if let entry = state.entries[key] {
        state.entries[key]?.used = state.uses
        return entry.value
      }
      if state.entries.count >= limit, let oldest = state.entries.min(by: { $0.value.used < $1.value.used }) {
        state.entries[oldest.key] = nil
      }
      let value = make(key)
      state.entries[key] = Entry(value: value, used: state.uses)
      return value
    }
  }

  /// Everything there is, in no order.
  public var all: [Key: Value] { state.withLock { $0.entries.mapValues(\.value) } }

  /// Forgets a key; who has its value keeps it.
  public func remove(_ key: Key) { state.withLock { _ = $0.entries.removeValue(forKey: key) } }
}
