internal import Synchronization

/// Tells work that waits for a target that other work on it has just succeeded.
///
/// One success wakes one waiter, the longest waiting; if that succeeds in turn, it wakes the next. So a target that is
/// well again is not met by everybody at once, and one that is not stops the chain.
///
/// ```swift
/// let signals = SuccessSignals()
/// var retrier = Retrier()
/// retrier.successes = signals.of("api.example.com")
/// ```
public final class SuccessSignals: Sendable {
  private struct State {
    var waiting: [String: [(id: UInt64, wake: @Sendable () -> Bool)]] = [:]
    var next: UInt64 = 0
  }

  private let state = Mutex(State())

  /// Creates signals that nobody waits for.
  public init() {}

  /// The signals of one target.
  public func of(_ target: String) -> Target { Target(signals: self, key: target) }

  /// How many wait for a success on a target.
  public func waiting(for target: String) -> Int { state.withLock { $0.waiting[target]?.count ?? 0 } }

  /// The signals of one target.
  public struct Target: Sendable {
    let signals: SuccessSignals
    let key: String

    /// Says that something on the target has succeeded; wakes who has waited the longest, if anybody.
    public func succeeded() {
      // One that has been woken by something else in the meantime passes it on.
      while let wake = signals.takeFirst(key) {
        if wake() { return }
      }
    }

    /// Has a handler called at one of the next successes, at most once. It says whether it had waited for it still.
    func add(_ wake: @escaping @Sendable () -> Bool) -> UInt64 { signals.add(key, wake) }

    func remove(_ id: UInt64) { signals.remove(key, id) }

    /// Returns at one of the next successes, or when the task is cancelled.
    func next() async {
      let waiter = Waiter()
      let id = add { waiter.finish() }
      await waiter.wait()
      remove(id)
    }
  }

  private func takeFirst(_ key: String) -> (@Sendable () -> Bool)? {
    state.withLock { state in
      guard var waiting = state.waiting[key], !waiting.isEmpty else { return nil }
      let first = waiting.removeFirst()
      state.waiting[key] = waiting.isEmpty ? nil : waiting
      return first.wake
    }
  }

  private func add(_ key: String, _ wake: @escaping @Sendable () -> Bool) -> UInt64 {
    state.withLock { state in
      state.next += 1
      state.waiting[key, default: []].append((state.next, wake))
      return state.next
    }
  }

  private func remove(_ key: String, _ id: UInt64) {
    state.withLock { state in
      state.waiting[key]?.removeAll { $0.id == id }
      if state.waiting[key]?.isEmpty == true { state.waiting[key] = nil }
    }
  }
}
