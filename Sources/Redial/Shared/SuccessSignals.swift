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
    var waiting: [String: WaitQueue<@Sendable () -> Bool>] = [:]
    /// Where the ids of a new queue begin. A queue goes when it is empty, and one that left it may still name its id.
    var firstID: UInt64 = 0

    mutating func drop(_ queue: WaitQueue<@Sendable () -> Bool>, of key: String) {
      firstID = max(firstID, queue.next)
      waiting[key] = nil
    }
  }

  private let state = Guarded(State())

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

    /// Calls `wake` at one of the next successes, at most once. It answers whether it was still waiting.
    ///
    /// - Returns: The id by which ``remove(_:)`` takes it out.
    package func add(_ wake: @escaping @Sendable () -> Bool) -> UInt64 { signals.add(key, wake) }

    /// Takes a handler out; nothing happens when it was called before.
    package func remove(_ id: UInt64) { signals.remove(key, id) }

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
