internal import HTTPServer
internal import RedialModel

/// The bulk operations.
struct OperationRoutes: RouteGroup {
  let queries: Queries
  let clock: Clock
  let changes: Changes
  let operations: BulkOperations
  let standings: TargetStandings
  let keys: KeyRing

  var routes: [Route] {
    [
      Route(.get, "/v1/operations", .scope(.read), server: .leader, serve: list),
      Route(.post, "/v1/operations", .scope(.operate), server: .leader, audit: .operationStarted, serve: begin),
      Route(.get, "/v1/operations/{id}", .scope(.read), server: .leader, serve: show),
      Route(
        .post, "/v1/operations/{id}/cancel", .scope(.operate), server: .leader, audit: .operationStopped, serve: cancel),
    ]
  }

  private func list(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let page = try ListPage(parameters: request.query)
    try queries.respond(exchange.responder, operations.list(page, of: exchange.caller.namespace))
  }

  private func show(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let id = try exchange.operationID()
    try request.checkNoParameters()
    try queries.respond(exchange.responder, operations.show(id, exchange.caller.namespace))
  }

  /// Begins an operation on many calls, or counts them.
  private func begin(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    try request.checkJSON()
    var wanted = try BulkRequest.read(request.content, rate: operations.rate, at: clock.now)
    wanted.filter.namespace = exchange.caller.namespace
    exchange.caller.sign(&wanted.attribution)
    // New calls take the scope of a submission, too, as the replay of one call does.
    if wanted.action == .replay, !queries.admits(exchange.caller, to: .submit, by: keys, exchange.responder) { return }
    if wanted.isDryRun {
      // A count reads many pages, even if an index finds the calls.
      return queries.answer(exchange.responder, as: .scan, for: exchange.caller) {
        [wanted] departure in
        try operations.count(wanted, queries.reader, standings.known(at: clock.now), unless: departure)
      }
    }
    changes.makeDocuments(exchange, failure: "changeFailed") { [wanted] store in
      try operations.begin(wanted, in: store, at: clock.now)
    }
  }

  private func cancel(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let (id, namespace) = (try exchange.operationID(), exchange.caller.namespace)
    try request.checkNoParameters()
    changes.makeDocuments(exchange, failure: "changeFailed") { store in
      try operations.cancel(id, namespace, in: store, at: clock.now)
    }
  }
}
