internal import RedialEngine
internal import RedialModel
internal import Synchronization

/// Whether requests may reach the store. The listener is open before, so that health checks see a process that lives.
final class ServiceStage: Sendable {
  private enum Stage: UInt8, AtomicRepresentable {
    /// The store is not recovered: open, stopping
    case starting
    /// stopping
    case open
    /// The engine drains, and the store will be closed.
    case stopping
  }

  private let stage = Atomic(Stage.starting)

  /// Why requests are refused; nil while they are served.
  var refusal: Problem? {
    switch stage.load(ordering: .acquiring) {
    case .starting: Self.starting
    case .open: nil
    case .stopping: Refusal.draining.problem
    }
  }

  /// The store is recovered, and all that serves requests has begun.
  func open() { _ = stage.compareExchange(expected: .starting, desired: .open, ordering: .releasing) }

  /// From now on nothing new reaches the store.
  func stop() { stage.store(.stopping, ordering: .releasing) }

  private static let starting = Problem(
    .starting, detail: "The service starts, and takes over what is stored. Nothing was done. Try again in a moment.",
    retryAfter: 1)
}
