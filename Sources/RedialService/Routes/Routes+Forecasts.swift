internal import HTTPServer
internal import RedialCore
internal import RedialForecast
internal import RedialModel

/// The effects of a policy, without a real call.
extension Routes {
  /// The schedule of a policy, as JSON or as a picture.
  func preview(
    _ request: borrowing HTTPRequest, _ responder: HTTPResponder, _ caller: Caller
  ) throws(Problem) {
    try noParameters(request.query)
    try checkContentType(request.header("content-type"))
    let wanted = try PlanRequest.read(
      request.body.bindMemory(to: UInt8.self), policies: limits.policies, in: caller.namespace)
    try wanted.check(mostDraws: runtime.forecastLimits.maxPreviewDraws)
    let asPicture = Self.wantsPicture(request.header("accept"))
    runtime.forecast(responder, for: caller) {
      let plan = wanted.plan()
      if asPicture { return Answer.picture(plan.chart) }
      return Answer.json(capacity: 4096) { wanted.write(plan, to: &$0) }
    }
  }

  /// What a call would do if it were submitted: its spec with every default, and its plan.
  func showPlan(of descriptor: CallDescriptor, _ responder: HTTPResponder, _ caller: Caller) {
    let verdict = (limits.egress ?? EgressPolicy()).verdict(
      ofOrigin: (try? TargetURL(descriptor.spec.url).origin) ?? "")
    let attempts = min(100, max(1, runtime.forecastLimits.maxPreviewDraws / RetryPlan.sampledRuns))
    runtime.forecast(responder, for: caller) { [runtime] in
      let plan = descriptor.spec.policy.plan(limit: attempts)
      return Answer.json(capacity: 4096) { writer in
        writer.beginObject()
        writer.field("startsAt", descriptor.start.instant(acceptedAt: runtime.clock.now))
        writer.key("call")
        writer.raw(descriptor.spec.redactedJSON(runtime.redaction))
        writer.key("egress")
        verdict.write(to: &writer)
        writer.key("plan")
        let spec = descriptor.spec
        PlanView.write(plan, of: spec.policy, named: spec.policyName, mayRepeat: spec.idempotent, to: &writer)
        writer.key("warnings")
        CallWarning.write(spec.warnings, to: &writer)
        writer.endObject()
      }
    }
  }

  /// The effects of an outage, as JSON or as a picture.
  func simulate(
    _ request: borrowing HTTPRequest, _ responder: HTTPResponder, _ caller: Caller
  ) throws(Problem) {
    try noParameters(request.query)
    try checkContentType(request.header("content-type"))
    let scenario = try OutageScenario.read(
      request.body.bindMemory(to: UInt8.self), policies: limits.policies, in: caller.namespace)
    let mostAttempts = runtime.forecastLimits.maxSimulationAttempts
    try scenario.check(mostAttempts: mostAttempts)
    let asPicture = Self.wantsPicture(request.header("accept"))
    runtime.forecast(responder, for: caller) {
      let forecast = scenario.forecast(mostAttempts: mostAttempts)
      if asPicture { return Answer.picture(forecast.chart) }
      return Answer.json(capacity: 16 * 1024) { forecast.write(to: &$0) }
    }
  }

  /// Whether the client prefers SVG to JSON: it lists SVG and not JSON. A client that wants both sends two requests.
  private static func wantsPicture(_ accept: String?) -> Bool {
    guard let accept = accept?.lowercased() else { return false }
    return accept.contains("image/svg+xml") && !accept.contains("application/json")
  }
}
