internal import Dispatch
internal import HTTPServer
internal import RedialEngine
internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// The right to answer a change: only one gets it.
private final class AnswerRight: Sendable {
  private let isTaken = Atomic(false)

  /// True for the first.
  func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}

/// Changes that do not concern a call, made on the store's lane. The lane retains what a change needs until it has run,
/// exactly once.
struct Changes: Sendable {
  let store: StoreLane
  let queries: Queries
  let log: Log
  /// Leads to the leader, who makes them; nil if there can be no other instances.
  let owners: OwnerRequests?
  let audit: AuditLog

  /// How long clients wait for a store that is shared.
  static let patience = Duration.seconds(5)

  /// Makes a change on the store's lane after all earlier requests, and answers with the result. An instance that does
  /// not lead any more by then passes it on to the leader. A change that the lane does not come to while a client waits
  /// for a store that is shared is not made.
  ///
  /// - Parameters:
  ///   - event: The name of a failure of the store in the log.
  ///   - body: Throws a `Problem`, or a `StoreError`, which becomes one.
  func make(
    _ exchange: Exchange, failure event: StaticString = "changeFailed",
    _ body: @escaping @Sendable (any ServiceStore) throws -> HTTPResponse
  ) {
    let responder = exchange.responder
    let right = AnswerRight()
    if owners != nil {
      DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(Int(Self.patience.wholeMicroseconds))) {
        if right.take() { queries.respond(responder, Answer.problem(Answer.notStored(.unavailable))) }
      }
    }
    store.afterwards { store in
      guard right.take() else { return }
      if let owners, owners.passToLeader(exchange) { return }
      do {
        queries.respond(responder, try body(store))
      } catch let problem as Problem {
        queries.respond(responder, Answer.problem(problem))
      } catch {
        let failure = error as? StoreError
        if self.store.isClosed { return queries.respond(responder, Answer.problem(Refusal.draining.problem)) }
        log.write(.error, event, [("error", failure?.message ?? "\(error)")])
        queries.respond(responder, Answer.problem(Answer.notStored(failure?.kind)))
      }
    }
  }

  /// Changes the store's documents, and answers with the result.
  func makeDocuments(
    _ exchange: Exchange, failure event: StaticString = "documentNotKept",
    _ body: @escaping @Sendable (any DocumentStore) throws -> HTTPResponse
  ) {
    make(exchange, failure: event) { [audit] in try body(audit.recording(exchange.audit, in: $0)) }
  }

  /// Makes a change for which no client waits.
  ///
  /// - Parameters:
  ///   - write: Returns the change when the store reaches it; nil for none.
  ///   - then: Called on the lane when it is on disk, or with the reason why it is not, or may not be.
  func keep(_ write: @escaping @Sendable () -> StoreWrite?, then: @escaping @Sendable (StoreError?) -> Void) {
    store.afterwards { [log] store in
      do throws(StoreError) {
        try store.commit(write().map { [$0] } ?? [])
        then(nil)
      } catch {
        log.write(.error, "changeFailed", [("error", error.message)])
        then(error)
      }
    }
  }
}
