internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Ended calls that were recently claimed for a command: the lane remembers them, and
/// ``PostgresStore/tidy(_:at:within:)`` spares them.
final class ShownByClaims: Sendable {
  private let shown = Mutex(ShownCalls())

  /// An ended call was claimed.
  func remember(_ id: CallID) {
    shown.withLock { $0.remember(id, at: .now) }
  }

  /// The calls that retention must not remove now.
  func current() -> ShownCalls {
    shown.withLock { shown in
      shown.dropOld(at: .now)
      return shown
    }
  }
}
