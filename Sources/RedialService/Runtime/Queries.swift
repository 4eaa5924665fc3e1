internal import HTTPServer
internal import RedialModel
internal import RedialStore

/// Answers clients: at once, or with what a query of the store finds.
///
/// A query retains what it needs until it has run, which happens once. So one that still waits when the service stops
/// finds an open reader. Nothing long-lived retains a query.
struct Queries: Sendable {
  let reader: any CallReader
  private let lanes: QueryLanes
  private let metrics: Metrics
  private let log: Log

  init(_ reader: any CallReader, _ metrics: Metrics, _ log: Log) {
    (self.reader, self.metrics, self.log) = (reader, metrics, log)
    lanes = QueryLanes(count: reader.connections)
  }

  /// Answers at once.
  func respond(_ responder: HTTPResponder, _ response: HTTPResponse) {
    metrics.count { $0.requests[min(5, max(1, response.status / 100))] += 1 }
    responder.respond(response)
  }

  /// Answers with the result of a query, which runs on a query lane.
  ///
  /// - Parameters:
  ///   - isOwed: Whether it runs however many queries wait: for a client whose call was accepted.
  ///   - body: Throws a `Problem`, or a `StoreError`, which becomes one; nil if the answer is sent in another way.
  func answer(
    _ responder: HTTPResponder, isOwed: Bool = false, _ body: @escaping @Sendable () throws -> HTTPResponse?
  ) {
    run(isOwed: isOwed) {
      if let response = try body() { respond(responder, response) }
    } failure: { problem in
      respond(responder, Answer.problem(problem))
    }
  }

  /// Answers with the result of a query of many calls. It is dropped if its client departs while it waits.
  ///
  /// - Parameters:
  ///   - load: How much it reads.
  ///   - caller: The client; keys are served in rotation.
  ///   - body: Gets an object that says whether the client has departed. Throws like a query of one call.
  func answer(
    _ responder: HTTPResponder, as load: QueryLoad, for caller: Caller,
    _ body: @escaping @Sendable (QueryLanes.Departure) throws -> HTTPResponse
  ) {
    let departure = QueryLanes.Departure()
    responder.onCancel { departure.record() }
    run(as: load, of: caller.admission, unless: departure) {
      respond(responder, try body(departure))
    } failure: { problem in
      respond(responder, Answer.problem(problem))
    }
  }

  /// Runs a query on a query lane.
  ///
  /// - Parameters:
  ///   - isOwed: Whether it runs however many queries wait: for a client whose call was accepted.
  ///   - load: How much it reads.
  ///   - key: The API key of the client.
  ///   - departure: Recorded when its client departs; the query is then dropped if it still waits.
  ///   - body: Throws a `Problem`, or a `StoreError`, which becomes one.
  ///   - failure: Called with the problem; at once if too many queries wait.
  func run(
    isOwed: Bool = false, as load: QueryLoad = .lookUp, of key: Caller.Admission = .nobody,
    unless departure: QueryLanes.Departure? = nil, _ body: @escaping @Sendable () throws -> Void,
    failure: @escaping @Sendable (Problem) -> Void
  ) {
    let query = { @Sendable in
      do {
        try body()
      } catch {
        failure(problem(of: error))
      }
    }
    if isOwed { return lanes.runOwed(query) }
    let tooMany = Problem(
      .tooManyQueries,
      detail: "Too many queries are waiting. The service reads as fast as it can. Try again in a moment.", retryAfter: 1
    )
    // A client that has only ended its side of the connection gets this answer, as if too many waited.
    if !lanes.run(as: load, of: key, unless: departure, drop: { failure(tooMany) }, query) { failure(tooMany) }
  }

  /// Runs a query on a query lane, however many wait. It may not fail.
  func runOwed(_ body: @escaping @Sendable () -> Void) { lanes.runOwed(body) }

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
