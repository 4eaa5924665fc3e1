internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// Sends the messages of alerts: each is a webhook, and so a call.
struct AlertMessenger: Sendable {
  private let engine: EngineLane
  private let store: StoreLane
  private let endpoints: WebhookEndpoints
  private let waiting: ReplyTables
  private let clock: Clock
  private let log: Log

  init(
    _ engine: EngineLane, _ store: StoreLane, _ endpoints: WebhookEndpoints, _ waiting: ReplyTables, _ clock: Clock,
    _ log: Log
  ) {
    (self.engine, self.store, self.endpoints) = (engine, store, endpoints)
    (self.waiting, self.clock, self.log) = (waiting, clock, log)
  }

  /// Why an alert's messages cannot be sent; nil if they can.
  func problem(of alert: Alert) -> String? {
    guard alert.channel == .endpoint else { return nil }
    guard let endpoint = endpoints[alert.address, in: alert.namespace] else {
      return "There is no webhook endpoint \(alert.address)."
    }
    return endpoint.isEnabled ? nil : "The webhook endpoint \(alert.address) is disabled; its messages wait."
  }

  /// Whether an alert's messages can go anywhere, now or later.
  func hasReceiver(_ alert: Alert) -> Bool { receiver(of: alert) != nil }

  /// Sends a message, in one commit with changes of documents.
  ///
  /// - Parameter then: Called on any thread with whether both are on disk, as far as is known.
  func send(
    _ message: AlertMessage, about incident: Incident, with writes: [StoreWrite], to alert: Alert,
    then: @escaping @Sendable (Bool) -> Void
  ) {
    guard let receiver = receiver(of: alert) else {
      log.write(.error, "alertNotSent", [("alert", alert.name), ("error", problem(of: alert) ?? "")])
      return then(false)
    }
    announce(message, of: incident, with: writes, to: alert, receiver, .service(then))
  }

  /// Sends a message of which nothing happened, for a client that wants to see it arrive.
  func test(_ alert: Alert, _ responder: HTTPResponder) throws(Problem) {
    guard let receiver = receiver(of: alert) else {
      throw Problem(
        status: 409, code: "webhookEndpointNotFound", title: "The alert has no receiver",
        detail: problem(of: alert) ?? "")
    }
    let now = clock.now
    let finding = AlertFinding(
      .callsStuck, "test", calls: 0, summary: "This is a test of the alert \(alert.name). Nothing has happened.",
      action: "redial alerts show \(alert.name)")
    let incident = Incident(finding, of: alert, since: now, at: now, isNotified: true)
    let message = AlertMessage(.opened, incident, nil, at: now)
    announce(message, of: incident, with: [], to: alert, receiver, .webhookTest(responder))
  }

  /// Stores changes of documents without a message.
  func store(_ writes: [StoreWrite], then: @escaping @Sendable (Bool) -> Void) {
    store.afterwards { [log] store in
      do throws(StoreError) {
        try store.commit(writes)
        then(true)
      } catch {
        log.write(.error, "changeFailed", [("error", error.message)])
        then(false)
      }
    }
  }

  private func announce(
    _ message: AlertMessage, of incident: Incident, with writes: [StoreWrite], to alert: Alert,
    _ receiver: WebhookSubscription, _ submitter: Submitter.Kind
  ) {
    var announcement = Announcement(
      message.kind.event, data: [], only: receiver,
      reply: waiting.submissions.add(Submitter(kind: submitter, since: clock.now)))
    announcement.body = message.body(for: alert)
    announcement.writes = writes
    announcement.labels = [
      CallSpec.Label(name: "alert", value: alert.name), CallSpec.Label(name: "incident", value: incident.id),
    ]
    engine.post(.announce(announcement))
  }

  /// Who gets an alert's messages; nil if its endpoint is gone.
  private func receiver(of alert: Alert) -> WebhookSubscription? {
    if alert.channel == .endpoint {
      return endpoints[alert.address, in: alert.namespace]?.asSubscription
    }
    return WebhookSubscription(id: alert.receiver, url: alert.address, events: [], in: alert.namespace)
  }
}
