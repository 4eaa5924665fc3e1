internal import HTTPServer
internal import RedialModel
internal import RedialText

/// Serves the API: admits each request on its event loop and gives it to its route.
struct API: HTTPHandler {
  let stage: ServiceStage
  let queries: Queries
  let clock: Clock
  let metrics: Metrics
  /// Nil if no others can share the store.
  let instances: OtherInstances?
  let engine: EngineLane
  let keys: KeyRing
  let router: Router
  /// Refuses requests of web pages of other origins.
  let pages: PageGuard
  /// The proxies whose `X-Forwarded-*` fields are used.
  let proxies: TrustedProxies
  let users: TrustedUsers
  let audit: AuditLog

  func handle(_ request: borrowing HTTPRequest, _ responder: HTTPResponder) {
    let match = router.match(request.method, request.path)
    if let answer = pages.origins.preflight(request, allowing: match.methods) {
      return queries.respond(responder, answer)
    }
    if let refusal = stage.refusal, !match.isOfHealthCheck { return refuse(request, responder, refusal) }
    guard case .found(let route, let parts) = match else { return refuse(request, responder, match) }
    if route.server == .peer, instances == nil || !PeerTrust.isForwarded(request) {
      return refuse(request, responder, .notFound)
    }
    guard let (responder, admitted) = admit(request, responder, route.demand) else { return }
    var caller = admitted
    // Only then: it is asked of the system.
    if route.audit != nil, instances == nil || !PeerTrust.isForwarded(request) {
      caller.address = proxies.client(of: request)
    }
    var exchange = Exchange(responder: responder, caller: caller, parts: parts)
    if let instances, route.server != .any {
      exchange.isForwarded = PeerTrust.isForwarded(request)
      if !exchange.isForwarded { exchange.forwardable = ForwardableRequest(request, of: caller) }
      if route.server == .leader, instances.owners.passToLeader(exchange) { return }
    }
    if let action = route.audit { record(action, &exchange, isInTransaction: route.server == .leader) }
    do throws(Problem) {
      try route.serve(request, exchange)
    } catch {
      answer(responder, with: error, of: route)
    }
  }

  /// Has a request recorded that changes something.
  ///
  /// - Parameter isInTransaction: Whether the change writes the record itself; otherwise it is written before the answer.
  private func record(_ action: AuditAction, _ exchange: inout Exchange, isInTransaction: Bool) {
    let object = exchange.parts.first.map { PercentCoding.decode($0) ?? String($0) } ?? ""
    let caller = exchange.caller
    let note = AuditNote(action, of: caller, keyName: caller.keyID.flatMap { keys[$0]?.name }, object: object)
    exchange.audit = note
    if !isInTransaction { exchange.responder = audit.recording(note, exchange.responder) }
  }

  /// Receives a body as a stream, if its route does that.
  func receiver(
    for request: borrowing HTTPRequest, _ responder: HTTPResponder
  ) -> (any HTTPBodyReceiver)? {
    guard let route = router.receiver(request.method, request.path), let receiving = route.receiving,
      receiving.takes(request)
    else { return nil }
    if let refusal = stage.refusal {
      refuse(request, responder, refusal)
      return nil
    }
    guard let (responder, caller) = admit(request, responder, route.demand) else { return nil }
    do throws(Problem) {
      return try receiving.receive(request, Exchange(responder: responder, caller: caller))
    } catch {
      answer(responder, with: error, of: route)
      return nil
    }
  }

  func wantsCodedContent(of request: borrowing HTTPRequest) -> Bool {
    guard case .found(let route, _) = router.match(request.method, request.path) else { return false }
    return route.takesCodedContent
  }

  func turnEnded() {
    engine.wake()
  }

  private func answer(_ responder: HTTPResponder, with problem: Problem, of route: Route) {
    if route.isSubmission { metrics.count { $0.refused += 1 } }
    queries.respond(responder, Answer.problem(problem))
  }

  /// Refuses a request because the service starts or stops, whoever sends it.
  private func refuse(_ request: borrowing HTTPRequest, _ responder: HTTPResponder, _ refusal: Problem) {
    // Another instance learns by it that nothing was done, and asks again, or another one.
    let fields = PeerTrust.isForwarded(request) ? [HTTPHeader("\(PeerLink.notOwnerField)", "1")] : []
    queries.respond(responder.adding(pages.origins.fields(of: request)), Answer.problem(refusal, fields))
  }

  /// Answers a request that has no route. Only a client with a key may see which paths exist.
  private func refuse(_ request: borrowing HTTPRequest, _ responder: HTTPResponder, _ match: Router.Match) {
    guard let (responder, _) = admit(request, responder, Demand(access: .anyKey)) else { return }
    guard case .wrongMethod(let allowed) = match else {
      let isKey = request.path.hasPrefix("/v1/targets/http:/") || request.path.hasPrefix("/v1/targets/https:/")
      let nothing = "There is nothing at this path; /openapi.yaml lists all paths."
      let problem = Exchange.notFound(isKey ? "\(nothing) \(Exchange.encodedKey)" : nothing)
      return queries.respond(responder, Answer.problem(problem))
    }
    let problem = Problem(
      .methodNotAllowed, detail: "This path allows \(allowed), and not \(request.method).")
    queries.respond(responder, Answer.problem(problem, [HTTPHeader("allow", allowed)]))
  }

  /// The requirements of a request.
  fileprivate struct Demand {
    var access: Access
    var accessWithoutKey: Access?
    var exposure = PageGuard.Exposure.own
  }

  /// Admits a request of another instance, which has identified the client and checked its permission, as far as it knows.
  private func admit(
    _ request: borrowing HTTPRequest, _ responder: HTTPResponder, from peers: PeerLink
  ) -> (HTTPResponder, Caller)? {
    var problem = Problem(
      .notAPeer,
      detail: "Fields that begin with \(PeerTrust.prefix) are for instances that share a store. Send none of them.")
    if let caller = peers.trust.caller(of: request, at: clock.now) {
      guard let refusal = caller.keyID.flatMap(keys.refusal(ofRevoked:)) else { return (responder, caller) }
      problem = refusal
    }
    queries.respond(responder, Answer.problem(problem))
    return nil
  }

  /// Identifies the client of a request and checks its permission.
  ///
  /// - Returns: The responder for the answer; nil if the request was refused.
  private func admit(
    _ request: borrowing HTTPRequest, _ responder: HTTPResponder, _ demand: Demand
  ) -> (HTTPResponder, Caller)? {
    if let instances, PeerTrust.isForwarded(request) {
      return admit(request, responder, from: instances.link)
    }
    var (responder, caller) = (responder.adding(pages.origins.fields(of: request)), Caller())
    let forwarded = proxies.address(of: request)
    if let forwarded { responder = responder.locating(below: forwarded.base) }
    var access = demand.access
    if let other = demand.accessWithoutKey, request.header("authorization") == nil { access = other }
    var person: TrustedUsers.Person?
    do throws(Problem) {
      person = try users.person(of: request)
    } catch {
      queries.respond(responder, Answer.problem(error))
      return nil
    }
    // A program's key counts, whoever the proxy has signed in.
    if person != nil, let authorization = request.header("authorization"), keys.isKey(authorization) { person = nil }
    // For a person the browser adds by itself what the proxy asks for, as if no key were needed. So the host matters, too: a
    // page that has rebound its name to the proxy's machine could otherwise say that somebody has signed in.
    let asksForKey = keys.isRequired && person == nil
    if let problem = pages.refusal(
      of: request, from: forwarded, to: demand.exposure, asksForKey: asksForKey)
    {
      queries.respond(responder, Answer.problem(problem))
      return nil
    }
    if let person {
      switch keys.judge(person, for: access) {
      case .admitted(let fields, let admitted): (responder, caller) = (responder.adding(fields), admitted)
      case .refused(let problem, let fields):
        queries.respond(responder, Answer.problem(problem, fields))
        return nil
      }
    } else if asksForKey {
      switch keys.judge(request.header("authorization"), for: access, at: clock.now) {
      case .admitted(let fields, let admitted): (responder, caller) = (responder.adding(fields), admitted)
      case .refused(let problem, let fields):
        queries.respond(responder, Answer.problem(problem, fields))
        return nil
      }
    }
    guard let field = request.header(Caller.namespaceField) else { return (responder, caller) }
    do throws(Problem) {
      return (responder, try caller.acting(in: field, access))
    } catch {
      queries.respond(responder, Answer.problem(error))
      return nil
    }
  }
}

extension Route {
  fileprivate var demand: API.Demand {
    API.Demand(access: access, accessWithoutKey: accessWithoutKey, exposure: exposure)
  }
}

extension Router.Match {
  /// Whether a supervisor or a load balancer asks, who gets an answer at any time.
  fileprivate var isOfHealthCheck: Bool {
    if case .found(let route, _) = self { ServiceRoutes.healthChecks.contains(route.path) } else { false }
  }

  /// The methods that a page of another origin may use.
  fileprivate var methods: CORSOrigins.Methods {
    switch self {
    case .found(let route, _) where route.method == nil: .every
    case .found, .notFound: .usual
    case .wrongMethod(let allowed): .these(allowed)
    }
  }
}
