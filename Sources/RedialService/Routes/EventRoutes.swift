internal import HTTPServer
internal import RedialModel

/// The stream of events.
struct EventRoutes: RouteGroup {
  let queries: Queries
  let metrics: Metrics
  let events: EventFeed
  let keys: KeyRing

  var routes: [Route] {
    [
      Route(.get, "/v1/events", .scope(.read), serve: listen),
      Route(.get, EventRelay.path, .scope(.read), server: .peer, serve: listenForInstance),
    ]
  }

  private func listen(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let (responder, caller) = (exchange.responder, exchange.caller)
    var parameters = try QueryParameters(request.query)
    let filter = try EventFilter(taking: &parameters, caller)
    let inQuery = parameters.take("lastEventId")
    try parameters.finish()
    // A client that reconnects sends a newer position in the field than in its URL.
    let (inField, place) = (request.header("last-event-id"), Problem.Place(.parameter, "lastEventId"))
    let last = try inField == nil ? Self.position(inQuery, place) : Self.position(inField)
    if request.method == .head {
      let head = [HTTPHeader("content-type", "text/event-stream")]
      return queries.respond(responder, HTTPResponse(status: 200, headers: head, body: []))
    }
    metrics.count { $0.requests[2] += 1 }
    events.listen(
      responder, filter, after: last, caller, mayGoOn: { [keys] in keys.refusal(of: caller) },
      refuse: { problem in queries.respond(responder, Answer.problem(problem)) })
  }

  /// The events of this instance alone, for another one, which has checked who may listen there.
  private func listenForInstance(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let responder = exchange.responder
    events.listen(
      responder, EventFilter(callKind: nil), after: try Self.position(request.header("last-event-id")), exchange.caller,
      isInstance: true, mayGoOn: { nil },
      refuse: { problem in queries.respond(responder, Answer.problem(problem)) })
  }

  private static func position(
    _ text: String?, _ place: Problem.Place = .init(.header, "Last-Event-ID")
  ) throws(Problem) -> EventID? {
    guard let text, !text.isEmpty else { return nil }
    guard let id = EventID(text) else { throw Problem(.invalidParameter, at: place, "must be the id of an event") }
    return id
  }
}
