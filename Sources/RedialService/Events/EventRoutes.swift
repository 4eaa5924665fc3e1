internal import HTTPServer
internal import RedialModel

/// The stream of events.
struct EventRoutes: RouteGroup {
  let runtime: Runtime
  let keys: KeyRing

  var routes: [Route] { [Route(.get, "/v1/events", .scope(.read), serve: listen)] }

  private func listen(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let (responder, caller) = (exchange.responder, exchange.caller)
    var parameters = try QueryParameters(request.query)
    let filter = try EventFilter(taking: &parameters, caller)
    let inQuery = parameters.take("lastEventId")
    try parameters.finish()
    var last: EventID?
    // A client that reconnects sends a newer position in the field than in its URL.
    if let text = request.header("last-event-id") ?? inQuery, !text.isEmpty {
      last = EventID(text)
      if last == nil { throw QueryParameters.problem("lastEventId", "must be the id of an event") }
    }
    if request.method == .head {
      let head = [HTTPHeader("content-type", "text/event-stream")]
      return runtime.respond(responder, HTTPResponse(status: 200, headers: head, body: []))
    }
    runtime.metrics.count { $0.requests[2] += 1 }
    runtime.events.listen(
      responder, filter, after: last, caller, mayGoOn: { [keys] in keys.refusal(of: caller) },
      refuse: { [runtime] problem in runtime.respond(responder, Answer.problem(problem)) })
  }
}
