internal import RedialStore
internal import Synchronization
internal import RedialModel

/// Whether an fsync has failed since the store was opened. After that nothing may be written, and nothing that was
/// written may be acknowledged. ``DurableStart`` explains why, and how the next start repairs it.
final class SyncWatch: Sendable {
  private let first = Mutex<StoreError?>(nil)
  private let onFailure: @Sendable (StoreError) -> Void

  /// - Parameter onFailure: Called at once with the first fsync that fails, on the thread that found it.
  init(onFailure: @escaping @Sendable (StoreError) -> Void) {
    self.onFailure = onFailure
  }

  /// The fsync that failed, if one has.
  var failure: StoreError? { first.withLock { $0 } }

  /// Records an error, if it means that an fsync failed.
  func recordFailure(_ error: StoreError) {
    guard error.kind == .syncFailed else { return }
    let isFirst = first.withLock { first in
      guard first == nil else { return false }
      first = error
      return true
    }
    if isFirst { onFailure(error) }
  }

  /// Refuses requests after a failed fsync.
  func check() throws(StoreError) {
    if let failure { throw failure }
  }
}
