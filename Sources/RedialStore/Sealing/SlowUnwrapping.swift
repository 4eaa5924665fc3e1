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
    /// Keys that were unwrapped, and are not taken yet.
    var found: [UInt32: DataKey] = [:]
    /// The keys that are being unwrapped, or will be again.
    var asked: Set<UInt32> = []
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
    let (known, isFirst) = state.withLock { state in
      let known = state.found.removeValue(forKey: id)
      return (known, known == nil && state.asked.insert(id).inserted)
    }
    if let known { return known }
    let late = StoreError(
      kind: .unavailable, message: "The data key \(id), which another instance has made, is being unwrapped.")
    guard isFirst else { throw late }
    let (end, failure) = (DispatchSemaphore(value: 0), Failure())
    queue.async { self.attempt(id, unwrap, isMissing: isMissing, found: found, first: (end, failure)) }
    guard end.wait(timeout: .now() + Self.patience) == .success else { throw late }
    if let error = failure.error.withLock({ $0 }) { throw error }
    guard let key = state.withLock({ $0.found.removeValue(forKey: id) }) else { throw late }
    return key
  }

  /// Why the first attempt has failed.
  private final class Failure: Sendable { let error = Mutex<StoreError?>(nil) }

  private func attempt(
    _ id: UInt32, _ unwrap: @escaping @Sendable () throws(StoreError) -> DataKey,
    isMissing: @escaping @Sendable () -> Bool, found: @escaping @Sendable () -> Void,
    first: (end: DispatchSemaphore, failure: Failure)? = nil
  ) {
    if first == nil, !isMissing() {
      state.withLock { _ = $0.asked.remove(id) }
      return
    }
    do throws(StoreError) {
      let key = try unwrap()
      state.withLock {
        $0.found[id] = key
        $0.asked.remove(id)
      }
      first?.end.signal()
      // Who did not wait for long enough may only now take it for missing.
      if isMissing() { found() }
      queue.asyncAfter(deadline: .now() + Self.patience) {
        if isMissing() { found() }
        // One that nobody needs any more, such as an erased one, is not kept.
        self.state.withLock { $0.found[id] = nil }
      }
    } catch {
      first?.failure.error.withLock { $0 = error }
      first?.end.signal()
      queue.asyncAfter(deadline: .now() + Self.pause) {
        self.attempt(id, unwrap, isMissing: isMissing, found: found)
      }
    }
  }
}
