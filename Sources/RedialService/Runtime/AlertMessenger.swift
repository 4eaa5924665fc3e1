internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// Sends the messages of alerts: each is a webhook, and so a call.
struct AlertMessenger: Sendable {
  private let engine: EngineLane
  let endpoints: WebhookEndpoints
  private let waiting: ReplyTables
  private let clock: Clock

  init(
    _ engine: EngineLane, _ endpoints: WebhookEndpoints, _ waiting: ReplyTables, _ clock: Clock
  ) {
    (self.engine, self.endpoints, self.waiting, self.clock) = (engine, endpoints, waiting, clock)
  }

  /// Why an alert's messages cannot be sent; nil if they can.
  func problem(of alert: Alert) -> String? {
    guard !alert.kinds.isEmpty else {
      return "It watches for nothing: none of the kinds of issues that it names exists any more. Name others."
    }
    guard alert.channel == .endpoint else { return nil }
    guard let endpoint = endpoints[alert.address, in: alert.namespace] else {
      return "There is no webhook endpoint \(alert.address)."
    }
    return endpoint.isEnabled ? nil : "The webhook endpoint \(alert.address) is disabled; its messages wait."
  }

  /// Whether an alert's messages can go anywhere, now or later.
  func hasReceiver(_ alert: Alert) -> Bool { receiver(of: alert) != nil }

  /// Stores changes of documents, and a message about them, in one commit. Without a receiver, only the changes.
  ///
  /// - Parameters:
  ///   - shard: Whoever has it may do so.
  ///   - then: Called on any thread with whether all is on disk.
  func send(
    _ message: AlertMessage?, about notice: AlertNotice, with writes: [StoreWrite], to alert: Alert?,
    ofShard shard: Int,
    then: @escaping @Sendable (Bool) -> Void
  ) {
    var webhook: DocumentChange.Webhook?
    if let message, let alert, let receiver = receiver(of: alert) {
      // So an end never arrives before its beginning.
      webhook = DocumentChange.Webhook(
        message.kind.event, body: Self.content(message, alert), to: receiver, labels: Self.labels(alert, notice),
        orderingKey: notice.id)
    }
    engine.post(.change(DocumentChange(writes, webhook, ofShard: shard, then: then)))
  }

  /// The content of a message's call. An endpoint's gets it as it is.
  private static func content(_ message: AlertMessage, _ alert: Alert) -> [UInt8] {
    alert.channel == .endpoint ? message.body(for: alert) : message.stored(for: alert)
  }

  private static func labels(_ alert: Alert, _ notice: AlertNotice) -> [CallSpec.Label] {
    [CallSpec.Label(name: "alert", value: alert.name), CallSpec.Label(name: "notice", value: notice.id)]
  }

  /// Sends a message of which nothing happened, for a client that wants to see it arrive.
  ///
  /// - Parameter receiver: Of ``receiver(ofTest:)``.
  func test(_ alert: Alert, _ receiver: WebhookSubscription, _ responder: HTTPResponder) {
    let now = clock.now
    let finding = AlertFinding(
      .stuck, "test", calls: 0, summary: "A test of the alert \(alert.name). Nothing has happened.",
      action: "redial alerts show \(alert.name)")
    let notice = AlertNotice(finding, of: alert, since: now, at: now, isNotified: true)
    var announcement = Announcement(
      .alertOpened, data: [], only: receiver,
      reply: waiting.submissions.add(Submitter(kind: .webhookTest(responder), since: now)))
    announcement.body = Self.content(AlertMessage(.test, notice, at: now), alert)
    announcement.labels = Self.labels(alert, notice)
    engine.post(.announce(announcement))
  }

  /// Who gets a test of an alert.
  func receiver(ofTest alert: Alert) throws(Problem) -> WebhookSubscription {
    if let receiver = receiver(of: alert) { return receiver }
    throw Problem(
      .alertWithoutReceiver,
      detail: "\(problem(of: alert) ?? "The alert \(alert.name) has no receiver.") Change the alert: PUT "
        + "/v1/alerts/\(alert.name) with another receiver in \"to\".")
  }

  /// Who gets an alert's messages; nil if its endpoint is gone.
  private func receiver(of alert: Alert) -> WebhookSubscription? {
    if alert.channel == .endpoint {
      return endpoints[alert.address, in: alert.namespace]?.asSubscription
    }
    return WebhookSubscription(id: alert.receiver, url: alert.publicURL, events: [], in: alert.namespace)
  }
}
