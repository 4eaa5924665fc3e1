internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialText

/// The calls: lists, one call, its attempts, and commands.
struct CallRoutes: RouteGroup {
  let queries: Queries
  let clock: Clock
  let metrics: Metrics
  let commands: Commands
  let calls: CallAnswers
  let keys: KeyRing
  /// How long a client may wait for the end of a call.
  let longestWait: Duration
  /// Maximum calls that are examined for one page.
  let maxScan: Int

  var routes: [Route] {
    [
      Route(.get, "/v1/calls", .scope(.read), serve: list),
      Route(.get, "/v1/calls/{id}", .scope(.read), serve: show),
      Route(.get, "/v1/calls/{id}/attempts", .scope(.read), serve: attempts),
      command(.cancel, .callCancelled),
      command(.retry, .callRetried),
      command(.erase, .callErased),
      Route(.post, BulkCommands.path, .scope(.operate), server: .peer, serve: commandMany),
    ]
  }

  private func list(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let caller = exchange.caller
    var wanted = try CallQuery(parameters: request.query, at: clock.now)
    wanted.filter.namespace = caller.namespace
    wanted.scanLimit = maxScan
    guard JSONLines.isWanted(request.list("accept")) else {
      return calls.showPage(wanted, exchange.responder, caller)
    }
    CallExport.begin(
      wanted, calls, metrics, exchange.responder, for: caller, mayGoOn: { [keys] in keys.refusal(of: caller) },
      charge: { keys.charge(caller, at: clock.now) })
  }

  /// Shows a call; if the client says how long it waits, once the call has ended.
  private func show(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let (id, responder, caller) = (try exchange.callID(), exchange.responder, exchange.caller)
    var parameters = try QueryParameters(request.query)
    let text = parameters.take("wait")
    let included = parameters.take("include")
    try parameters.finish()
    guard included == nil || included == "request" else { throw QueryParameters.problem("include", "must be request") }
    let withRequest = included != nil
    if withRequest, !queries.admits(caller, to: .payloads, by: keys, responder) { return }
    guard let text else {
      return calls.show(id, in: caller.namespace, responder, withRequest: withRequest)
    }
    guard let bound = DurationText.parse(text), bound <= longestWait else {
      throw QueryParameters.problem(
        "wait", "must be a duration such as 30s, and at most \(DurationText.format(longestWait))")
    }
    let wait = EndWait(bound: bound) { [keys] in keys.refusal(of: caller) }
    calls.showEnded(id, in: caller.namespace, responder, wait, withRequest: withRequest)
  }

  private func attempts(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let (id, namespace) = (try exchange.callID(), exchange.caller.namespace)
    var parameters = try QueryParameters(request.query)
    let (included, page) = (parameters.take("include"), try ListPage(from: &parameters, .attempts))
    try parameters.finish()
    guard included == nil || included == "body" else { throw QueryParameters.problem("include", "must be body") }
    queries.answer(exchange.responder) {
      let withBodies = included != nil
      guard let attempts = try queries.reader.attempts(of: id, in: namespace, withBodies: withBodies) else {
        throw Refusal.callNotFound(id).problem
      }
      // Retention may have removed it since.
      guard let call = try queries.reader.records(of: [id]).first ?? nil else {
        throw Refusal.callNotFound(id).problem
      }
      return try Answer.attempts(attempts, page, of: try call.get(), withBodies: withBodies)
    }
  }

  /// Executes the command of another instance's bulk operation.
  private func commandMany(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    guard let asked = BulkCommands(request.content), 1...BulkRunner.pageSize ~= asked.calls.count else {
      throw Problem(
        .invalidForward,
        detail: "The instance that has sent it may be of another version. It tries again.")
    }
    let responder = exchange.responder
    commands.perform(asked, in: exchange.caller.namespace) { tally in
      // An instance that runs none of these calls may just be about to: the other asks again.
      let isOther = tally.elsewhere == asked.calls.count
      let fields = isOther ? [HTTPHeader("\(PeerLink.notOwnerField)", "1")] : []
      responder.respond(HTTPResponse(status: 200, headers: fields, body: tally.json))
    }
  }

  private func command(_ kind: CallCommand.Kind, _ action: AuditAction) -> Route {
    Route(kind.method, "/v1/calls/{id}/\(kind.pathName)", .scope(.operate), server: .owner, audit: action) {
      (request: borrowing HTTPRequest, exchange) throws(Problem) in
      let (id, namespace) = (try exchange.callID(), exchange.caller.namespace)
      var parameters = try QueryParameters(request.query)
      let erasesLabels = kind == .erase ? try parameters.takeFlag("labels") : false
      try parameters.finish()
      var attribution = try request.attribution()
      exchange.caller.sign(&attribution)
      commands.perform(exchange) { token in
        CallCommand(
          kind, id, in: namespace, reply: token, attribution: attribution, erasesLabels: erasesLabels)
      }
    }
  }
}

extension CallCommand.Kind {
  /// The method of the command.
  var method: HTTPMethod { self == .erase ? .delete : .post }

  /// The last part of the path of the command.
  var pathName: String {
    switch self {
    case .cancel: "cancel"
    case .retry: "retry"
    case .erase: "content"
    // No route has these.
    case .purge: "purge"
    case .reclaim: "reclaim"
    }
  }
}
