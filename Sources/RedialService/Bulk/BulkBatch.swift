internal import RedialEngine
internal import RedialModel
internal import Synchronization

/// Collects the engine's replies to the commands of one batch.
final class BulkBatch: Sendable {
  /// The result of a batch.
  struct Tally: Sendable, Equatable {
    /// Calls that were changed, on disk.
    var done = 0
    /// Calls whose state does not allow the action.
    var skipped = 0
    /// Calls without a result: the service cannot do anything now.
    var unavailable = 0
    /// Calls that another instance runs, and only that instance can change.
    var elsewhere = 0

    var count: Int { done + skipped + unavailable + elsewhere }
  }

  private let tally = Mutex(Tally())
  private let size: Int
  private let finish: @Sendable (Tally) -> Void

  /// - Parameter finish: Called once, from any thread, when there are as many replies as commands.
  init(size: Int, finish: @escaping @Sendable (Tally) -> Void) {
    self.size = size
    self.finish = finish
  }

  /// Records the reply to one of the commands.
  func note(_ reply: CallCommand.Reply) {
    let all = tally.withLock { tally -> Tally? in
      switch reply {
      case .refused(let problem) where problem.code == Engine.ownedElsewhereCode: tally.elsewhere += 1
      case .refused(let problem) where problem.status >= 500: tally.unavailable += 1
      case .refused: tally.skipped += 1
      case .done: tally.done += 1
      }
      return tally.count == size ? tally : nil
    }
    if let all { finish(all) }
  }
}
