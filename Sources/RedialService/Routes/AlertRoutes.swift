internal import HTTPServer
internal import RedialCore
internal import RedialJSON
internal import RedialModel
internal import RedialStore

/// Alerts.
struct AlertRoutes: RouteGroup {
  let queries: Queries
  let clock: Clock
  let changes: Changes
  let messenger: AlertMessenger
  let watch: AlertWatch
  /// Nil if no others can share the store.
  let instances: OtherInstances?
  let limits: CallDescriptor.Limits
  /// The maximum number of alerts of a namespace.
  let maxAlerts: Int

  private static let one = "/v1/alerts/{name}"

  var routes: [Route] {
    [
      Route(.get, "/v1/alerts", .scope(.read), serve: list),
      Route(.post, AlertWatch.path, .scope(.read), server: .peer, serve: find),
      Route(.get, Self.one, .scope(.read), serve: show),
      Route(.put, Self.one, .scope(.admin), server: .leader, audit: .alertChanged, serve: put),
      Route(.patch, Self.one, .scope(.operate), server: .leader, audit: .alertSilenced, serve: silence),
      Route(.delete, Self.one, .scope(.admin), server: .leader, audit: .alertRemoved, serve: remove),
      Route(.post, Self.one + "/test", .scope(.admin), server: .owner, audit: .alertTested, serve: test),
    ]
  }

  /// Tells the leader what this instance finds of its targets.
  private func find(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    guard let wanted = FindRequest(document: Array(request.content)) else {
      throw Problem(
        .invalidForward, detail: "The instance that asks may be of another version. This one judges its own targets.")
    }
    watch.find(wanted) { found in
      queries.respond(exchange.responder, HTTPResponse(status: 200, body: found.bytes))
    }
  }

  // MARK: Alerts

  private func list(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let page = try ListPage(parameters: request.query)
    let namespace = exchange.caller.namespace
    queries.answer(exchange.responder) {
      let (alerts, now) = (try alerts(of: namespace).sorted { $0.name < $1.name }, clock.now)
      return try Answer.list(alerts, page, .byName, unreadable: try damaged(in: namespace), by: \.name) {
        $0.write(problem: messenger.problem(of: $0), at: now, to: &$1)
      }
    }
  }

  private func show(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    let (name, namespace) = (try exchange.alertName(), exchange.caller.namespace)
    queries.answer(exchange.responder) {
      answer(try alert(name, of: namespace))
    }
  }

  private func put(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    try request.checkJSON()
    let (name, namespace) = (try exchange.alertName(), exchange.caller.namespace)
    let text = Array(request.content)
    // What is wrong whatever is stored is said at once.
    _ = try AlertDraft.read(request.content, isNew: false, in: namespace, limits: limits)
    changes.makeDocuments(exchange) { store in
      let known = try alerts(of: namespace)
      let old = known.first { $0.name == name }
      let draft = try text.withUnsafeBufferPointer { bytes throws(Problem) in
        try AlertDraft.read(bytes, isNew: old == nil, in: namespace, limits: limits)
      }
      guard old != nil || known.count < maxAlerts else {
        throw Problem(
          .tooManyAlerts,
          detail: "The namespace \(namespace) has \(maxAlerts) alerts, which is the maximum. Delete one first.")
      }
      let alert = draft.applied(to: old, name: name, in: namespace, at: clock.now)
      if !messenger.hasReceiver(alert), let problem = messenger.problem(of: alert) {
        throw Problem(
          .invalidAlert, detail: "\(problem) GET /v1/webhook-endpoints lists those that there are.",
          errors: [.init(pointer: "/to/endpoint", detail: "is not the id of a webhook endpoint")])
      }
      if alert.document.hasSecrets { try limits.requireKey(for: "The address of the alert \(name)") }
      try store.commit([.put(alert.document)])
      messenger.endpoints.alerts.set(alert)
      return answer(alert, status: old == nil ? 201 : 200)
    }
  }

  /// Begins or ends a silence.
  private func silence(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    try request.checkJSON()
    var wanted = try SilenceRequest.read(request.content, at: clock.now)
    exchange.caller.sign(&wanted.attribution)
    let (name, namespace) = (try exchange.alertName(), exchange.caller.namespace)
    changes.makeDocuments(exchange) { [wanted] store in
      var alert = try alert(name, of: namespace)
      alert.silence = wanted.isOn ? Alert.Silence(wanted, at: clock.now) : nil
      let document = alert.document
      if limits.mayHaveSecrets {
        try store.commit([.put(document)])
      } else {
        // The address may be from an earlier version, which stored it without a key.
        _ = try store.changeDocument(.alert, id: document.id) { _ in document.content }
      }
      return answer(alert)
    }
  }

  /// Removes an alert and its notices: nobody is notified of their ends.
  private func remove(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    let (name, namespace) = (try exchange.alertName(), exchange.caller.namespace)
    changes.makeDocuments(exchange) { store in
      if try !damaged(in: namespace).contains(name) { _ = try alert(name, of: namespace) }
      let notices = try queries.reader.readable(.notice, as: AlertNotice.self)
        .filter { $0.namespace == namespace && $0.alert == name }
      try store.commit(
        [.remove(.alert, id: Alert.documentID(of: name, in: namespace))]
          + notices.map(\.removal))
      messenger.endpoints.alerts.remove(name, in: namespace)
      return HTTPResponse(status: 204, headers: [], body: [])
    }
  }

  private func test(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    let (name, namespace) = (try exchange.alertName(), exchange.caller.namespace)
    queries.answer(exchange.responder) {
      let alert = try alert(name, of: namespace)
      let receiver = try messenger.receiver(ofTest: alert)
      if instances?.owners.forward(exchange, toOwnerOf: receiver.target) != true {
        messenger.test(alert, receiver, exchange.responder)
      }
      return nil
    }
  }

  // MARK: What is stored

  private func alerts(of namespace: Namespace) throws(StoreError) -> [Alert] {
    try queries.reader.readable(.alert, as: Alert.self).filter { $0.namespace == namespace }
  }

  /// The names of those that cannot be read.
  private func damaged(in namespace: Namespace) throws(StoreError) -> [String] {
    let start = Alert.documentID(of: "", in: namespace)
    return try queries.reader.documents(.alert).read(as: Alert.self).damaged
      .filter { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
  }

  private func alert(_ name: String, of namespace: Namespace) throws -> Alert {
    guard let alert = try alerts(of: namespace).first(where: { $0.name == name }) else {
      throw Problem(
        .alertNotFound,
        detail: "No alert has the name \(name); GET /v1/alerts lists them.")
    }
    return alert
  }

  private func answer(_ alert: Alert, status: Int = 200) -> HTTPResponse {
    var writer = JSONWriter(capacity: 512)
    alert.write(problem: messenger.problem(of: alert), at: clock.now, to: &writer)
    return Answer.json(status, writer)
  }
}
