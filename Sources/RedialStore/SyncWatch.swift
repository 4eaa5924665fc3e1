internal import Synchronization

/// Whether an fsync has failed since the store was opened. After that nothing may be written, and nothing that was
/// written may be acknowledged. ``DurableStart`` explains why, and how the next start repairs it.
final class SyncWatch: Sendable {
  private struct State {
    var failure: StoreError?
    var onFailure: (@Sendable (StoreError) -> Void)?
  }

  private let state = Mutex(State())

  /// Called at once with the first fsync that fails, on the thread that found it.
  var onFailure: (@Sendable (StoreError) -> Void)? {
    get { state.withLock { $0.onFailure } }
    set { state.withLock { $0.onFailure = newValue } }
  }

  /// The fsync that failed, if one has.
  var failure: StoreError? { state.withLock { $0.failure } }

  /// Records an error, if it means that an fsync failed.
  func note(_ error: StoreError) {
    guard error.kind == .syncFailed else { return }
    let onFailure = state.withLock { state -> (@Sendable (StoreError) -> Void)? in
      guard state.failure == nil else { return nil }
      state.failure = error
      return state.onFailure
    }
    onFailure?(error)
  }

  /// Refuses requests after a failed fsync.
  func check() throws(StoreError) {
    if let failure { throw failure }
  }
}
