internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// How those who wait for the engine get its replies.
final class Replies: Sendable {
  private let waiting: ReplyTables
  private let intake: Intake
  private let calls: CallAnswers
  private let targets: TargetAnswers
  private let audit: MemoryAudit
  /// Leads to the owners of targets; nil if there can be no other instances.
  private let owners: OwnerRequests?
  private let queries: Queries
  private let metrics: Metrics
  private let clock: Clock
  private let redaction: Redaction

  init(
    _ waiting: ReplyTables, _ intake: Intake, _ calls: CallAnswers, _ targets: TargetAnswers,
    _ audit: MemoryAudit, _ owners: OwnerRequests?, _ metrics: Metrics
  ) {
    (self.waiting, self.intake, self.calls, self.targets) = (waiting, intake, calls, targets)
    (self.audit, self.owners, self.metrics) = (audit, owners, metrics)
    (queries, clock, redaction) = (calls.queries, calls.clock, calls.redaction)
  }

  /// Passes a reply of the engine on to whoever waits for it. The answers to submissions are collected, to be sent
  /// together.
  func pass(_ reply: Reply, into answers: inout SubmissionAnswers) {
    switch reply {
    case .submission(let token, let reply):
      if let submitter = waiting.submissions.take(token) { answer(submitter, reply, into: &answers) }
    case .command(let token, let reply):
      if let commander = waiting.commands.take(token) { answer(commander, reply) }
    case .targetCommand(let token, let reply):
      if let commander = waiting.targetCommands.take(token) { answer(commander, reply) }
    }
  }

  /// Answers clients that have waited long for a store that is shared. A database behind a network that loses everything
  /// says nothing for a long time, and may have made what it was sent. A later answer of the engine then has nobody to go
  /// to.
  func answerDoubted() {
    var answers = SubmissionAnswers(most: 1)
    for submitter in waiting.submissions.takeAll(waitingFor: Changes.patience) {
      answer(submitter, .refused(.outcomeUnknown), into: &answers)
    }
    answers.send(redaction)
    for commander in waiting.commands.takeAll(waitingFor: Changes.patience) {
      answer(commander, .refused(.outcomeUnknown))
    }
    for commander in waiting.targetCommands.takeAll(waitingFor: Changes.patience) {
      answer(commander, .refused(.outcomeUnknown))
    }
  }

  /// After this time without an answer of the owner, a call is not stored here: it may have been executed and removed.
  private static let longestForward = Duration.seconds(30)

  /// Passes on what became of submissions that were forwarded to the owners of their targets.
  func pass(_ ended: ForwardLane.Ended, _ engine: EngineLane) {
    var answers = SubmissionAnswers(most: ended.answered.count)
    for (call, reply) in ended.answered { pass(.submission(call.reply, reply), into: &answers) }
    let now = clock.now
    var events: [EngineEvent] = []
    for (call, isInDoubt) in ended.stored {
      if isInDoubt {
        waiting.submissions.change(call.reply) { $0.isInDoubt = true }
        guard now - call.identity.createdAt <= Self.longestForward else {
          pass(.submission(call.reply, .refused(.outcomeUnknown)), into: &answers)
          continue
        }
      }
      events.append(.submit(call.descriptor, call.reply))
    }
    answers.send(redaction)
    if !events.isEmpty { engine.post(events) }
  }

  private func answer(_ submitter: Submitter, _ reply: SubmissionReply, into answers: inout SubmissionAnswers) {
    if case .forwarded(let batch, let index) = submitter.kind { return batch.answer(index, reply) }
    if case .replay(let batch, let original) = submitter.kind {
      if case .accepted = reply { metrics.count { $0.accepted += 1 } }
      return batch.record(reply, replaying: original)
    }
    switch reply {
    case .accepted(let record): answer(submitter, accepted: record, into: &answers)
    case .refused(let refusal):
      var problem = refusal.problem
      if submitter.isInDoubt, problem.status >= 500 { problem = Refusal.outcomeUnknown.problem }
      if submitter.isClients { metrics.count { $0.refused += 1 } }
      switch submitter.kind {
      case .item(let batch, let index): answers.add(.refused(problem), to: batch, at: index)
      case .client(let responder), .untilEnd(let responder, _), .webhookTest(let responder):
        metrics.count { $0.requests[problem.status / 100] += 1 }
        answers.add(.refused(problem), to: responder)
      case .replay, .forwarded: break
      }
    case .replayed(let id): intake.answerRepeated(id, submitter)
    }
  }

  private func answer(_ submitter: Submitter, accepted record: CallRecord, into answers: inout SubmissionAnswers) {
    let now = clock.now
    metrics.count { counts in
      counts.accepted += 1
      counts.accept.record((now - submitter.since).inSeconds)
    }
    let wait = calls.standings.wait(of: record, at: now)
    switch submitter.kind {
    case .item(let batch, let index): answers.add(.accepted(record, wait), to: batch, at: index)
    case .untilEnd(let responder, let end):
      calls.showEnded(record.id, in: record.spec.namespace, responder, end, applied: end.bound) { [redaction] in
        Answer.accepted(record, wait: wait, redaction)
      }
    case .client(let responder), .webhookTest(let responder):
      metrics.count { $0.requests[2] += 1 }
      answers.add(.accepted(record, wait), to: responder)
    case .replay, .forwarded: break
    }
  }

  private func answer(_ commander: Commander, _ reply: CallCommand.Reply) {
    switch (commander, reply) {
    case (.bulk(let batch, let call), _): batch.record(reply, of: call)
    case (.rerun(let rerun), _): intake.finish(rerun, reply)
    // The other instance makes the change, and records it.
    case (.client(let responder, let request, let note), .elsewhere(let target)):
      note?.drop()
      forward(request, toOwnerOf: target, responder)
    case (.client(let responder, _, _), .refused(let refusal)):
      queries.respond(responder, Answer.problem(refusal.problem))
    case (.client(let responder, _, _), .done(let record?)): calls.showDone(record, responder)
    case (.client(let responder, _, let note), .unchanged(let record?)):
      note?.drop()
      calls.showDone(record, responder)
    case (.client(let responder, _, _), .done(nil)), (.client(let responder, _, _), .unchanged(nil)):
      queries.respond(responder, HTTPResponse(status: 204, headers: [], body: []))
    case (.audit(let call), .done), (.audit(let call), .unchanged): audit.reclaimed(call)
    // It is in memory now, has ended, or the next audit finds it.
    case (.audit, _): break
    }
  }

  private func answer(_ commander: TargetCommander, _ reply: TargetCommand.Reply) {
    switch reply {
    case .done(let target), .unchanged(let target): targets.show(target, commander.responder)
    // It is just giving the target's shard back.
    case .elsewhere(let target):
      commander.note?.drop()
      forward(commander.request, toOwnerOf: target, commander.responder)
    case .refused(let refusal): queries.respond(commander.responder, Answer.problem(refusal.problem))
    }
  }

  private func forward(_ request: ForwardableRequest?, toOwnerOf target: TargetKey, _ responder: HTTPResponder) {
    // An engine that is alone on its store owns all targets.
    if let owners { return owners.forward(request, toOwnerOf: target, responder) }
    queries.respond(responder, Answer.problem(Refusal.ownedElsewhere(target).problem))
  }
}
