internal import RedialCore
package import RedialModel
internal import RedialJSON

/// An event for subscribers that is neither an end of a call nor a change of a breaker.
package struct Announcement: Sendable {
  /// The event's type.
  package var type: EventType
  /// The event's data, as JSON.
  package var data: [UInt8]
  /// The only receiver, whatever it subscribed to; nil for all that subscribed to the type.
  package var only: WebhookSubscription?
  /// Whoever waits for the webhook to be created; only with `only`.
  package var reply: ReplyToken<SubmissionReply>?
  /// The whole content of the webhook, in place of the event with its data; only with `only`.
  package var body: [UInt8]?
  /// More labels of the webhook; only with `only`.
  package var labels: [CallSpec.Label] = []

  /// The namespace of the subscribers.
  package var namespace: Namespace

  /// Creates an announcement.
  package init(
    _ type: EventType, data: [UInt8], only: WebhookSubscription? = nil, reply: ReplyToken<SubmissionReply>? = nil,
    in namespace: Namespace = .default
  ) {
    self.namespace = only?.namespace ?? namespace
    self.type = type
    self.data = data
    self.only = only
    self.reply = reply
  }
}

/// A change of documents of the service, and a webhook about it, in one commit.
package struct DocumentChange: Sendable {
  /// A webhook to one receiver.
  package struct Webhook: Sendable {
    package var type: EventType
    package var body: [UInt8]
    package var receiver: WebhookSubscription
    package var labels: [CallSpec.Label]
    /// Those of one key arrive in their order.
    package var orderingKey: String

    /// Creates a webhook.
    package init(
      _ type: EventType, body: [UInt8], to receiver: WebhookSubscription, labels: [CallSpec.Label], orderingKey: String
    ) {
      (self.type, self.body, self.receiver, self.labels) = (type, body, receiver, labels)
      self.orderingKey = orderingKey
    }
  }

  package var writes: [StoreWrite]
  package var webhook: Webhook?
  /// The shard whose owner alone may make the change.
  package var shard: Int
  /// Called when it is on disk, or with false when it was not made. Not at all if the engine lost its lease meanwhile.
  package var then: @Sendable (_ isMade: Bool) -> Void

  /// Creates a change.
  package init(
    _ writes: [StoreWrite], _ webhook: Webhook?, ofShard shard: Int, then: @escaping @Sendable (Bool) -> Void
  ) {
    (self.writes, self.webhook, self.shard, self.then) = (writes, webhook, shard, then)
  }
}

/// Webhooks for subscribers. Each is a call to its subscriber's own target, written in the same transaction as the
/// event that it reports.
extension Engine {
  /// The label of a webhook with the type of its event.
  static let eventLabel = "event"

  /// These webhook endpoints are enabled, and no others. The webhooks of one that is disabled, or was removed, wait.
  ///
  /// Nothing of that is stored with a target: the endpoint alone says whether it is enabled, and so an endpoint and its
  /// target never disagree.
  mutating func subscribe(_ enabled: [WebhookSubscription]) {
    subscriptions = enabled
    for place in roster.places {
      let isDisabled = isOfDisabledEndpoint(roster.targets[place].key)
      guard roster[place].disable(isDisabled, at: now) else { continue }
      if isDisabled { parkReady(place) }
      reportStanding(place)
      roster.enterRotation(place)
    }
  }

  /// Whether a target is that of a webhook endpoint which is disabled, or was removed.
  func isOfDisabledEndpoint(_ target: TargetKey) -> Bool {
    target.endpoint != nil && !subscriptions.contains { $0.target == target }
  }

  /// Creates the webhooks for a call's end.
  mutating func notifySubscribers(_ event: EventType, of record: CallRecord) {
    guard !subscriptions.isEmpty else { return }
    var body: [UInt8]?
    for subscription in subscriptions where subscription.wants(event, target: record.spec.target) {
      let bytes = body ?? WebhookPayload.make(event, of: record, redaction: settings.redaction, at: now)
      body = bytes
      insertWebhook(event, bytes, to: subscription, endOf: record.id)
    }
  }

  /// Reports something about a target; and makes an event of it, with its webhooks, if it is one.
  mutating func report(_ notice: Notice, of place: Int) {
    effects.actions.append(.notice(notice))
    guard let type = notice.event else { return }
    let target = roster.targets[place].snapshot(at: now)
    let key = target.key
    let payload = WebhookPayload.make(type, at: now) { notice.write(target, to: &$0) }
    let event = Action.event(TargetEvent(type: type, target: key, payload: payload))
    // What an operator has decided counts once it is on disk; a breaker is as it is in memory.
    if type == .targetControlled { afterCommit.append(event) } else { effects.actions.append(event) }
    guard !key.isOfWebhooks else { return }
    for subscription in subscriptions where subscription.wants(type, target: key) {
      insertWebhook(type, payload, to: subscription)
    }
  }

  /// Creates the webhook for one subscriber, or for all that want the event.
  mutating func announce(_ announcement: Announcement) {
    if let reply = announcement.reply, let refusal = refusal(in: announcement.namespace) {
      return refuse(reply, refusal)
    }
    guard desk.leases.canWork else { return }
    let body = announcement.body ?? WebhookPayload.make(announcement.type, at: now) { $0.raw(announcement.data) }
    if let only = announcement.only, let reply = announcement.reply {
      let test = webhook(
        announcement.type, body, to: only, labels: announcement.labels, policy: settings.webhookPolicy.once)
      afterCommit.append(.reply(.submission(reply, .accepted(insertTest(test)))))
    } else if let only = announcement.only {
      insertWebhook(announcement.type, body, to: only, labels: announcement.labels)
    } else {
      for subscription in subscriptions
      where subscription.namespace == announcement.namespace && subscription.events.contains(announcement.type) {
        insertWebhook(announcement.type, body, to: subscription)
      }
    }
  }

  /// Makes a change of documents, with its webhook, or neither.
  ///
  /// While the store fails, both wait for it like everything that was decided: nobody was promised anything who could be
  /// refused.
  mutating func change(_ change: DocumentChange) {
    let then = change.then
    guard standstill == nil, desk.leases.owns(shard: change.shard) else {
      return effects.actions.append(.answer { then(false) })
    }
    if let webhook = change.webhook {
      insertWebhook(
        webhook.type, webhook.body, to: webhook.receiver, labels: webhook.labels, orderingKey: webhook.orderingKey)
    }
    writes += change.writes
    afterCommit.append(.answer { then(true) })
  }

  private mutating func insertWebhook(
    _ event: EventType, _ body: [UInt8], to subscription: WebhookSubscription, endOf call: CallID? = nil,
    labels: [CallSpec.Label] = [], orderingKey: String? = nil
  ) {
    var webhook = webhook(
      event, body, to: subscription, labels: labels, orderingKey: orderingKey, policy: settings.webhookPolicy)
    webhook.reportsEndOf = call
    insert(webhook)
  }

  private mutating func webhook(
    _ event: EventType, _ body: [UInt8], to subscription: WebhookSubscription, labels: [CallSpec.Label],
    orderingKey: String? = nil, policy: RetryPolicy
  ) -> CallRecord {
    let spec = CallSpec(
      url: subscription.url, method: "POST", headers: [HeaderField("content-type", "application/json")],
      target: subscription.target, policy: policy, captureLimit: 4096
    ) {
      $0.labels = [CallSpec.Label(name: Self.eventLabel, value: event.rawValue)] + labels
      $0.orderingKey = orderingKey
    }
    return CallRecord(
      id: nextID(), kind: .webhook, spec: spec, body: body, createdAt: now,
      progress: CallProgress(state: .held, due: now, roundStartedAt: now))
  }

  /// Sends a webhook that somebody wants to see arrive: it waits neither for the breaker, nor behind other webhooks.
  private mutating func insertTest(_ webhook: CallRecord) -> CallRecord {
    guard owns(webhook.spec.target) else { return insert(webhook) }
    let (index, origin) = (target(webhook.spec.target), webhook.spec.originHash)
    guard !roster.targets[index].isPaused, !isDraining, desk.trouble == nil,
      roster.occupancy.inFlight < settings.maxInFlight, roster.hasConnection(index, to: origin)
    else { return insert(webhook) }
    roster.countUnfinished(1, at: roster.targets[index].namespace)
    hold(webhook, of: index)
    begin(
      webhook.id, permit: StartPermit(breaker: roster[index].bypassBreaker(at: now), origin: origin),
      storing: webhook.content)
    return calls[webhook.id]?.record ?? webhook
  }
}

extension RetryPolicy {
  /// The policy with a single attempt.
  fileprivate var once: RetryPolicy {
    var policy = self
    policy.maxAttempts = 1
    return policy
  }
}

extension Notice {
  /// What it is to those who listen and to webhook endpoints; nil for nothing.
  fileprivate var event: EventType? {
    switch self {
    case .breakerOpened: .targetOpened
    case .breakerHalfOpen: .targetHalfOpened
    case .breakerClosed: .targetClosed
    case .targetDown: .targetDown
    case .targetRecovered: .targetRecovered
    case .targetControlled: .targetControlled
    default: nil
    }
  }

  /// Writes the data of the event: the target's breaker, and what an operator has done.
  fileprivate func write(_ target: TargetSnapshot, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("key", target.key.bare)
    writer.key("breaker")
    writer.beginObject()
    writer.field("state", target.breaker.rawValue)
    writer.field("openUntil", target.openUntil)
    writer.key("trips")
    if target.openUntil != nil { writer.integer(Int64(target.trips)) } else { writer.null() }
    writer.endObject()
    switch self {
    case .targetDown(_, let outage), .targetRecovered(_, let outage):
      writer.key("outage")
      outage.write(to: &writer)
    case .targetControlled(_, let action):
      writer.field("action", action)
      writer.field("paused", target.isPaused)
    default: break
    }
    writer.endObject()
  }
}
