internal import RedialCore
internal import RedialModel

/// How calls are accepted.
extension Engine {
  /// Takes over the state that an earlier process left in the store.
  mutating func recover(_ state: RecoveredState) {
    ids = CallIDSource(instance: settings.instance, after: state.lastID)
    recover(state.namespaces, unfinished: state.unfinished)
    storeNextDue = state.nextDue
    takeOver(state)
    if state.unfinished > 0 {
      effects.actions.append(
        .notice(.recovered(unfinished: state.unfinished, interrupted: state.running.count)))
    }
  }

  /// Takes over targets, with their calls, from an owner that is gone.
  mutating func takeOver(_ state: RecoveredState) {
    // Only after all of them are known: a breaker may be examined here before it is known that it is tripped.
    let next = nextForgetting
    nextForgetting = .distantFuture
    defer { nextForgetting = next }
    for (key, breaker) in state.breakers {
      let index = target(key)
      targets[index].breaker = CircuitBreaker(
        settings: targets[index].settings.breaker, openUntil: breaker.until, trips: breaker.trips)
    }
    recover(state.controls)
    for (key, count) in state.queued {
      let index = target(key)
      targets[index].stored = count
      // The most urgent calls there are claimed first. No new call may overtake them.
      targets[index].storedPriority = CallSpec.priorities.upperBound
      enterRotation(index)
    }
    for record in state.running {
      hold(record, phase: .waiting)
      settle(
        record.id,
        AttemptRecord(
          number: record.progress.attempts, startedAt: record.progress.due, duration: .zero, outcome: .interrupted,
          failure: AttemptFailure(
            code: "interrupted",
            message: "Redial stopped while the attempt was in flight; its result is unknown.")
        ))
    }
  }

  /// Accepts a call, or refuses it with the reason. A call with an idempotency key is looked up first.
  mutating func submit(_ descriptor: CallDescriptor, reply: ReplyToken) {
    if let key = descriptor.key {
      lookUp(KeyedSubmission(descriptor: descriptor, key: key, reply: reply))
    } else if let problem = refusal(of: descriptor.spec) {
      refuse(reply, problem)
    } else {
      accept(descriptor, reply: reply)
    }
  }

  mutating func refuse(_ reply: ReplyToken, _ problem: Problem) {
    effects.actions.append(.reply(reply, .refused(problem)))
  }

  /// Accepts a call.
  @discardableResult
  mutating func accept(_ descriptor: CallDescriptor, reply: ReplyToken) -> CallID {
    let start = descriptor.start.instant(acceptedAt: now)
    let record = CallRecord(
      id: nextID(), kind: .call, spec: descriptor.spec, body: descriptor.body, createdAt: now,
      progress: CallProgress(state: .held, due: start, waiting: .startTime, roundStartedAt: start))
    let accepted = insert(record)
    afterCommit.append(.reply(reply, .accepted(accepted)))
    return record.id
  }

  /// Why a call cannot be accepted now; nil when it can.
  mutating func refusal(of spec: CallSpec) -> Problem? {
    if let problem = refusal(in: spec.namespace) { return problem }
    return owns(spec.target) ? refusalOfNewTarget(spec.target) : nil
  }

  /// Why no call can be accepted now, even if there are few; nil if calls can be accepted.
  func standstill() -> Problem? {
    if isDraining {
      return Problem(
        status: 503, code: "draining", title: "Redial is stopping",
        detail: "No new calls are accepted while the service stops. Try again.",
        retryAfter: 5)
    }
    if let trouble { return trouble.problem }
    if isShortOfRoom { return Self.noRoom }
    if isStoreMisplaced { return Self.misplaced }
    return leases.canWork ? nil : Self.leaseLost
  }

  /// Why no call can be accepted now; nil when one can.
  func refusal() -> Problem? {
    if let problem = standstill() { return problem }
    // Of the whole store, whichever instance runs them.
    if unfinished + elsewhere >= settings.maxUnfinished {
      return Problem(
        status: 503, code: "backlogFull", title: "The backlog is full",
        detail:
          "\(settings.maxUnfinished) calls have not ended yet, which is the maximum (maxUnfinished). Try again later.",
        retryAfter: 30)
    }
    return nil
  }

  /// Puts a new call where it belongs, and into the store. Returns it as stored.
  @discardableResult
  mutating func insert(_ new: CallRecord) -> CallRecord {
    guard owns(new.spec.target) else { return insertElsewhere(new) }
    var record = new
    let place = place(of: record.spec.namespace)
    countUnfinished(1, at: place)
    if let key = record.spec.orderingKey { return insertOrdered(record, key) }
    let index = target(record.spec.target)
    if record.progress.due > now {
      let soon = record.progress.due <= now + settings.holdWindow && hasRoomForNew(record, at: place)
      record.progress.state = soon ? .held : .scheduled
      writes.append(.insert(record))
      if soon {
        hold(record, of: index, phase: .waiting)
        wait(record.id, until: record.progress.due)
      } else {
        stored(due: record.progress.due)
      }
      return record
    }
    if let permit = permitAtOnce(index) {
      hold(record, of: index, phase: .waiting)
      begin(record.id, permit: permit, storing: record.content)
      return calls[record.id]?.record ?? record
    }
    record.progress.waiting = targets[index].breaker.admits(at: now) ? .concurrency : .breaker
    if mustQueue(index, record) {
      record.progress.state = .queued
      record.progress.due = record.lastStart
      writes.append(.insert(record))
      queuedInStore(index, due: record.lastStart, priority: record.spec.priority)
    } else {
      writes.append(.insert(record))
      hold(record, of: index, phase: .waiting)
      becomeReady(record.id)
    }
    return record
  }

  /// Creates the webhook for the callback of a call that has ended. A webhook is a call itself.
  mutating func insertWebhook(_ event: CallEvent, of record: CallRecord, attempts: [AttemptRecord]) {
    guard let callback = record.spec.callback, callback.events.contains(event) else { return }
    let origin = (try? TargetURL(callback.url).origin) ?? callback.url
    let spec = CallSpec(
      url: callback.url, method: "POST", headers: [HeaderField("content-type", "application/json")],
      target: QualifiedKey.make("webhook:\(origin)", in: record.spec.namespace), policy: settings.webhookPolicy,
      captureLimit: 4096, hops: record.spec.hops)
    let end = writes.count
    insert(
      CallRecord(
        id: nextID(), kind: .webhook, spec: spec,
        body: WebhookPayload.make(event, of: record, attempts: attempts, redaction: settings.redaction, at: now),
        createdAt: now,
        progress: CallProgress(state: .held, due: now, roundStartedAt: now)))
    // The insert of the webhook directly follows the end of its call, whatever asking the breaker has added in
    // between. If the end has to be dropped, the webhook is found there.
    if writes.count > end + 1 { writes.insert(writes.removeLast(), at: end) }
  }
}
