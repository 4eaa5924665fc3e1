internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// Serves the API: parses each request on its event loop and passes it on.
struct Routes: HTTPHandler {
  let runtime: Runtime
  let limits: CallDescriptor.Limits
  let longestWait: Duration
  let maxBatch: Int
  let maxLineBytes: Int
  let maxScan: Int
  /// Maximum number of services like this one that a submission may have passed through.
  let maxHops: Int
  let policies: StoredPolicies
  let operations: BulkOperations
  let keys: KeyRing
  /// Refuses requests of web pages of other origins.
  var pages = PageGuard()
  /// The proxies whose `X-Forwarded-*` fields are used.
  var proxies = TrustedProxies()
  /// The directory of the files that a target's TLS settings may name; nil if they may name none.
  var tlsDirectory: String?
  /// The clients that may name a call's target.
  var targetNaming = TargetNaming.operators

  func handle(_ request: borrowing HTTPRequest, _ responder: HTTPResponder) {
    let route = Route(request.method, request.path, query: request.query)
    if let answer = pages.origins.preflight(request, to: route) { return runtime.respond(responder, answer) }
    guard let (responder, caller) = admit(request, responder, to: route) else { return }
    do throws(Problem) {
      try serve(route, request, responder, caller)
    } catch {
      runtime.respond(responder, Answer.problem(error))
    }
  }

  /// Identifies the client of a request and checks its permission.
  ///
  /// - Returns: The responder for the answer; nil if the request was refused.
  func admit(
    _ request: borrowing HTTPRequest, _ responder: HTTPResponder, to route: Route
  ) -> (HTTPResponder, Caller)? {
    var (responder, caller) = (responder.adding(pages.origins.fields(of: request)), Caller())
    let forwarded = proxies.address(of: request)
    if let forwarded { responder = responder.locating(below: forwarded.base) }
    let access = route.access(withKey: request.header("authorization") != nil)
    let asksForKey = keys.isRequired
    if let problem = pages.refusal(of: request, from: forwarded, to: route, asksForKey: asksForKey) {
      runtime.respond(responder, Answer.problem(problem))
      return nil
    }
    if asksForKey {
      switch keys.judge(request.header("authorization"), for: access, at: runtime.clock.now) {
      case .admitted(let fields, let admitted): (responder, caller) = (responder.adding(fields), admitted)
      case .refused(let problem, let fields):
        runtime.respond(responder, Answer.problem(problem, fields))
        return nil
      }
    }
    guard let field = request.header(Caller.namespaceField) else { return (responder, caller) }
    do throws(Problem) {
      return (responder, try caller.acting(in: field, access))
    } catch {
      runtime.respond(responder, Answer.problem(error))
      return nil
    }
  }

  func turnEnded() {
    runtime.wakeEngine()
  }

  private func serve(
    _ route: Route, _ request: borrowing HTTPRequest, _ responder: HTTPResponder, _ caller: Caller
  ) throws(Problem) {
    switch route {
    case .submit: try counting { () throws(Problem) in try submit(request, responder, caller) }
    case .submitBatch: try counting { () throws(Problem) in try submitBatch(request, responder, caller) }
    case .forward(let url): try counting { () throws(Problem) in try forward(url, request, responder, caller) }
    case .list:
      try list(request.query, Self.wantsLines(request.header("accept")), responder, caller)
    case .call(let id): try show(id, request, responder, caller)
    case .attempts(let id):
      try attempts(id, request.query, responder, caller)
    case .replay(let id): try counting { () throws(Problem) in try replay(id, request, responder, caller) }
    case .command(let kind, let id):
      var parameters = try QueryParameters(request.query)
      let erasesLabels = kind == .erase ? try parameters.takeFlag("labels") : false
      try parameters.finish()
      let attribution = try attribution(of: request)
      runtime.ask(responder, for: .operation) {
        .command(
          CallCommand(
            kind, id, in: caller.namespace, reply: $0, attribution: attribution, erasesLabels: erasesLabels))
      }
    case .targets:
      let wanted = try TargetQuery(parameters: request.query, in: caller.namespace)
      runtime.ask(responder, for: .targets(caller.namespace)) { .describePage(wanted, $0) }
    case .target(let key):
      try noParameters(request.query)
      let target = caller.qualified(key)
      runtime.ask(responder, for: .target(target)) { .describe(target, $0) }
    case .statistics:
      try noParameters(request.query)
      runtime.showStatistics(of: caller.namespace, responder)
    case .operations:
      try noParameters(request.query)
      runtime.respond(responder, operations.list(of: caller.namespace))
    case .operation(let id):
      try noParameters(request.query)
      try runtime.respond(responder, operations.show(id, caller.namespace))
    case .beginOperation: try beginOperation(request, responder, caller)
    case .cancelOperation(let id): try cancelOperation(id, request, responder, caller)
    case .policies:
      try noParameters(request.query)
      runtime.respond(responder, policies.list(of: caller.namespace))
    case .policy(let name): try runtime.respond(responder, policies.show(name, request.query, caller.namespace))
    case .putPolicy(let name): try put(name, request, responder, caller)
    case .removePolicy(let name): try remove(name, request, responder, caller)
    case .events: try listen(request, responder, caller)
    case .keys(let route): try serve(route, request, responder, caller)
    case .webhooks(let route): try serve(route, request, responder, caller)
    case .webhookSecret:
      try noParameters(request.query)
      runtime.showWebhookSecret(of: caller.namespace, responder)
    case .preview: try preview(request, responder, caller)
    case .simulate: try simulate(request, responder, caller)
    case .configure(let key):
      try noParameters(request.query)
      try checkContentType(request.header("content-type"))
      try checkTargetKey(key)
      let overrides = try TargetOverrides.read(request.body.bindMemory(to: UInt8.self))
      try overrides.checkOrigins(of: key)
      try overrides.checkFiles(in: caller.namespace.tlsDirectory(in: tlsDirectory))
      let target = caller.qualified(key)
      runtime.ask(responder, for: .control) { .targetCommand(TargetCommand(.configure(overrides), target, reply: $0)) }
    case .control(let kind, let key):
      try noParameters(request.query)
      try checkTargetKey(key)
      let target = caller.qualified(key)
      runtime.ask(responder, for: .control) { .targetCommand(TargetCommand(kind, target, reply: $0)) }
    case .health:
      runtime.respond(responder, Answer.text(200, "ok\n"))
    case .readiness:
      // Only clients with a key may see the reason.
      let isBare = keys.isRequired && caller.admission == .nobody
      // It concerns no target: anybody may ask often, so the engine should not go through all of them.
      runtime.ask(responder, for: .readiness(isBare: isBare)) { .describe("", $0) }
    case .metrics:
      try caller.requireDefaultNamespace()
      runtime.ask(responder, for: .metrics) { .report($0) }
    case .contract:
      runtime.respond(responder, Answer.contract(below: proxies.address(of: request)?.base))
    case .dashboard:
      runtime.respond(responder, Dashboard.page)
    case .wrongMethod(let allowed):
      let problem = Problem(
        status: 405, code: "methodNotAllowed", title: "The method is not allowed here",
        detail: "This path allows \(allowed).")
      runtime.respond(responder, Answer.problem(problem, [HTTPHeader("allow", allowed)]))
    case .notFound(let detail):
      throw Problem(status: 404, code: "notFound", title: "There is nothing here", detail: detail)
    }
  }

  /// Counts refusals.
  private func counting(_ body: () throws(Problem) -> Void) throws(Problem) {
    do throws(Problem) {
      try body()
    } catch {
      runtime.metrics.count { $0.refused += 1 }
      throw error
    }
  }

  /// A command can create a target, so its key must be one that a call could have.
  private func checkTargetKey(_ key: String) throws(Problem) {
    guard key.utf8.count <= Self.longestTarget, !PlainText.hasControls(key), NormalForm.isComposed(key) else {
      throw Problem(
        status: 422, code: "invalidTarget", title: "The target's key is not valid",
        detail: "It must have 1 to \(Self.longestTarget) bytes, no control characters, and the normalization form NFC.")
    }
  }

  /// The longest key of a target in bytes: a URL with the longest possible host name, and some more.
  private static let longestTarget = 512

  /// The limits for a caller's descriptors.
  ///
  /// - Throws: A problem of status 508 if the submission has passed through too many Redial services.
  func limits(
    for caller: Caller, _ request: borrowing HTTPRequest
  ) throws(Problem) -> CallDescriptor.Limits {
    let mayNameTargets = targetNaming.allows(caller)
    let hops = try hops(of: request)
    // The usual case.
    if caller.namespace.isDefault, mayNameTargets, hops == 0 { return limits }
    var limits = limits
    limits.hops = hops
    limits.namespace = caller.namespace
    limits.mayNameTargets = mayNameTargets
    return limits
  }

  /// How many services like this one a submission has passed through. If a proxy leads from a target back to this
  /// service, a call could submit itself again and again, forever.
  private func hops(of request: borrowing HTTPRequest) throws(Problem) -> Int {
    let field = request.header("redial-hops")
    guard field != nil || request.header("redial-call-id") != nil else { return 0 }
    let hops = field.flatMap { Int($0) }.map { max(1, $0) } ?? 1
    guard hops <= min(maxHops, CallDescriptor.Limits.mostHops) else {
      throw Problem(
        status: 508, code: "tooManyHops", title: "The call goes round in a circle",
        detail:
          "This submission comes from the attempt of a call that was itself submitted by one, \(hops) times over; "
          + "maxHops is \(maxHops). Look where the URLs of these calls lead.")
    }
    return hops
  }

  private func submit(
    _ request: borrowing HTTPRequest, _ responder: HTTPResponder, _ caller: Caller
  ) throws(Problem) {
    let isDryRun = try isDryRun(request.query)
    // The spelling of nearly every client.
    if !request.header("content-type", is: "application/json") {
      try checkContentType(request.header("content-type"))
    }
    let key = try keyText(of: request)
    let body = request.body.bindMemory(to: UInt8.self)
    var descriptor = try CallDescriptor.read(body, limits: limits(for: caller, request))
    if isDryRun { return showPlan(of: descriptor, responder, caller) }
    descriptor.key = key.map {
      IdempotencyKey(text: caller.qualified($0), fingerprint: SHA256Digest.of(request.body))
    }
    submit(descriptor, waiting: preferredWait(request), responder, atEndOfIteration: true)
  }

  func isDryRun(_ query: String?) throws(Problem) -> Bool {
    guard let query else { return false }
    var parameters = try QueryParameters(query)
    let isDryRun = try parameters.takeFlag("dryRun")
    try parameters.finish()
    return isDryRun
  }

  /// Submits a call to the engine.
  ///
  /// - Parameter atEndOfIteration: Whether the engine is woken only at the end of the event loop's iteration; the caller
  ///   must then run on that loop.
  func submit(
    _ descriptor: CallDescriptor, waiting: Duration?, _ responder: HTTPResponder, atEndOfIteration: Bool = false
  ) {
    let purpose = waiting.map { ReplyTable.Purpose.submitAndWait($0) } ?? .submit
    let event = EngineEvent.submit(descriptor, runtime.expect(responder, for: purpose))
    if atEndOfIteration { runtime.leave(event) } else { runtime.post(CollectionOfOne(event)) }
  }

  /// The text of the request's Idempotency-Key; nil without one.
  func keyText(of request: borrowing HTTPRequest) throws(Problem) -> String? {
    guard let field = request.header("idempotency-key") else { return nil }
    guard let text = IdempotencyKey.parse(field) else {
      throw Problem(
        status: 400, code: "invalidIdempotencyKey", title: "The Idempotency-Key is not valid",
        detail: "It must be a string of 1 to \(IdempotencyKey.longest) visible ASCII characters, quoted or not.")
    }
    return text
  }

  /// JSON only: a browser sends a form or plain text to any address without asking, but not JSON.
  func checkContentType(_ type: String?) throws(Problem) {
    if type == "application/json" { return }
    let essence = type?.prefix { $0 != ";" }.lowercased().filter { $0 != " " } ?? ""
    guard essence == "application/json" || essence.hasSuffix("+json") else {
      throw Problem(
        status: 415, code: "unsupportedMediaType", title: "The media type is not supported",
        detail: "Send JSON, with Content-Type: application/json (curl --json does).")
    }
  }

  private func list(
    _ query: String?, _ asLines: Bool, _ responder: HTTPResponder, _ caller: Caller
  ) throws(Problem) {
    var wanted = try CallQuery(parameters: query)
    wanted.filter.namespace = caller.namespace
    if asLines {
      wanted.scanLimit = maxScan
      return CallExport.begin(
        wanted, runtime, responder, for: caller, mayGoOn: { [keys] in keys.refusal(of: caller) },
        charge: charge(for: caller))
    }
    list(wanted, responder, caller)
  }

  /// Answers with a page of calls.
  func list(_ query: CallQuery, _ responder: HTTPResponder, _ caller: Caller) {
    var wanted = query
    wanted.scanLimit = maxScan
    runtime.query(responder, as: query.load, for: caller) { [runtime, wanted] _ in
      let page = try runtime.reader.calls(wanted)
      let now = runtime.clock.now
      return Answer.calls(page.calls, next: page.next, runtime.redaction) { runtime.standings.wait(of: $0, at: now) }
    }
  }

  private func attempts(
    _ id: CallID, _ query: String?, _ responder: HTTPResponder, _ caller: Caller
  ) throws(Problem) {
    var parameters = try QueryParameters(query)
    let included = parameters.take("include")
    try parameters.finish()
    guard included == nil || included == "body" else { throw QueryParameters.problem("include", "must be body") }
    runtime.query(responder) { [runtime] in
      let withBodies = included != nil
      guard let attempts = try runtime.reader.attempts(of: id, in: caller.namespace, withBodies: withBodies) else {
        throw Answer.noSuchCall(id)
      }
      return Answer.attempts(attempts, withBodies: withBodies)
    }
  }

  /// Who asks for a command, and why: from the body, or the name from the field `Redial-Actor`.
  private func attribution(of request: borrowing HTTPRequest) throws(Problem) -> Attribution {
    var attribution = Attribution()
    if !request.body.isEmpty {
      try checkContentType(request.header("content-type"))
      attribution = try Attribution.read(request.body.bindMemory(to: UInt8.self))
    }
    guard let actor = request.header("redial-actor"), !actor.isEmpty else { return attribution }
    // The limit is checked even if the body's name is used: a client that sends the field expects it to have an
    // effect.
    guard actor.utf8.count <= Attribution.longestName else {
      throw Problem(
        status: 422, code: "invalidAttribution", title: "The name or reason is not valid",
        detail: "The field Redial-Actor has more than \(Attribution.longestName) bytes.",
        errors: [.init(pointer: "Redial-Actor", detail: "has more than \(Attribution.longestName) bytes")])
    }
    if attribution.by == nil { attribution.by = actor }
    return attribution
  }

  func noParameters(_ query: String?) throws(Problem) {
    guard let query else { return }
    try QueryParameters(query).finish()
  }
}
