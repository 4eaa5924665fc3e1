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
  ///   - body: Throws a `Problem`, or a `StoreError`, which becomes one; nil if the answer is sent in another way.
  func query(
    _ responder: HTTPResponder, isOwed: Bool = false, _ body: @escaping @Sendable () throws -> HTTPResponse?
  ) {
    query(isOwed: isOwed) { [self] in
      if let response = try body() { respond(responder, response) }
    } failure: { [self] problem in
      respond(responder, Answer.problem(problem))
    }
  }

  /// Answers with the result of a query of many calls. It is dropped if its client leaves while it waits.
  ///
  /// - Parameters:
  ///   - load: How much it reads.
  ///   - caller: The client; keys are served in rotation.
  ///   - body: Gets an object that says whether the client has left. Throws like a query of one call.
  func query(
    _ responder: HTTPResponder, as load: QueryLoad, for caller: Caller,
    _ body: @escaping @Sendable (QueryLanes.Departure) throws -> HTTPResponse
  ) {
    let departure = QueryLanes.Departure()
    responder.onCancel { departure.note() }
    query(as: load, of: caller.admission, unless: departure) { [self] in
      respond(responder, try body(departure))
    } failure: { [self] problem in
      respond(responder, Answer.problem(problem))
    }
  }

  /// Runs a query on a query lane.
  ///
  /// - Parameters:
  ///   - isOwed: Whether it runs however many queries wait: for a client whose call was accepted.
  ///   - load: How much it reads.
  ///   - key: The API key of the client.
  ///   - departure: Set when its client leaves; the query is then dropped if it still waits.
  ///   - body: Throws a `Problem`, or a `StoreError`, which becomes one.
  ///   - failure: Called with the problem; at once if too many queries wait.
  func query(
    isOwed: Bool = false, as load: QueryLoad = .lookUp, of key: Caller.Admission = .nobody,
    unless departure: QueryLanes.Departure? = nil, _ body: @escaping @Sendable () throws -> Void,
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
    let tooMany = Problem(
      status: 503, code: "tooManyQueries", title: "Too many queries are waiting",
      detail: "The service reads as fast as it can. Try again in a moment.", retryAfter: 1)
    // A client that has only ended its side of the connection gets this answer, as if too many waited.
    if !queries.run(as: load, of: key, unless: departure, drop: { failure(tooMany) }, query) { failure(tooMany) }
  }

  /// Answers with the result of a computation that needs no store, on the forecast lane.
  func forecast(
    _ responder: HTTPResponder, for caller: Caller, _ body: @escaping @Sendable () -> HTTPResponse
  ) {
    let refusal = forecasts.run(for: caller.admission) { [weak self] in self?.respond(responder, body()) }
    if let refusal { respond(responder, Answer.problem(refusal.problem)) }
  }

  /// The answer to a query that failed. The cause is in the log, except for a call that cannot be read: whoever asks for it
  /// again and again would fill that. `redial doctor` names all of these.
  func problem(of error: any Error) -> Problem {
    if let problem = error as? Problem { return problem }
    let failure = error as? StoreError
    if let damaged = failure?.callDamaged { return damaged }
    log.write(.error, "queryFailed", [("error", failure?.message ?? "\(error)")])
    return Answer.storeUnreadable
  }
}
