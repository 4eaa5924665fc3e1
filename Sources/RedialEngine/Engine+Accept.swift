internal import RedialCore
internal import RedialModel

/// How calls are accepted.
extension Engine {
  /// Takes over the state that an earlier process left in the store.
  mutating func recover(_ state: RecoveredState) {
    ids = CallIDSource(instance: settings.instance, after: state.lastID)
    roster.recover(state.namespaces, unfinished: state.unfinished)
    desk.claims.recover(nextDue: state.nextDue)
    takeOver(state)
    if state.unfinished > 0 {
      effects.actions.append(
        .notice(.recovered(unfinished: state.unfinished, interrupted: state.running.count)))
    }
  }

  /// Takes over targets, with their calls, from an owner that is gone.
  mutating func takeOver(_ state: RecoveredState) {
    // Only after all of them are known: a breaker may be examined here before it is known that it is tripped.
    let next = roster.postponeForgetting(until: .distantFuture)
    defer { _ = roster.postponeForgetting(until: next) }
    for (key, record) in state.targets { takeOver(record, of: target(key)) }
    for (key, count) in state.queued {
      let index = target(key)
      roster[index].recover(stored: count)
      roster.enterRotation(index)
    }
    // Only now: the webhook about the end of an outage may have a target of its own.
    for (key, _) in state.targets { if let place = roster.place(of: key) { examineOutage(place) } }
    takeOver(running: state.running, after: state.crash)
  }

  /// Goes on with a target where its last owner has left it.
  private mutating func takeOver(_ record: TargetRecord, of place: Int) {
    roster[place].recover(record)
    // The controls say whether the target has an adaptive pace.
    if record.controls != TargetControls() { recover(record.controls, of: place) }
    if let pace = record.pace { roster[place].recover(pace, at: now) }
    if let until = record.askedUntil {
      // The clock of the machine may have been set back since.
      let end = min(until, now + settings.maxRetryAfterPause)
      roster[place].changePause(at: now) { [now] in $0.recover(until: end, at: now) }
    }
    reportStanding(place, always: true)
  }

  /// Accepts a call, or refuses it with the reason. A call with an idempotency key is looked up first.
  mutating func submit(_ descriptor: CallDescriptor, reply: ReplyToken<SubmissionReply>) {
    if let identity = descriptor.identity {
      if answered(descriptor, identity, reply) { return }
    } else if isForwarded(descriptor) {
      return forward(descriptor, reply: reply)
    }
    if let key = descriptor.key {
      lookUp(KeyedSubmission(descriptor: descriptor, key: key, reply: reply))
    } else if let refusal = refusal(of: descriptor.spec) {
      refuse(reply, refusal)
    } else {
      accept(descriptor, reply: reply)
    }
  }

  mutating func refuse(_ reply: ReplyToken<SubmissionReply>, _ refusal: Refusal) {
    effects.actions.append(.reply(.submission(reply, .refused(refusal))))
  }

  /// Refuses what would have been answered with this.
  mutating func refuse(_ reply: Reply, _ refusal: Refusal) {
    effects.actions.append(.reply(reply.refused(refusal)))
  }

  /// Accepts a call.
  @discardableResult
  mutating func accept(_ descriptor: CallDescriptor, reply: ReplyToken<SubmissionReply>) -> CallID {
    let record = record(of: descriptor)
    keep(descriptor.audit)
    let accepted = insert(record)
    afterCommit.append(.reply(.submission(reply, .accepted(accepted))))
    return record.id
  }

  /// A new call, as it is before anything is decided about it.
  mutating func record(of descriptor: CallDescriptor) -> CallRecord {
    let (id, createdAt) = descriptor.identity.map { ($0.id, $0.createdAt) } ?? (nextID(), now)
    // The clock of the instance that has given the identity may be a little ahead.
    let start = descriptor.start.instant(acceptedAt: min(createdAt, now))
    var record = CallRecord(
      id: id, kind: .call, spec: spec(of: descriptor), body: descriptor.body, createdAt: createdAt,
      progress: CallProgress(state: .held, due: start, waiting: .startTime, roundStartedAt: start))
    record.mayBeStored = descriptor.identity != nil
    return record
  }

  /// The spec of a new call, with what its target says of all its calls.
  private func spec(of descriptor: CallDescriptor) -> CallSpec {
    let key = descriptor.spec.target
    if let place = roster.place(of: key) { return descriptor.spec.accepted(by: roster.targets[place].settings) }
    let byRule = settings.target(by: settings.rule(for: key))
    return descriptor.spec.accepted(by: privacyElsewhere(of: key)?.applied(to: byRule) ?? byRule)
  }

  /// Puts a new call where it belongs, and into the store. Returns it as stored.
  @discardableResult
  mutating func insert(_ new: CallRecord) -> CallRecord {
    guard owns(new.spec.target) else { return insertElsewhere(new) }
    var record = new
    let place = roster.place(of: record.spec.namespace)
    roster.countUnfinished(1, at: place)
    if record.mayBeStored { desk.claims.given(record.id) }
    let index = target(record.spec.target)
    if let key = record.spec.orderingKey { return insertOrdered(record, key) }
    if record.progress.due > now {
      let soon = record.progress.due <= now + settings.holdWindow && mayWait(record, at: place)
      record.progress.state = soon ? .held : .scheduled
      writes.append(.insert(record))
      if soon {
        hold(record, of: index)
        calls.wait(record.id, until: record.progress.due)
      } else {
        desk.claims.stored(due: record.progress.due)
      }
      return record
    }
    if let permit = permitAtOnce(index, record.spec) {
      hold(record, of: index)
      begin(record.id, permit: permit, storing: record.content)
      return calls[record.id]?.record ?? record
    }
    record.progress.waiting = roster.targets[index].breaker.admits(at: now) ? .concurrency : .breaker
    if mustQueue(index, record) {
      record.progress.state = .queued
      record.progress.due = record.lastStart
      writes.append(.insert(record))
      queuedInStore(index, due: record.lastStart, priority: record.spec.priority)
    } else {
      writes.append(.insert(record))
      hold(record, of: index)
      becomeReady(record.id)
    }
    return record
  }

  /// Creates the webhook for the callback of a call that has ended. A webhook is a call itself.
  mutating func insertWebhook(_ event: EventType, of record: CallRecord, attempts: [AttemptRecord]) {
    guard let callback = record.spec.callback, callback.events.contains(event) else { return }
    precondition(record.progress.state.isFinal, "A webhook reports the end of a call that has not ended.")
    let origin = (try? TargetURL(callback.url).origin) ?? callback.url
    let spec = CallSpec(
      url: callback.url, method: "POST", headers: [HeaderField("content-type", "application/json")],
      target: TargetKey(WebhookSubscription.targetPrefix + origin, in: record.spec.namespace),
      policy: settings.webhookPolicy, captureLimit: 4096
    ) { $0.hops = record.spec.hops }
    var webhook = CallRecord(
      id: nextID(), kind: .webhook, spec: spec,
      body: WebhookPayload.make(event, of: record, attempts: attempts, redaction: settings.redaction, at: now),
      createdAt: now,
      progress: CallProgress(state: .held, due: now, roundStartedAt: now))
    webhook.reportsEndOf = record.id
    insert(webhook)
  }
}
