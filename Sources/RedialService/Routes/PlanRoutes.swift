internal import HTTPServer
internal import RedialModel

/// What a policy would do. It needs no store.
struct PlanRoutes: RouteGroup {
  let plans: PlanLane
  let queries: Queries
  let policies: NamedPolicies

  var routes: [Route] { [Route(.post, "/v1/policies/preview", .scope(.read), serve: preview)] }

  private func preview(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    try request.checkJSON()
    let wanted = try PlanRequest.read(request.content, policies: policies, in: exchange.caller.namespace)
    let asPicture = request.wantsPicture
    plans.answer(exchange.responder, by: queries, for: exchange.caller) {
      let plan = wanted.plan()
      if asPicture { return Answer.picture(plan.chart) }
      return Answer.json(capacity: 4096) { wanted.write(plan, to: &$0) }
    }
  }
}

extension PlanLane {
  /// Answers with what is computed when it is the caller's turn.
  func answer(
    _ responder: HTTPResponder, by queries: Queries, for caller: Caller, _ body: @escaping @Sendable () -> HTTPResponse
  ) {
    let refusal = run(for: caller.admission) { queries.respond(responder, body()) }
    if let refusal { queries.respond(responder, Answer.problem(refusal.problem)) }
  }
}
