internal import RedialCore
internal import RedialModel

/// What happens when an attempt ends.
extension Engine {
  mutating func attemptEnded(_ id: CallID, number: Int, _ result: AttemptResult) {
    desk.leases.attemptEnded(id)
    guard let place = calls.place(of: id), case .running(let flight, let cancelledBy) = calls[at: place].phase,
      calls[at: place].record.progress.attempts == number
    else { return }
    let index = calls[at: place].target
    let startedAt = calls[at: place].record.progress.due
    let wasCut = wasCutByDeadline(place, result)
    let sign = TargetSign(
      result, wasCut: wasCut, isCancelled: !cancelledBy.isEmpty,
      long: roster.targets[index].credit.responseTime.longSilence(atLeast: settings.longSilence))
    // The duration of a refused connection says nothing about response times, nor does that of a response which never ended.
    if result.outcome == .answered, result.failure == nil { roster.recordResponseTime(result.duration, of: index) }
    roster.learn(sign, startedAt: startedAt, of: index)
    // What is refused or cut says nothing of the attempts of its caller that hang.
    if case .answer = sign, result.outcome == .answered {
      roster.recordAnswer(
        to: flight.callers ?? calls[at: place].record.spec.callers, of: index, on: flight.connection,
        isMultiplexed: result.figures?.version.map { $0 == .http2 }, at: now)
    }
    leaveRunning(id, wasMade: true)
    let isLoad = endPaced(
      index, flight.paceTicket, AdaptivePace.Sign(result, sign, at: now), of: calls[at: place].record.spec)
    // A probe that is refused is a failure: nothing else shows that the target works.
    let says = Self.verdict(on: result, sign, wasCut: wasCut)
    let verdict = isLoad && !flight.permit.isProbe ? .ignored : says
    func cause() -> String { result.decisiveFailure?.code ?? result.status.map { "status \($0)" } ?? "silence" }
    roster[index].count(
      says, isLocal: result.outcome == .localFault, of: id, calls[at: place].record.spec, cause: cause(), at: now)
    recordBreaker(
      index, verdict, flight.permit, of: id, calls[at: place].record.spec, took: result.duration,
      cause: verdict == .failure ? cause() : "failureRate")
    roster.enterRotation(index)
    // A transfer that nobody cancelled was cut off by this side, such as when the service stops.
    var attempt = AttemptRecord(number: number, startedAt: startedAt, result)
    if result.outcome == .cancelled, cancelledBy.isEmpty { attempt.outcome = .interrupted }
    decide(after: attempt, of: id, held: flight.held, cancelledBy: cancelledBy)
  }

  /// An attempt was not started, because it was too late.
  mutating func attemptTooLate(_ id: CallID, number: Int) {
    desk.leases.attemptEnded(id)
    guard let place = calls.place(of: id), calls[at: place].isRunning,
      calls[at: place].record.progress.attempts == number
    else { return }
    let index = calls[at: place].target
    takeBack(id)
    roster.enterRotation(index)
  }

  /// What an attempt's end means for the target's breaker. If this side ended the attempt early, it counts as a
  /// failure only if the target had been silent for long; otherwise it does not count.
  private static func verdict(
    on result: AttemptResult, _ sign: TargetSign, wasCut: Bool
  ) -> CircuitBreaker.Result {
    if case .silence = sign { return .failure }
    return wasCut ? .ignored : AttemptEnd.breakerResult(of: result.outcome, status: result.status ?? 0)
  }

  /// Whether an attempt timed out because of the call's deadline, not because of its own timeout. Unless the target
  /// had been silent for long, that says nothing about the target.
  private func wasCutByDeadline(_ place: Int, _ result: AttemptResult) -> Bool {
    guard result.outcome == .maybeSent || result.outcome == .notSent, result.failure?.code == AttemptFailure.timeout
    else { return false }
    let call = calls[at: place]
    guard now + Self.timeoutGrain >= call.record.deadline else { return false }
    let own = min(call.record.spec.policy.attemptTimeout, roster.targets[call.target].settings.attemptTimeout)
    return call.record.deadline - call.record.progress.due < own
  }

  /// How much too early a timeout may be: transports count in milliseconds.
  private static let timeoutGrain = Duration.milliseconds(2)

  /// Takes a call out of the running ones; it waits until its state is set again.
  ///
  /// - Parameter wasMade: Whether the attempt was made, so that its end says something about the target.
  mutating func leaveRunning(_ id: CallID, wasMade: Bool) {
    guard let place = calls.place(of: id), case .running(let flight, _) = calls[at: place].phase else { return }
    calls.enter(.waiting, at: place)
    suspects.ended(id)
    calls[at: place].record.progress.isAlone = false
    let index = calls[at: place].target
    let startedAt = calls[at: place].record.progress.due
    if let callers = flight.callers { roster[index].freeSlot(callers, startedAt: startedAt) }
    roster.disconnect(flight.connection, of: index, startedAt: startedAt)
    roster.stop(calls[at: place].record.content.heldSize, of: index, wasMade: wasMade)
    roster[index].beside.end(id, isLast: roster.targets[index].occupancy.inFlight == 0)
  }

  /// Decides what follows an attempt, and does it.
  mutating func decide(
    after attempt: consuming AttemptRecord, of id: CallID, held: HeldTimes? = nil,
    cancelledBy: [ReplyToken<CallCommand.Reply>] = []
  ) {
    guard let place = calls.place(of: id) else { return }
    let spec = calls[at: place].record.spec
    let index = calls[at: place].target
    var progress = calls[at: place].record.progress
    let wasCutOff = attempt.outcome == .interrupted
    if wasCutOff { progress.cutOffAttempts += 1 } else { progress.survive() }
    let isTakenOver = attempt.failure == .interrupted
    let lackedCredential = attempt.failure?.code == AttemptFailure.credentialUnavailable
    if lackedCredential { progress.unprovenAttempts += 1 }
    let hasNewToken = attempt.failure == .tokenRefused && spec.idempotent
    let status = attempt.status ?? 0
    // A success needs no fields about its own retries.
    let response = (200...299).contains(status) ? nil : attempt.response
    let end = AttemptEnd(
      outcome: attempt.outcome, status: status, retryAfter: response?.askedWait(status: status, at: now),
      directive: response?.head.first(RetryDirective.fieldName).flatMap(RetryDirective.parse)
        ?? (hasNewToken ? .retry : nil),
      attempts: progress.chargedAttempts, startedAt: progress.roundStartedAt, waits: progress.waits,
      mayHaveLeft: attempt.figures?.mayHaveLeft ?? false, mayBeProcessing: progress.mayBeProcessing,
      isOnUsedConnection: attempt.figures?.isReused ?? false)
    if attempt.mayBeProcessed { progress.mayBeProcessing = true }
    // What is not charged waits by no part of the policy's schedule, and each time for longer.
    let backoff: Backoff? =
      if lackedCredential {
        Self.backoff(afterUnproven: progress.unprovenAttempts)
      } else if isTakenOver || hasNewToken && (end.attempts == 1 || end.waits.previous > .zero) {
        // At once, but not again and again, with a target that refuses each token.
        .constant(.zero)
      } else {
        nil
      }
    var decision =
      if let backoff {
        spec.policy.decide(end, at: now, backoff: backoff, using: &random)
      } else {
        spec.policy.decide(end, at: now, using: &random)
      }
    // Suspects have their turns at once, also where the policy gives each wait a minimum.
    if isTakenOver, case .retry = decision.action { decision.action = .retry(after: .zero) }
    if attempt.failure == .endedTheService {
      decision = RetryDecision(.stop(.attemptEndedTheService), rule: .interrupted)
    } else if wasCutOff, progress.cutOffAttempts >= settings.maxInterruptions {
      decision = RetryDecision(.stop(.attemptsExhausted), rule: .interrupted)
    }
    heed(attempt, of: spec, asked: spec.policy.askedWait(of: end), at: index)
    progress.waits = decision.waits
    calls[at: place].record.progress = progress
    // Only now: fields about retries take effect even if nobody may see them.
    attempt.response?.redact(settings.redaction, and: spec.redactedHeaders)
    attempt.decision = DecisionText.decision(decision, for: end, failure: attempt.failure, of: spec, held: held)
    if spec.isSensitive { attempt.forgetAnswer() }
    tally(attempt, decision, cancelledBy, calls[at: place].record.kind, of: index)
    switch decision.action {
    case .succeed:
      // A call that succeeded first cannot be cancelled.
      for reply in cancelledBy {
        afterCommit.append(.reply(.command(reply, .refused(.callEnded(id, .succeeded)))))
      }
      finish(id, .succeeded, attempt: attempt)
    case _ where !cancelledBy.isEmpty: finish(id, .cancelled, attempt: attempt, for: cancelledBy)
    case .stop(let reason): finish(id, .failed, failure: reason, attempt: attempt)
    case .retry(let wait): retry(id, at: now + wait, decision, attempt)
    case .park(let time): retry(id, at: time, decision, attempt)
    }
  }

  /// The wait after attempts that had no credential: 1, 2, 4 … 60 seconds.
  private static func backoff(afterUnproven count: Int) -> Backoff {
    .constant(min(.seconds(60), .seconds(1 << min(max(0, count - 1), 6))), jitter: .proportional(factor: 0.5))
  }

  /// Lets a call wait for its next attempt, in memory if that is soon.
  private mutating func retry(
    _ id: CallID, at due: Timestamp, _ decision: RetryDecision, _ attempt: consuming AttemptRecord
  ) {
    guard let place = calls.place(of: id) else { return }
    let index = calls[at: place].target
    if roster.targets[index].trips(calls[at: place].record.spec, at: now) {
      return finish(id, .failed, failure: .tripped, attempt: attempt)
    }
    // A call that was accepted when there was room for its attempt, but none for waiting, waits in the store.
    let soon =
      due <= now + settings.holdWindow
      && roster.mayWait(nil, at: roster.targets[index].namespace, expecting: desk.claims.expected)
    var progress = calls[at: place].record.progress
    progress.state = soon ? .held : .scheduled
    progress.due = due
    progress.waiting = decision.rule == .retryAfter ? .retryAfter : .backoff
    calls[at: place].record.progress = progress
    Self.remember(attempt, in: &calls[at: place].record)
    calls.enter(.waiting, at: place)
    attempt.namespace = calls[at: place].record.spec.namespace
    writes.append(.update(id, progress, attempt))
    if soon {
      calls.wait(id, until: due)
    } else {
      release(id)
      desk.claims.stored(due: due)
    }
  }

  /// Keeps an attempt, without the body of its response, for the webhook about the call.
  private static func remember(_ attempt: AttemptRecord, in record: inout CallRecord) {
    guard record.spec.callback != nil else { return }
    var attempt = attempt
    attempt.response = nil
    record.history.append(attempt)
  }

  /// Ends a call, on disk first; then its webhooks are created, and the commands that wanted this are answered.
  mutating func finish(
    _ id: CallID, _ state: StoredState, failure: StopReason? = nil, attempt: consuming AttemptRecord? = nil,
    for replies: [ReplyToken<CallCommand.Reply>] = []
  ) {
    guard let call = release(id) else { return }
    precondition(state.isFinal && !call.record.progress.state.isFinal, "A call ends twice, or does not end.")
    var record = call.record
    record.progress.state = state
    record.progress.failure = failure
    if let failure {
      let group = FailedGroup(
        record.kind, record.spec.target, failure, endedBy: copy attempt, redact: record.spec.redact)
      record.progress.issue = roster[call.target].place(group, at: now)
    }
    record.progress.finishedAt = now
    record.progress.waiting = nil
    // Only webhooks need these.
    if record.spec.callback != nil, let attempt { record.history.append(attempt) }
    attempt?.namespace = record.spec.namespace
    writes.append(.update(id, record.progress, attempt))
    if record.spec.isSensitive { writes.append(.erase(id, record.spec.withoutPayloads(at: now))) }
    roster.countUnfinished(-1, at: roster.targets[call.target].namespace)
    roster.countEnd(of: record, isClients: record.kind == .call, of: call.target, at: now)
    if let failure {
      effects.actions.append(
        .notice(
          .callFailed(
            id, kind: record.kind, target: record.spec.target, reason: failure, attempts: record.progress.attempts,
            traceparent: record.spec.traceparent)))
    }
    if record.kind == .call, let event = EventType(endOf: record.progress) {
      insertWebhook(event, of: record, attempts: record.history)
      notifySubscribers(event, of: record)
    }
    done(replies, record)
    if record.spec.orderingKey != nil { passTurn(record) }
  }
}
