internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Ended calls that were recently claimed for a command, noted by the lane and spared by ``PostgresStore/tidy(_:at:within:)``.
final class ShownByClaims: Sendable {
  private let shown = Mutex(ShownCalls())

  /// An ended call was claimed.
  func note(_ id: CallID) {
    shown.withLock { $0.note(id, at: .now) }
  }

  /// The calls that retention must not remove now.
  func current() -> ShownCalls {
    shown.withLock { shown in
      shown.dropOld(at: .now)
      return shown
    }
  }
}
