internal import HTTPServer
internal import RedialModel

/// The service itself: health, metrics, statistics, the contract and the dashboard.
struct ServiceRoutes: RouteGroup {
  let queries: Queries
  let statistics: StatisticsGathering
  let monitoring: Monitoring
  let keys: KeyRing
  /// The proxies whose `X-Forwarded-*` fields are used.
  let proxies: TrustedProxies

  /// The paths of health checks.
  static let healthChecks: Set = ["/healthz", "/readyz"]

  var routes: [Route] {
    [
      Route(.get, "/healthz", .open, exposure: .open, serve: health),
      // A load balancer has no key, and gets only the status.
      Route(.get, "/readyz", .scope(.read), withoutKey: .open, exposure: .open, serve: readiness),
      // They cover all namespaces; the route checks the namespace of the key.
      Route(.get, "/metrics", .scope(.metrics), serve: metrics),
      Route(.get, "/v1/statistics", .scope(.read), serve: statistics),
      // The contract and the list of pages are the same for everybody. The dashboard contains no data; it requests them with a key.
      Route(.get, "/openapi.yaml", .open, exposure: .document, serve: contract),
      Route(.get, "/llms.txt", .open, exposure: .document, serve: pageList),
      Route(.get, "/", .open, exposure: .document, serve: dashboard),
    ]
  }

  private func health(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    queries.respond(exchange.responder, Answer.text(200, "ok\n"))
  }

  private func readiness(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    // Only clients with a key may see the reason.
    let isBare = keys.isRequired && exchange.caller.admission == .nobody
    monitoring.showReadiness(exchange.responder, isBare: isBare)
  }

  private func metrics(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try exchange.caller.requireDefaultNamespace()
    monitoring.showMetrics(AcceptedTypes(request.list("accept")).metricFormat, exchange.responder)
  }

  private func statistics(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    statistics.show(exchange.caller.namespace, exchange.responder)
  }

  private func contract(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    queries.respond(exchange.responder, Answer.contract(below: proxies.address(of: request)?.base))
  }

  private func pageList(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    queries.respond(exchange.responder, Answer.pageList)
  }

  private func dashboard(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    queries.respond(exchange.responder, Dashboard.page)
  }
}
