internal import Dispatch
internal import RedialModel
internal import Synchronization

/// Unwraps data keys that other instances have made, where a program does it: on a thread of its own. Who needs such a key waits
/// for it shortly; then it is missing until the program has succeeded, which is tried again and again.
final class SlowUnwrapping: Sendable {
  /// How long whoever needs a key waits for the program.
  private static let patience = DispatchTimeInterval.seconds(1)
  /// How long after a failure it is tried again.
  private static let pause = DispatchTimeInterval.seconds(2)

  private struct State {
    /// Keys that were unwrapped a moment ago.
    var found: [UInt32: DataKey] = [:]
    /// The keys that are being unwrapped, or will be again.
    var asked: [UInt32: First] = [:]
  }

  /// The first attempt to unwrap a key. All who need it wait for the same.
  private final class First: Sendable {
    let end = DispatchGroup()
    let deadline = DispatchTime.now() + SlowUnwrapping.patience
    /// Why it has failed.
    let error = Mutex<StoreError?>(nil)

    init() { end.enter() }
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "redial.unwrapping", qos: .userInitiated)

  /// A key, if it is there in time.
  ///
  /// - Parameters:
  ///   - unwrap: Unwraps it.
  ///   - isMissing: Whether the key is still missing.
  ///   - found: Is called when it was unwrapped after this has returned.
  func key(
    of stored: StoredDataKey, unwrap: @escaping @Sendable () throws(StoreError) -> DataKey,
    isMissing: @escaping @Sendable () -> Bool, found: @escaping @Sendable () -> Void
  ) throws(StoreError) -> DataKey {
    let id = UInt32(stored.key)
    let (known, first) = state.withLock { state -> (DataKey?, First?) in
      if let known = state.found[id] { return (known, nil) }
      if let first = state.asked[id] { return (nil, first) }
      let first = First()
      state.asked[id] = first
      queue.async { self.attempt(id, unwrap, isMissing: isMissing, found: found, first: first) }
      return (nil, first)
    }
    if let known { return known }
    let late = StoreError(
      kind: .unavailable, message: "The data key \(id), which another instance has made, is being unwrapped.")
    guard let first, first.end.wait(timeout: first.deadline) == .success else { throw late }
    if let error = first.error.withLock({ $0 }) { throw error }
    guard let key = state.withLock({ $0.found[id] }) else { throw late }
    return key
  }

  private func attempt(
    _ id: UInt32, _ unwrap: @escaping @Sendable () throws(StoreError) -> DataKey,
    isMissing: @escaping @Sendable () -> Bool, found: @escaping @Sendable () -> Void,
    first: First? = nil
  ) {
    if first == nil, !isMissing() {
      state.withLock { $0.asked[id] = nil }
      return
    }
    do throws(StoreError) {
      let key = try unwrap()
      state.withLock {
        $0.found[id] = key
        $0.asked[id] = nil
      }
      first?.end.leave()
      // Who did not wait for long enough may only now take it for missing.
      if isMissing() { found() }
      queue.asyncAfter(deadline: .now() + Self.patience) {
        if isMissing() { found() }
        // One that nobody needs any more, such as an erased one, is not kept.
        self.state.withLock { $0.found[id] = nil }
      }
    } catch {
      first?.error.withLock { $0 = error }
      first?.end.leave()
      queue.asyncAfter(deadline: .now() + Self.pause) {
        self.attempt(id, unwrap, isMissing: isMissing, found: found)
      }
    }
  }
}
