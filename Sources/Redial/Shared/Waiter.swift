/// Waits for one signal; a cancelled task stops waiting.
package final class Waiter: Sendable {
  private enum Phase {
    case new
    case waiting(CheckedContinuation<Void, Never>)
    case over
  }

  private let phase = Guarded(Phase.new)

  package init() {}

  /// Returns when ``finish()`` is called, or was, or if the task is cancelled. For one task.
  package func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = phase.withLock { phase in
          if case .over = phase { return true }
          phase = .waiting(continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      finish()
    }
  }

  /// Ends the wait, and returns whether it had not ended before.
  @discardableResult
  package func finish() -> Bool {
    let before = phase.withLock { phase in
      defer { phase = .over }
      return phase
    }
    switch before {
    case .new: return true
    case .waiting(let continuation):
      continuation.resume()
      return true
    case .over: return false
    }
  }
}
