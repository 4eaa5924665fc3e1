@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Operations")
struct OperationTests {
  /// Answers the fetches that the store was asked for, each with what is on disk at that time.
  private func answerFetches(_ probe: inout EngineProbe, with records: [CallRecord?]) {
    var events: [EngineEvent] = []
    for request in probe.requests {
      if case .fetch(let operation) = request.body { events.append(.fetched(operation, records[events.count])) }
    }
    probe.requests = []
    probe.hear(events)
    probe.commit()
  }

  private func held(_ probe: EngineProbe, _ id: CallID) -> CallRecord? {
    var record = probe.record(id)
    record?.progress.state = .held
    return record
  }

  @Test("a waiting call is cancelled on disk before its client gets the answer")
  func cancelWaiting() {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(3))
    let reply = probe.token(for: CallCommand.Reply.self)
    probe.hear(.command(CallCommand(.cancel, id, reply: reply)))
    #expect(probe.reply(to: reply) == nil)
    probe.commit()
    #expect(probe.isDone(reply))
    #expect(probe.state(id) == .cancelled)
    probe.advance(.seconds(5))
    #expect(probe.starts.isEmpty)
  }

  @Test("a call that waits for its target is cancelled without a webhook")
  func cancelReady() {
    var probe = EngineProbe(EngineSettings(maxInFlightPerTarget: 1))
    let first = probe.submit()
    let id = probe.submit(callback: true)
    let reply = probe.command(.cancel, id)
    #expect(probe.isDone(reply))
    #expect(probe.state(id) == .cancelled)
    #expect(probe.webhooks.isEmpty)
    probe.end(first, status: 200)
    #expect(probe.starts(of: id) == 0)
  }

  @Test("a running call is aborted, and its clients get the answer when its attempt is over and on disk")
  func cancelRunning() {
    var probe = EngineProbe()
    let id = probe.submit()
    let replies = (0..<2).map { _ in probe.command(.cancel, id) }
    #expect(probe.actions.contains { if case .abort(id) = $0 { true } else { false } })
    #expect(probe.reply(to: replies[0]) == nil)
    probe.end(id, .cancelled)
    #expect(replies.allSatisfy(probe.isDone))
    #expect(probe.state(id) == .cancelled)
  }

  // Found by the simulation when the abort is among the immediate actions.
  @Test("an abort never overtakes the start of the attempt that it is to end")
  func abortAfterStart() {
    var probe = EngineProbe()
    _ = probe.submitOnly()
    guard case .commit(_, let then) = probe.requests.first?.body, case .start(let start) = then.first else {
      Issue.record("no start is to follow the commit")
      return
    }
    let id = start.call.id
    probe.hear(.command(CallCommand(.cancel, id, reply: probe.token())))
    #expect(probe.actions.isEmpty)
    probe.commit()
    let begun = probe.actions.firstIndex { if case .start = $0 { true } else { false } }
    let aborted = probe.actions.firstIndex { if case .abort(id) = $0 { true } else { false } }
    #expect((begun ?? .max) < (aborted ?? .min))
  }

  @Test("a running call that succeeds before its abort has succeeded, and its client gets that answer")
  func cancelTooLate() {
    var probe = EngineProbe()
    let id = probe.submit()
    let reply = probe.command(.cancel, id)
    probe.end(id, status: 200)
    #expect(probe.state(id) == .succeeded)
    #expect(probe.refusal(of: reply)?.code == .callEnded)
  }

  @Test("a running call that is to be cancelled is not tried again")
  func cancelBeforeRetry() {
    var probe = EngineProbe()
    let id = probe.submit()
    let reply = probe.command(.cancel, id)
    probe.end(id, status: 503)
    #expect(probe.state(id) == .cancelled)
    #expect(probe.isDone(reply))
  }

  @Test("a call in the store is cancelled there; one that has ended, or never was, cannot be")
  func cancelStored() {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(60))
    let reply = probe.command(.cancel, id)
    answerFetches(&probe, with: [held(probe, id)])
    #expect(probe.isDone(reply))
    #expect(probe.state(id) == .cancelled)
    let again = probe.command(.cancel, id)
    answerFetches(&probe, with: [probe.record(id)])
    #expect(probe.isDone(again))
    let none = probe.command(.cancel, CallID(rawValue: 5))
    answerFetches(&probe, with: [nil])
    #expect(probe.refusal(of: none)?.code == .callNotFound)
  }

  // Found by the simulation: the second answer shows the call as it was before the first cancelled it.
  @Test("a call in the store that two clients cancel at once ends once")
  func cancelTwiceAtOnce() {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(60))
    let replies = (0..<2).map { _ in probe.command(.cancel, id) }
    answerFetches(&probe, with: [held(probe, id), held(probe, id)])
    answerFetches(&probe, with: [probe.record(id)])
    let ends = probe.written.count {
      if case .update(id, let progress, _) = $0 { progress.state.isFinal } else { false }
    }
    #expect(ends == 1)
    #expect(probe.report()?.unfinished == 0)
    #expect(replies.allSatisfy(probe.isDone))
  }

  @Test("a call that waits between attempts goes at once when told to")
  func retryWaiting() {
    var probe = EngineProbe()
    let id = probe.submit()
    probe.end(id, status: 503)
    let reply = probe.command(.retry, id)
    #expect(probe.isDone(reply))
    #expect(probe.starts(of: id) == 2)
  }

  @Test("a call in the store goes at once when told to")
  func retryStored() {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(60))
    let reply = probe.command(.retry, id)
    answerFetches(&probe, with: [held(probe, id)])
    #expect(probe.isDone(reply))
    #expect(probe.starts(of: id) == 1)
    #expect(probe.record(id)?.deadline == probe.now + .seconds(60))
  }

  // An erasure that was refused once left the call in memory without a timer, so that it never ran.
  @Test(
    "a call in the store that has not ended, and was to be erased or removed, stays as it was",
    arguments: [CallCommand.Kind.erase, .purge], [4, 60])
  func eraseStored(kind: CallCommand.Kind, seconds: Int) throws {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(60))
    probe.advance(.seconds(60 - seconds))
    probe.requests = []
    let reply = probe.command(kind, id)
    answerFetches(&probe, with: [held(probe, id)])
    #expect(probe.refusal(of: reply)?.code == .callNotEnded)
    probe.advance(.seconds(seconds))
    if seconds > 5 {
      #expect(probe.state(id) == .scheduled)
      let claims = probe.requests.contains { if case .claimDue = $0.body { true } else { false } }
      #expect(claims, "it is claimed when it is due")
    } else {
      #expect(probe.starts(of: id) == 1)
    }
  }

  @Test("a call that waits for its turn, and was to be erased, goes on waiting in the store")
  func eraseOrdered() throws {
    var probe = EngineProbe()
    let id = probe.submit(orderingKey: "k")
    var record = try #require(held(probe, id))
    record.progress.waiting = .ordering
    let reply = probe.command(.erase, id)
    answerFetches(&probe, with: [record])
    #expect(probe.refusal(of: reply)?.code == .callNotEnded)
    #expect(probe.state(id) == .queued && probe.progress(id)?.waiting == .ordering)
    #expect(probe.written.count { if case .awaitTurn(id, _, _) = $0 { true } else { false } } == 2)
  }

  // Each refused erasure once added one to the calls that seem to wait, and a cancelled call stayed counted.
  @Test("a call that leaves its target's queue by a command or at its deadline no longer counts there")
  func countQueued() throws {
    var probe = EngineProbe(.tripsAfterTwo(maxReadyPerTarget: 2))
    _ = probe.control(.pause)
    let ids = (0..<6).map { _ in probe.submit() }
    let queued = ids.filter { probe.state($0) == .queued }
    func counted() -> Int? { probe.report()?.targets.first { $0.key == EngineProbe.target }?.storedCalls }
    #expect(queued.count == 4 && counted() == 4)
    for kind in [CallCommand.Kind.erase, .retry] {
      let reply = probe.command(kind, queued[0])
      answerFetches(&probe, with: [held(probe, queued[0])])
      #expect(kind == .retry ? probe.isDone(reply) : probe.refusal(of: reply)?.code == .callNotEnded)
      #expect(counted() == 4)
    }
    _ = probe.command(.cancel, queued[1])
    answerFetches(&probe, with: [held(probe, queued[1])])
    #expect(probe.state(queued[1]) == .cancelled && counted() == 3)
    let late = try #require(held(probe, queued[2]))
    probe.advance(late.deadline - probe.now)
    probe.requests = []
    probe.hear(.claimedDue(Claim(calls: [late], nextDue: nil)))
    probe.commit()
    #expect(probe.state(queued[2])?.isFinal == true && counted() == 2)
  }

  @Test("a call that cannot be read can only be removed, once it has ended; the store is in no trouble by it")
  func damaged() {
    var probe = EngineProbe()
    let id = CallID(rawValue: 7)
    func ask(_ kind: CallCommand.Kind, hasEnded: Bool) -> ReplyToken<CallCommand.Reply> {
      let reply = probe.command(kind, id)
      let operation = CallCommand(kind, id, reply: reply)
      probe.hear(
        .fetchedDamaged(operation, hasEnded: hasEnded, .callDamaged(CallRemains(id: id), "\(id) cannot be read")))
      probe.commit()
      return reply
    }
    for kind in [CallCommand.Kind.cancel, .retry, .erase] {
      let reply = ask(kind, hasEnded: true)
      #expect(probe.refusal(of: reply)?.status == 409)
      #expect(probe.refusal(of: reply)?.code == .callDamaged)
      #expect(probe.refusal(of: reply)?.detail.contains("\(id)") == true)
    }
    let early = ask(.purge, hasEnded: false)
    #expect(probe.refusal(of: early)?.code == .callDamaged)
    let removed = ask(.purge, hasEnded: true)
    #expect(probe.isDone(removed))
    #expect(probe.written.contains { if case .discard(id) = $0 { true } else { false } })
    #expect(probe.report()?.storeFailing == false)
  }

  @Test("a running call cannot be retried")
  func retryRunning() {
    var probe = EngineProbe()
    let id = probe.submit()
    let reply = probe.command(.retry, id)
    #expect(probe.refusal(of: reply)?.code == .callRunning)
  }

  @Test("an ended call does not run again while the backlog is full")
  func retryEndedWhenFull() {
    var probe = EngineProbe(EngineSettings(maxUnfinished: 1))
    let id = probe.submit()
    probe.end(id, status: 400)
    let next = probe.submit()
    let refused = probe.command(.retry, id)
    answerFetches(&probe, with: [probe.record(id)])
    #expect(probe.refusal(of: refused)?.code == .backlogFull)
    #expect(probe.state(id) == .failed)
    probe.end(next, status: 200)
    let reply = probe.command(.retry, id)
    answerFetches(&probe, with: [probe.record(id)])
    #expect(probe.isDone(reply))
  }

  @Test("an ended call that is retried has all of its attempts and its time again, and goes on numbering them")
  func retryEnded() {
    var probe = EngineProbe()
    let id = probe.submit()
    probe.end(id, status: 400)
    probe.advance(.seconds(1000))
    let reply = probe.command(.retry, id)
    answerFetches(&probe, with: [probe.record(id)])
    #expect(probe.isDone(reply))
    for number in 2...4 {
      #expect(probe.starts.last?.number == number)
      probe.end(id, status: 503)
      probe.advance(.seconds(1))
    }
    #expect(probe.starts(of: id) == 4)
    #expect(probe.progress(id)?.failure == .attemptsExhausted)
  }

  // Found by the simulation: a timer of the first stay in memory ended the call in its second.
  @Test("a call that is cancelled while it waits, and retried, does not keep its old deadline")
  func retryCancelled() {
    var probe = EngineProbe(EngineSettings(maxInFlightPerTarget: 1))
    var long = RetryPolicy.test
    long.deadline = .seconds(1000)
    probe.submit(long)
    let id = probe.submit()
    probe.advance(.seconds(30))
    probe.command(.cancel, id)
    _ = probe.command(.retry, id)
    answerFetches(&probe, with: [probe.record(id)])
    probe.advance(.seconds(31))
    #expect(probe.state(id) == .held)
    probe.advance(.seconds(29))
    #expect(probe.progress(id)?.failure == .deadlineExceeded)
  }

  @Test("an operation on a call in a target's full queue is done, not asked for over and over")
  func cancelQueued() {
    var probe = EngineProbe(.tripsAfterTwo(maxReadyPerTarget: 1))
    for id in (0..<2).map({ _ in probe.submit() }) { probe.end(id, status: 502, head: "Retry-After: 30\r\n") }
    probe.submit()
    let queued = (0..<2).map { _ in probe.submit() }
    #expect(probe.state(queued[0]) == .queued)
    probe.requests = []
    let cancelled = probe.command(.cancel, queued[0])
    answerFetches(&probe, with: [held(probe, queued[0])])
    #expect(probe.isDone(cancelled))
    let retried = probe.command(.retry, queued[1])
    answerFetches(&probe, with: [held(probe, queued[1])])
    #expect(probe.isDone(retried))
    #expect(probe.state(queued[1]) == .queued)
    #expect(probe.requests.isEmpty)
  }

  @Test("an ended call is erased once, and is not run again afterwards")
  func erase() throws {
    var probe = EngineProbe()
    let id = probe.submit()
    let tooEarly = probe.command(.erase, id)
    #expect(probe.refusal(of: tooEarly)?.code == .callNotEnded)
    probe.end(id, status: 200)
    let erasure = probe.token(for: CallCommand.Reply.self)
    probe.hear(.command(CallCommand(.erase, id, reply: erasure)))
    answerFetches(&probe, with: [probe.record(id)])
    #expect(probe.isDone(erasure))
    let spec = try #require(probe.written.compactMap { if case .erase(id, let spec) = $0 { spec } else { nil } }.last)
    #expect(spec.contentErasedAt == probe.now && spec.headers.isEmpty)
    let record = try #require(probe.record(id))
    let erased = CallRecord(
      id: id, kind: record.kind, spec: spec, body: [], createdAt: record.createdAt, progress: record.progress)
    let retry = probe.token(for: CallCommand.Reply.self)
    probe.hear(.command(CallCommand(.retry, id, reply: retry)))
    answerFetches(&probe, with: [erased])
    #expect(probe.refusal(of: retry)?.code == .contentErased)
    #expect(probe.starts(of: id) == 1)
  }

  @Test("a retry that fetched the call before its content was erased fetches it again", arguments: [true, false])
  func eraseMeanwhile(eraseFirst: Bool) throws {
    var probe = EngineProbe()
    let id = probe.submit()
    probe.end(id, status: 200)
    let record = try #require(probe.record(id))
    let (erasure, retry) = (probe.token(for: CallCommand.Reply.self), probe.token(for: CallCommand.Reply.self))
    let operations = [CallCommand(.erase, id, reply: erasure), CallCommand(.retry, id, reply: retry)]
    probe.hear((eraseFirst ? operations : operations.reversed()).map { .command($0) })
    // Both were answered by the store before the engine heard of either.
    answerFetches(&probe, with: [record, record])
    if eraseFirst {
      #expect(probe.isDone(erasure) && probe.reply(to: retry) == nil)
      #expect(probe.requests.contains { if case .fetch(let again) = $0.body { again.reply == retry } else { false } })
      #expect(probe.starts(of: id) == 1)
    } else {
      #expect(probe.refusal(of: erasure)?.code == .callNotEnded && probe.isDone(retry))
      #expect(!probe.written.contains { if case .erase = $0 { true } else { false } })
    }
  }

  @Test("a manual retry is written as a fact of its own, with who and why")
  func attribution() throws {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(3))
    let why = Attribution(by: "ada", reason: "mended")
    probe.hear(.command(CallCommand(.retry, id, reply: probe.token(), attribution: why)))
    probe.commit()
    let retries = probe.written.compactMap { if case .retried(id, let retry) = $0 { retry } else { nil } }
    #expect(retries == [ManualRetry(at: probe.now, afterAttempt: 0, attribution: why)])
  }

  // MARK: Conditions

  /// Gives a command of an operation on many calls, which the store answers with these records.
  private func conditional(
    _ probe: inout EngineProbe, _ kind: CallCommand.Kind, _ id: CallID, _ condition: CallCommand.Condition,
    with record: CallRecord?
  ) -> ReplyToken<CallCommand.Reply> {
    let reply = probe.token(for: CallCommand.Reply.self)
    probe.hear(.command(CallCommand(kind, id, reply: reply, condition: condition)))
    answerFetches(&probe, with: [record])
    return reply
  }

  private func retries(_ probe: EngineProbe, _ id: CallID) -> Int {
    probe.written.count { if case .retried(id, _) = $0 { true } else { false } }
  }

  @Test(
    "a call that an operation or its submission has run again is not run again by it, however the new run goes",
    arguments: [false, true])
  func runsAgainOnce(bySubmission: Bool) throws {
    var probe = EngineProbe()
    let id = probe.submit()
    probe.end(id, status: 404)
    let ended = try #require(probe.record(id))
    let finishedAt = try #require(ended.progress.finishedAt)
    if !bySubmission { probe.advance(.seconds(1)) }
    let condition: CallCommand.Condition =
      bySubmission ? .unchanged(endedAt: finishedAt, attempts: 1) : .ended(by: probe.now)
    // Both were found before either was executed.
    let replies = (0..<2).map { _ in probe.token(for: CallCommand.Reply.self) }
    probe.hear(replies.map { .command(CallCommand(.retry, id, reply: $0, condition: condition)) })
    answerFetches(&probe, with: [ended, ended])
    #expect(probe.isDone(replies[0]) && probe.refusal(of: replies[1])?.code == .callNotEnded)
    #expect(probe.starts(of: id) == 2 && retries(probe, id) == 1)
    // In the same microsecond the number of attempts tells the ends apart.
    if !bySubmission { probe.advance(.seconds(1)) }
    probe.end(id, status: 404)
    let late = conditional(&probe, .retry, id, condition, with: probe.record(id))
    #expect(probe.refusal(of: late)?.code == .callEnded)
    let purge = conditional(&probe, .purge, id, condition, with: probe.record(id))
    #expect(probe.refusal(of: purge)?.code == .callEnded)
    #expect(probe.starts(of: id) == 2 && retries(probe, id) == 1)
    // A client may.
    let client = probe.token(for: CallCommand.Reply.self)
    probe.hear(.command(CallCommand(.retry, id, reply: client)))
    answerFetches(&probe, with: [probe.record(id)])
    #expect(probe.isDone(client) && retries(probe, id) == 2)
  }

  @Test("a call in the store that is to run again only if it has ended goes on waiting there")
  func storedIsNotEnded() {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(60))
    let reply = conditional(&probe, .retry, id, .ended(by: probe.now), with: held(probe, id))
    #expect(probe.refusal(of: reply)?.code == .callNotEnded)
    #expect(probe.state(id) == .scheduled && probe.starts(of: id) == 0 && retries(probe, id) == 0)
  }

  @Test("a call that is to run now only if it has not ended is not run again")
  func unfinished() {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(60))
    let first = conditional(&probe, .retry, id, .unfinished, with: held(probe, id))
    #expect(probe.isDone(first) && probe.starts(of: id) == 1)
    probe.end(id, status: 200)
    let second = conditional(&probe, .retry, id, .unfinished, with: probe.record(id))
    #expect(probe.refusal(of: second)?.code == .callEnded)
    #expect(probe.starts(of: id) == 1)
  }
}
