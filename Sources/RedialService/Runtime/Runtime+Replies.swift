internal import Dispatch
internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// How clients that wait for the engine, or for a call, get their answers.
extension Runtime {
  /// Passes a reply of the engine on to whoever waits for it. The answers to submissions are collected, to be sent
  /// together.
  func answer(_ reply: Reply, into answers: inout SubmissionAnswers) {
    switch reply {
    case .submission(let token, let reply):
      if let submitter = replies.submissions.take(token) { answer(submitter, reply, into: &answers) }
    case .command(let token, let reply):
      if let commander = replies.commands.take(token) { answer(commander, reply) }
    case .targetCommand(let token, let reply):
      if let commander = replies.targetCommands.take(token) { answer(commander, reply) }
    }
  }

  /// How long clients wait for a store that is shared.
  static let patience = Duration.seconds(5)

  /// Each second answers clients that have waited long for a store that is shared. A database behind a network that loses
  /// everything says nothing for a long time, and may have made what it was sent. A later answer of the engine then has
  /// nobody to go to.
  func answerDoubted() {
    var answers = SubmissionAnswers(most: 1)
    for submitter in replies.submissions.takeAll(waitingFor: Self.patience) {
      answer(submitter, .refused(.outcomeUnknown), into: &answers)
    }
    answers.send(redaction)
    for commander in replies.commands.takeAll(waitingFor: Self.patience) {
      answer(commander, .refused(.outcomeUnknown))
    }
    for commander in replies.targetCommands.takeAll(waitingFor: Self.patience) {
      answer(commander, .refused(.outcomeUnknown))
    }
    // Not on the store's lane, which may be waiting for the database itself.
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in self?.answerDoubted() }
  }

  private func answer(_ submitter: Submitter, _ reply: SubmissionReply, into answers: inout SubmissionAnswers) {
    if case .forwarded(let batch, let index) = submitter.kind { return batch.answer(index, reply) }
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
      case .forwarded: break
      }
    case .replayed(let id): answerWithReplay(id, submitter)
    }
  }

  private func answer(_ submitter: Submitter, accepted record: CallRecord, into answers: inout SubmissionAnswers) {
    let now = clock.now
    metrics.count { counts in
      counts.accepted += 1
      counts.accept.record((now - submitter.since).inSeconds)
    }
    let wait = standings.wait(of: record, at: now)
    switch submitter.kind {
    case .item(let batch, let index): answers.add(.accepted(record, wait), to: batch, at: index)
    case .untilEnd(let responder, let end):
      answerWhenEnded(record.id, in: record.spec.namespace, responder, end, applied: end.bound) { [redaction] in
        Answer.accepted(record, wait: wait, redaction)
      }
    case .client(let responder), .webhookTest(let responder):
      metrics.count { $0.requests[2] += 1 }
      answers.add(.accepted(record, wait), to: responder)
    case .forwarded: break
    }
  }

  private func answer(_ commander: Commander, _ reply: CallCommand.Reply) {
    switch (commander, reply) {
    case (.bulk(let batch, let request?), .elsewhere(let target)): forward(request, toOwnerOf: target, of: batch)
    case (.bulk(let batch, _), _): batch.note(reply)
    case (.client(let responder, let request), .elsewhere(let target)):
      forward(request, toOwnerOf: target, responder)
    case (.client(let responder, _), .refused(let refusal)): respond(responder, Answer.problem(refusal.problem))
    case (.client(let responder, _), .done(let record?)): answer(responder, withDone: record)
    case (.client(let responder, _), .done(nil)): respond(responder, HTTPResponse(status: 204, headers: [], body: []))
    case (.audit(let call), .done): reclaimed(call)
    // It is in memory now, has ended, or the next audit finds it.
    case (.audit, _): break
    }
  }

  private func answer(_ commander: TargetCommander, _ reply: TargetCommand.Reply) {
    switch reply {
    case .done(let target): answer(commander.responder, with: target)
    // It is just giving the target's shard back.
    case .elsewhere(let target): forward(commander.request, toOwnerOf: target, commander.responder)
    case .refused(let refusal): respond(commander.responder, Answer.problem(refusal.problem))
    }
  }

  /// Answers with the call of a command that is done. Its client must not believe otherwise because the call cannot be
  /// read.
  private func answer(_ responder: HTTPResponder, withDone record: CallRecord) {
    query(responder, isOwed: true) { [self] in
      do {
        // It belongs to the client's namespace, or the engine would have refused.
        let stored = try storedCall(record.id, in: nil)
        return Answer.call(stored, wait: standings.wait(of: stored, at: clock.now), redaction)
      } catch let error as StoreError {
        _ = problem(of: error)
        return Answer.unread(record, wait: standings.wait(of: record, at: clock.now), redaction)
      }
    }
  }

  /// - Parameter namespace: The namespace that it must belong to; nil if that is known.
  private func storedCall(_ id: CallID, in namespace: Namespace?) throws -> StoredCall {
    guard let stored = try reader.call(id, in: namespace, allResponses: false) else {
      throw Refusal.callNotFound(id).problem
    }
    return stored
  }

  /// Answers with a call once it has ended, or with something else after a time.
  ///
  /// - Parameters:
  ///   - namespace: The namespace that it must belong to; nil if that is known.
  ///   - applied: The client's preference, which an answer in time fulfils; nil if there was none.
  ///   - withRequest: Whether the answer contains the request.
  ///   - isReplay: Whether the call was accepted before, under the same key.
  ///   - orElse: The answer if the call has not ended in time, was removed before it could be shown, or cannot be read; nil
  ///     for the call as it is.
  func answerWhenEnded(
    _ id: CallID, in namespace: Namespace?, _ responder: HTTPResponder, _ wait: EndWait,
    applied: Duration? = nil, withRequest: Bool = false, isReplay: Bool = false,
    orElse: (@Sendable () throws -> HTTPResponse?)? = nil
  ) {
    let show = { @Sendable [self] (stored: StoredCall) throws in
      Answer.call(
        stored, wait: standings.wait(of: stored, at: clock.now), redaction, applied: applied,
        isReplay: isReplay, request: withRequest ? try request(of: stored.record) : nil)
    }
    let find = { @Sendable [self] () throws -> StoredCall? in
      orElse == nil
        ? try storedCall(id, in: namespace) : try reader.call(id, in: namespace, allResponses: false)
    }
    // `orElse` is given for a call that was just accepted; its client must not get another answer because many
    // queries wait.
    let isOwed = orElse != nil
    let unread = { @Sendable [self] (error: any Error) throws -> HTTPResponse? in
      guard let orElse else { throw error }
      _ = problem(of: error)
      return try orElse()
    }
    // The runtime's own table of waits retains this until the call ends, its time is up or the service stops.
    let finish = { @Sendable [self] (outcome: EndTable.Outcome) in
      query(responder, isOwed: isOwed) {
        if let problem = wait.mayGoOn() {
          // Who has just submitted it must know that it is accepted.
          guard let orElse, !isReplay else { throw problem }
          return try orElse()
        }
        if outcome == .timedOut, let orElse { return try orElse() }
        let stored: StoredCall?
        do { stored = try find() } catch { return try unread(error) }
        return try stored.map(show) ?? orElse?()
      }
    }
    let ticket = ends.wait(for: id, until: clock.now + wait.bound, while: wait.mayGoOn, finish)
    guard let ticket else {
      return query(responder, isOwed: isOwed) {
        if let orElse { return try orElse() }
        return try find().map(show)
      }
    }
    // A client that disconnects frees its place. One that has only closed its sending side is answered as if its time
    // were up.
    responder.onCancel { [weak self] in
      guard let self, ends.giveUp(ticket) else { return }
      finish(.timedOut)
    }
    // It may have ended before the wait began.
    query(responder, isOwed: isOwed) { [self] () -> HTTPResponse? in
      do {
        let stored = try find()
        if let stored, !stored.record.progress.state.isFinal {
          endWatch?.watch(id, of: stored.record.spec.target)
          return nil
        }
        return ends.giveUp(ticket) ? try stored.map(show) ?? orElse?() : nil
      } catch {
        return ends.giveUp(ticket) ? try unread(error) : nil
      }
    }
  }

  /// Ends the streams and waits of clients that may not go on: their API key was revoked, or one is needed from now on.
  func dismissTheRefused() {
    events.dismissTheRefused()
    ends.dismissTheRefused()
  }

  /// Answers with a call as it is in the store.
  ///
  /// - Parameter withRequest: Whether the answer contains the request.
  func answerWithCall(
    _ id: CallID, in namespace: Namespace?, _ responder: HTTPResponder, withRequest: Bool = false
  ) {
    query(responder) { [self] in
      let stored = try storedCall(id, in: namespace)
      return Answer.call(
        stored, wait: standings.wait(of: stored, at: clock.now), redaction,
        request: withRequest ? try request(of: stored.record) : nil)
    }
  }

  /// Answers with a page of calls.
  func answerWithCalls(_ query: CallQuery, _ responder: HTTPResponder, _ caller: Caller) {
    self.query(responder, as: query.load, for: caller) { [self] _ in
      let page = try reader.calls(query)
      let now = clock.now
      return Answer.calls(page.calls, next: page.next, redaction) { standings.wait(of: $0, at: now) }
    }
  }

  /// The visible part of a call's request.
  private func request(of call: CallRecord) throws -> RequestView {
    let isErased = call.spec.contentErasedAt != nil
    return RequestView(of: call, body: isErased ? [] : try body(of: call, atMost: RequestView.mostBytes))
  }

  /// The first bytes of a call's body, from memory or the store.
  func body(of call: CallRecord, atMost count: Int) throws -> [UInt8] {
    do throws(StoredBodyError) {
      return try bodies.bytes(of: call, atMost: count)
    } catch {
      switch error {
      case .gone: throw Answer.contentErased(call.id)
      case .damaged(let clause):
        throw DamagedCall(id: call.id, reason: "its body: \(clause)").of(call.spec).error
      case .unreadable(let failure): throw failure
      }
    }
  }

  /// Answers at once.
  func respond(_ responder: HTTPResponder, _ response: HTTPResponse) {
    metrics.count { $0.requests[min(5, max(1, response.status / 100))] += 1 }
    responder.respond(response)
  }
}
