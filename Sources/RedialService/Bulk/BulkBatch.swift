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
    switch reply {
    case .elsewhere: noteElsewhere()
    case .refused(let refusal): note(status: refusal.problem.status)
    case .done: note(status: 200)
    }
  }

  /// Records the status of the answer with which another instance has executed one of the commands.
  func note(status: Int) {
    count { tally in
      switch status {
      case 200...299: tally.done += 1
      case 500...: tally.unavailable += 1
      default: tally.skipped += 1
      }
    }
  }

  /// Records that the instance which runs one of the calls could not be asked.
  func noteElsewhere() {
    count { $0.elsewhere += 1 }
  }

  private func count(_ change: (inout Tally) -> Void) {
    let all = tally.withLock { tally -> Tally? in
      change(&tally)
      return tally.count == size ? tally : nil
    }
    if let all { finish(all) }
  }
}
