internal import HTTPServer
internal import RedialModel
internal import RedialStore

/// Changes that are no call's, made on the store's lane.
///
/// A change holds the runtime until it has run, which is once, so that one behind a slow commit finds it there.
extension Runtime {
  /// Makes a change that is no call's, on the store's lane behind everything that was asked of it before, and answers
  /// with what comes of it.
  ///
  /// - Parameters:
  ///   - event: What the log calls a failure of the store.
  ///   - body: Throws a `Problem`, or a `StoreError`, which becomes one.
  func change(
    _ responder: HTTPResponder, noting event: StaticString = "changeFailed",
    _ body: @escaping @Sendable (any CallStore) throws -> HTTPResponse
  ) {
    storeLane?.afterwards { [self] store in
      do {
        respond(responder, try body(store))
      } catch let problem as Problem {
        respond(responder, Answer.problem(problem))
      } catch {
        let failure = error as? StoreError
        log.write(.error, event, [("error", failure?.message ?? "\(error)")])
        respond(responder, Answer.problem(Answer.notStored(isFull: failure?.kind == .full)))
      }
    }
  }

  /// Makes a change that is no call's and that no client waits for, on the store's lane.
  ///
  /// - Parameters:
  ///   - write: What to write, as of when the store comes to it; nothing when nil.
  ///   - then: Called on the lane with whether it is on disk.
  func keep(_ write: @escaping @Sendable () -> StoreWrite?, then: @escaping @Sendable (Bool) -> Void) {
    storeLane?.afterwards { [weak self] store in
      do throws(StoreError) {
        try store.commit(write().map { [$0] } ?? [])
        then(true)
      } catch {
        self?.log.write(.error, "changeFailed", [("error", error.message)])
        then(false)
      }
    }
  }

  /// Does something with the store's documents, on its lane, and answers with what comes of it.
  func keep(
    _ responder: HTTPResponder, _ body: @escaping @Sendable (any DocumentStore) throws -> HTTPResponse
  ) {
    change(responder, noting: "documentNotKept") { try body(Self.documents(of: $0)) }
  }

  /// Does something with the store's documents, on its lane.
  func onStore(_ body: @escaping @Sendable (any DocumentStore) -> Void) {
    storeLane?.afterwards { body(Self.documents(of: $0)) }
  }

  private static func documents(of store: any CallStore) -> any DocumentStore {
    guard let documents = store as? any DocumentStore else {
      preconditionFailure("a store that keeps calls for a service keeps its documents, too")
    }
    return documents
  }
}
