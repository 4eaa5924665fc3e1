internal import RedialEngine
internal import RedialModel
internal import Synchronization

/// Gathers what the engine replies to the operations of one batch.
final class BulkBatch: Sendable {
  /// The result of a batch.
  struct Tally: Sendable, Equatable {
    /// Calls that it was done to, on disk.
    var done = 0
    /// Calls that it could not be done to.
    var skipped = 0
    /// Calls that nothing is known of: the service cannot do anything for now.
    var unavailable = 0
    /// Calls that another instance runs, and nobody else can do anything to.
    var elsewhere = 0

    var count: Int { done + skipped + unavailable + elsewhere }
  }

  private let tally = Mutex(Tally())
  private let size: Int
  private let finish: @Sendable (Tally) -> Void

  /// - Parameter finish: Called once, when there are as many replies as operations, from any thread.
  init(size: Int, finish: @escaping @Sendable (Tally) -> Void) {
    self.size = size
    self.finish = finish
  }

  /// Notes the reply to one of the operations.
  func note(_ reply: Reply) {
    let all = tally.withLock { tally -> Tally? in
      switch reply {
      case .refused(let problem) where problem.code == Engine.ownedElsewhereCode: tally.elsewhere += 1
      case .refused(let problem) where problem.status >= 500: tally.unavailable += 1
      case .refused: tally.skipped += 1
      case .accepted, .replayed, .done, .controlled, .report, .tallied: tally.done += 1
      }
      return tally.count == size ? tally : nil
    }
    if let all { finish(all) }
  }
}
