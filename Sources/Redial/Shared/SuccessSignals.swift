/// Informs work that waits for a target that other work on it has just succeeded.
///
/// One success wakes one waiter, the longest waiting; if that succeeds in turn, it wakes the next. So a recovered
/// target does not get all waiting work at once, and one that has not recovered stops the chain.
///
/// ```swift
/// let signals = SuccessSignals()
/// var retrier = Retrier()
/// retrier.successes = signals.of("api.example.com")
/// ```
public final class SuccessSignals: Sendable {
  private struct State {
    var waiting: [String: WaitQueue<@Sendable () -> Bool>] = [:]
    /// The first id of a new queue. A queue is removed when it is empty, and a waiter that left it may still use its
    /// id.
    var firstID: UInt64 = 0

    mutating func drop(_ queue: WaitQueue<@Sendable () -> Bool>, of key: String) {
      firstID = max(firstID, queue.next)
      waiting[key] = nil
    }
  }

  private let state = Guarded(State())

  /// Creates signals without waiters.
  public init() {}

  /// The signals of one target.
  public func of(_ target: String) -> Target { Target(signals: self, key: target) }

  /// How many wait for a success on a target.
  public func waiting(for target: String) -> Int { state.withLock { $0.waiting[target]?.count ?? 0 } }

  /// The signals of one target.
  public struct Target: Sendable {
    let signals: SuccessSignals
    let key: String

    /// Reports a success on the target; wakes the waiter that has waited longest, if there is one.
    public func succeeded() {
      // A waiter that was woken by something else in the meantime passes it on.
      while let wake = signals.takeFirst(key) {
        if wake() { return }
      }
    }

    /// Calls `wake` at one of the next successes, at most once. It returns whether it was still waiting.
    ///
    /// - Returns: The id for ``remove(_:)``.
    package func add(_ wake: @escaping @Sendable () -> Bool) -> UInt64 { signals.add(key, wake) }

    /// Removes a handler; nothing happens if it was called before.
    package func remove(_ id: UInt64) { signals.remove(key, id) }

    /// Returns at one of the next successes, or if the task is cancelled.
    func next() async {
      let waiter = Waiter()
      let id = add { waiter.finish() }
      await waiter.wait()
      remove(id)
    }
  }

  private func takeFirst(_ key: String) -> (@Sendable () -> Bool)? {
    state.withLock { state in
      let wake = state.waiting[key]?.takeFirst()
      if let queue = state.waiting[key], queue.isEmpty { state.drop(queue, of: key) }
      return wake
    }
  }

  private func add(_ key: String, _ wake: @escaping @Sendable () -> Bool) -> UInt64 {
    state.withLock { state in
      state.waiting[key, default: WaitQueue(from: state.firstID)].append(wake)
    }
  }

  private func remove(_ key: String, _ id: UInt64) {
    state.withLock { state in
      state.waiting[key]?.remove(id)
      if let queue = state.waiting[key], queue.isEmpty { state.drop(queue, of: key) }
    }
  }
}
