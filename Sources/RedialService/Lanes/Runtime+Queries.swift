internal import HTTPServer
internal import RedialModel
internal import RedialStore

/// Queries of the store for clients.
///
/// A query retains the runtime until it has run, which happens once. So a query that still waits when the service
/// stops finds an open store. Nothing long-lived retains a query.
extension Runtime {
  /// Answers with the result of a query, which runs on a query lane.
  ///
  /// - Parameters:
  ///   - isOwed: Whether it runs however many queries wait: for a client whose call was accepted.
  ///   - body: Throws a `Problem`, or a `StoreError`, which becomes one; nil if the answer comes another way.
  func query(
    _ responder: HTTPResponder, isOwed: Bool = false, _ body: @escaping @Sendable () throws -> HTTPResponse?
  ) {
    query(isOwed: isOwed) { [self] in
      if let response = try body() { respond(responder, response) }
    } failure: { [self] problem in
      respond(responder, Answer.problem(problem))
    }
  }

  /// Runs a query on a query lane.
  ///
  /// - Parameters:
  ///   - isOwed: Whether it runs however many queries wait: for a client whose call was accepted.
  ///   - body: Throws a `Problem`, or a `StoreError`, which becomes one.
  ///   - failure: Called with the problem; at once, if too many queries wait.
  func query(
    isOwed: Bool = false, _ body: @escaping @Sendable () throws -> Void,
    failure: @escaping @Sendable (Problem) -> Void
  ) {
    let query = { @Sendable [self] in
      do {
        try body()
      } catch {
        failure(problem(of: error))
      }
    }
    if isOwed { return queries.runOwed(query) }
    if !queries.run(query) {
      failure(
        Problem(
          status: 503, code: "tooManyQueries", title: "Too many queries are waiting",
          detail: "The service reads as fast as it can. Try again in a moment.", retryAfter: 1))
    }
  }

  /// Answers with a computation that needs no store, on the lane for these.
  func forecast(
    _ responder: HTTPResponder, for caller: Caller, _ body: @escaping @Sendable () -> HTTPResponse
  ) {
    let refusal = forecasts.run(for: caller.admission) { [weak self] in self?.respond(responder, body()) }
    if let refusal { respond(responder, Answer.problem(refusal.problem)) }
  }

  /// The answer to a query that failed. The cause is in the log.
  func problem(of error: any Error) -> Problem {
    if let problem = error as? Problem { return problem }
    let message = (error as? StoreError)?.message ?? "\(error)"
    // The message about a call that cannot be read begins with its id.
    let call = CallID(message.prefix { $0 != " " }).map { [("callId" as StaticString, $0.description)] } ?? []
    log.write(.error, "queryFailed", call + [("error", message)])
    return Answer.storeUnreadable
  }
}
