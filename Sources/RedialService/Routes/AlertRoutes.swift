internal import HTTPServer
internal import RedialCore
internal import RedialJSON
internal import RedialModel
internal import RedialStore

/// Alerts, and the incidents that they have reported.
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
  private static let incident = "/v1/incidents/{id}"

  var routes: [Route] {
    [
      Route(.get, "/v1/alerts", .scope(.read), serve: list),
      Route(.post, AlertWatch.path, .scope(.read), server: .peer, serve: find),
      Route(.get, Self.one, .scope(.read), serve: show),
      Route(.put, Self.one, .scope(.admin), server: .leader, audit: .alertChanged, serve: put),
      Route(.patch, Self.one, .scope(.operate), server: .leader, audit: .alertSilenced, serve: silence),
      Route(.delete, Self.one, .scope(.admin), server: .leader, audit: .alertRemoved, serve: remove),
      Route(.post, Self.one + "/test", .scope(.admin), server: .owner, audit: .alertTested, serve: test),
      Route(.get, "/v1/incidents", .scope(.read), serve: listIncidents),
      Route(.get, Self.incident, .scope(.read), serve: showIncident),
      Route(.patch, Self.incident, .scope(.operate), server: .leader, audit: .incidentChanged, serve: acknowledge),
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
    var wanted = try PauseRequest.read(request.content, "silenced", at: clock.now)
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

  /// Removes an alert, and its incidents: nobody is notified of their ends.
  private func remove(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    let (name, namespace) = (try exchange.alertName(), exchange.caller.namespace)
    changes.makeDocuments(exchange) { store in
      if try !damaged(in: namespace).contains(name) { _ = try alert(name, of: namespace) }
      let incidents = try incidents(of: namespace).filter { $0.alert == name }
      try store.commit(
        [.remove(.alert, id: Alert.documentID(of: name, in: namespace))]
          + incidents.flatMap(\.removal))
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

  // MARK: Incidents

  private func listIncidents(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    var parameters = try QueryParameters(request.query)
    let states = try parameters.takeWords("state", of: Incident.State.self)
    let alert = parameters.take("alert").map { String($0) }
    let page = try ListPage(from: &parameters, .incidents)
    try parameters.finish()
    let namespace = exchange.caller.namespace
    queries.answer(exchange.responder) {
      let (now, marks) = (clock.now, try marks(of: namespace))
      let found = try incidents(of: namespace).filter { incident in
        (alert == nil || incident.alert == alert)
          && (states.isEmpty || states.contains(incident.state(marks[incident.id], at: now)))
      }.sorted { ($1.openedAt, $1.id) < ($0.openedAt, $0.id) }
      return try Answer.list(found, page, .newestFirst, by: { ListOrder.key($0.openedAt, $0.id) }) {
        $0.write(marks[$0.id], at: now, to: &$1)
      }
    }
  }

  private func showIncident(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    let (id, namespace) = (String(exchange.part), exchange.caller.namespace)
    queries.answer(exchange.responder) {
      answer(try incident(id, of: namespace), try marks(of: namespace)[id])
    }
  }

  /// Keeps the statement that somebody knows of an incident, or removes it.
  private func acknowledge(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    try request.checkJSON()
    var wanted = try PauseRequest.read(request.content, "acknowledged", at: clock.now)
    exchange.caller.sign(&wanted.attribution)
    let (id, namespace) = (String(exchange.part), exchange.caller.namespace)
    changes.makeDocuments(exchange) { [wanted] store in
      let incident = try incident(id, of: namespace)
      guard incident.endedAt == nil else {
        throw Problem(
          .incidentEnded,
          detail: "\(id) has ended, and nobody is notified of it any more.")
      }
      guard wanted.isOn else {
        try store.commit([.remove(.incidentMark, id: incident.documentID)])
        return answer(incident, nil)
      }
      let now = clock.now
      let mark = IncidentMark(of: incident, wanted, at: now)
      try store.commit([.put(mark.document)])
      if let alert = try? alert(incident.alert, of: namespace), alert.channel == .pagerDuty, incident.notifiedAt != nil
      {
        // If the process dies just now, PagerDuty is not notified.
        messenger.send(
          AlertMessage(.acknowledged, incident, mark, at: now), about: incident, with: [], to: alert,
          ofShard: PeerTable.leadersShard, then: { _ in })
      }
      return answer(incident, mark)
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

  private func incidents(of namespace: Namespace) throws(StoreError) -> [Incident] {
    // One that was just opened when its alert was removed is removed a minute later.
    let names = Set(try alerts(of: namespace).map(\.name))
    return try queries.reader.readable(.incident, as: Incident.self).filter {
      $0.namespace == namespace && names.contains($0.alert)
    }
  }

  private func incident(_ id: String, of namespace: Namespace) throws -> Incident {
    guard let incident = try incidents(of: namespace).first(where: { $0.id == id }) else {
      throw Problem(
        .incidentNotFound,
        detail: "No incident has the id \(id); GET /v1/incidents lists them.")
    }
    return incident
  }

  /// The statements about incidents, by their ids.
  private func marks(of namespace: Namespace) throws(StoreError) -> [String: IncidentMark] {
    let marks = try queries.reader.readable(.incidentMark, as: IncidentMark.self)
    return Dictionary(marks.filter { $0.namespace == namespace }.map { ($0.incident, $0) }) { one, _ in one }
  }

  private func answer(_ alert: Alert, status: Int = 200) -> HTTPResponse {
    var writer = JSONWriter(capacity: 512)
    alert.write(problem: messenger.problem(of: alert), at: clock.now, to: &writer)
    return Answer.json(status, writer)
  }

  private func answer(_ incident: Incident, _ mark: IncidentMark?) -> HTTPResponse {
    let now = clock.now
    return Answer.json(capacity: 768) { incident.write(mark, at: now, to: &$0) }
  }
}
