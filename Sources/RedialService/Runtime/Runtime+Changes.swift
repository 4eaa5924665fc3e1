internal import Dispatch
internal import HTTPServer
internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Whether somebody has begun to answer a change.
private final class ChangeTurn: Sendable {
  private let isTaken = Atomic(false)

  /// True for the first.
  func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}

/// Changes that do not concern a call, made on the store's lane.
///
/// A change retains the runtime until it has run, exactly once, so that one behind a slow commit still finds the
/// runtime.
extension Runtime {
  /// Makes a change that does not concern a call, on the store's lane after all earlier requests, and answers with the
  /// result. An instance that does not lead any more by then leaves it to the leader. A change whose turn does not come
  /// while a client waits for a store that is shared is not made.
  ///
  /// - Parameters:
  ///   - event: The name of a failure of the store in the log.
  ///   - body: Throws a `Problem`, or a `StoreError`, which becomes one.
  func change(
    _ exchange: Exchange, noting event: StaticString = "changeFailed",
    _ body: @escaping @Sendable (any ServiceStore) throws -> HTTPResponse
  ) {
    let responder = exchange.responder
    let turn = ChangeTurn()
    if shared != nil {
      DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(Int(Self.patience.wholeMicroseconds))) {
        [self] in
        if turn.take() { respond(responder, Answer.problem(Answer.notStored(.unavailable))) }
      }
    }
    storeLane?.afterwards { [self] store in
      guard turn.take() else { return }
      guard peers?.table.isLeading ?? true else { return leaveToLeader(exchange) }
      do {
        respond(responder, try body(store))
      } catch let problem as Problem {
        respond(responder, Answer.problem(problem))
      } catch {
        let failure = error as? StoreError
        log.write(.error, event, [("error", failure?.message ?? "\(error)")])
        respond(responder, Answer.problem(Answer.notStored(failure?.kind)))
      }
    }
  }

  /// Makes a change that does not concern a call and for which no client waits, on the store's lane.
  ///
  /// - Parameters:
  ///   - write: Returns the change when the store reaches it; nil for none.
  ///   - then: Called on the lane when it is on disk, or with the reason why it is not, or may not be.
  func keep(_ write: @escaping @Sendable () -> StoreWrite?, then: @escaping @Sendable (StoreError?) -> Void) {
    storeLane?.afterwards { [weak self] store in
      do throws(StoreError) {
        try store.commit(write().map { [$0] } ?? [])
        then(nil)
      } catch {
        self?.log.write(.error, "changeFailed", [("error", error.message)])
        then(error)
      }
    }
  }

  /// Runs a change of the store's documents on its lane, and answers with the result.
  func keep(
    _ exchange: Exchange, _ body: @escaping @Sendable (any DocumentStore) throws -> HTTPResponse
  ) {
    change(exchange, noting: "documentNotKept") { try body($0) }
  }

  /// Runs something with the store's documents on its lane.
  func onStore(_ body: @escaping @Sendable (any DocumentStore) -> Void) {
    storeLane?.afterwards { body($0) }
  }
}
