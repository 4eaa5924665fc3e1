internal import HTTPServer
internal import RedialCore
internal import RedialForecast
internal import RedialModel

/// The effects of a policy, without a real call.
struct ForecastRoutes: RouteGroup {
  let forecasting: Forecasting
  let policies: NamedPolicies

  var routes: [Route] {
    [
      Route(.post, "/v1/policies/preview", .scope(.read), serve: preview),
      Route(.post, "/v1/simulations", .scope(.read), serve: simulate),
    ]
  }

  /// The schedule of a policy, as JSON or as a picture.
  private func preview(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    try request.checkJSON()
    let wanted = try PlanRequest.read(request.content, policies: policies, in: exchange.caller.namespace)
    try wanted.check(mostDraws: forecasting.limits.maxPreviewDraws)
    let asPicture = request.wantsPicture
    forecasting.answer(exchange.responder, for: exchange.caller) {
      let plan = wanted.plan()
      if asPicture { return Answer.picture(plan.chart) }
      return Answer.json(capacity: 4096) { wanted.write(plan, to: &$0) }
    }
  }

  /// The effects of an outage, as JSON or as a picture.
  private func simulate(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    try request.checkJSON()
    let scenario = try OutageScenario.read(request.content, policies: policies, in: exchange.caller.namespace)
    let mostAttempts = forecasting.limits.maxSimulationAttempts
    try scenario.check(mostAttempts: mostAttempts)
    let asPicture = request.wantsPicture
    forecasting.answer(exchange.responder, for: exchange.caller) {
      let forecast = scenario.forecast(mostAttempts: mostAttempts)
      if asPicture { return Answer.picture(forecast.chart) }
      return Answer.json(capacity: 16 * 1024) { forecast.write(to: &$0) }
    }
  }
}
