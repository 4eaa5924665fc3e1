internal import Redial

/// Lets one callback run at a time: the next begins when the one before has reported.
final class CallbackTurn: Sendable {
  private struct State {
    var last: UInt64 = 0
    var holder: UInt64?
    var waiting: [ObjectIdentifier: Waiter] = [:]
  }

  private let state = Guarded(State())

  /// Waits until no callback runs, and takes the turn.
  ///
  /// - Returns: The number with which the turn ends.
  /// - Throws: `CancellationError` if the task is cancelled first.
  func take() async throws -> UInt64 {
    while true {
      try Task.checkCancellation()
      let waiter = Waiter()
      let number = state.withLock { state -> UInt64? in
        guard state.holder == nil else {
          state.waiting[ObjectIdentifier(waiter)] = waiter
          return nil
        }
        state.last += 1
        state.holder = state.last
        return state.last
      }
      if let number { return number }
      await waiter.wait()
      state.withLock { _ = $0.waiting.removeValue(forKey: ObjectIdentifier(waiter)) }
    }
  }

  /// Ends a turn; one that has ended before stays as it is.
  func end(_ number: UInt64) {
    let waiting = state.withLock { state -> [Waiter] in
      guard state.holder == number else { return [] }
      state.holder = nil
      return Array(state.waiting.values)
    }
    for waiter in waiting { waiter.finish() }
  }
}
