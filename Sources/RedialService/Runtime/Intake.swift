internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// Submissions on their way to the engine; and those that repeat earlier ones, and are answered with their calls.
///
/// Between the look-up of a key and the read of its call, a command or the retention may remove the call. Its key is gone
/// in the same transaction, so the same submission is then a new one.
final class Intake: Sendable {
  private let engine: EngineLane
  private let waiting: ReplyTables
  private let calls: CallAnswers
  private let queries: Queries
  private let metrics: Metrics
  private let clock: Clock
  /// Leads to the owners of targets; nil if there can be no other instances.
  private let owners: OwnerRequests?

  private var reader: any CallReader { queries.reader }

  init(
    _ engine: EngineLane, _ waiting: ReplyTables, _ calls: CallAnswers, _ metrics: Metrics, _ owners: OwnerRequests?
  ) {
    (self.engine, self.waiting, self.calls, self.metrics, self.owners) = (engine, waiting, calls, metrics, owners)
    (queries, clock) = (calls.queries, calls.clock)
  }

  /// Registers whoever submits a call, and returns the event for the engine.
  func event(_ descriptor: CallDescriptor, of kind: Submitter.Kind) -> EngineEvent {
    .submit(descriptor, expect(kind, else: descriptor.key == nil ? .nothing : .submit(descriptor, tries: 2)))
  }

  private func expect(_ kind: Submitter.Kind, else otherwise: Submitter.Otherwise) -> ReplyToken<SubmissionReply> {
    waiting.submissions.add(Submitter(kind: kind, since: clock.now, otherwise: otherwise))
  }

  /// Answers a repeated submission with the call that was accepted first, or runs that call again.
  func answerRepeated(_ id: CallID, _ submitter: Submitter) {
    switch submitter.kind {
    case .item(let batch, let index): add(.init(index: index, content: .repeats(id, submitter)), to: batch)
    case .client(let responder), .untilEnd(let responder, _), .webhookTest(let responder):
      queries.answer(responder, isOwed: true) { [self] in
        guard let stored = try known(id, submitter) else { return nil }
        let status = submitter.mayRerun(stored.record) ? stored.record.whenRepeated { stored.attempts } : .repeated
        if status == .rerun { rerun(stored.record, for: submitter) } else { show(id, status, submitter) }
        return nil
      }
    // They are answered without their calls.
    case .replay, .forwarded: break
    }
  }

  /// The call that a submission repeats; nil if it was removed, and the submission is a new one.
  private func known(_ id: CallID, _ submitter: Submitter) throws -> StoredCall? {
    if let stored = try reader.call(id, in: nil, allResponses: false) { return stored }
    do throws(Problem) {
      try resubmit(submitter, after: id)
    } catch {
      metrics.count { $0.refused += 1 }
      throw error
    }
    return nil
  }

  /// Answers a client's submission with the call that was accepted first, as it is now.
  ///
  /// - Parameter record: The call as the engine knows it, if it runs again; nil if it is to be read.
  private func show(_ id: CallID, _ status: IdempotencyStatus, _ submitter: Submitter, else record: CallRecord? = nil) {
    let show = { @Sendable [self] () throws -> HTTPResponse? in
      do {
        guard let stored = try known(id, submitter) else { return nil }
        return Answer.repeated(stored, status, wait: calls.standings.wait(of: stored, at: clock.now), calls.redaction)
      } catch let error as StoreError {
        // Its client must know that it runs again.
        guard let record else { throw error }
        _ = queries.problem(of: error)
        let wait = calls.standings.wait(of: record, at: clock.now)
        return Answer.unread(record, wait: wait, calls.redaction, repetition: status)
      }
    }
    switch submitter.kind {
    case .untilEnd(let responder, let wait):
      calls.showEnded(
        id, in: nil, responder, wait.left(at: clock.now, since: submitter.since), applied: wait.bound,
        repetition: status, orElse: show)
    case .client(let responder), .webhookTest(let responder): queries.answer(responder, isOwed: true, show)
    case .item, .replay, .forwarded: break
    }
  }

  /// Refuses a submission that cannot be accepted as things are now, unless it repeats one that was accepted: the same
  /// submission under the same key is answered with the same call, whatever else has changed since.
  func refuse(_ problem: Problem, unlessRepeatedUnder key: IdempotencyKey, _ kind: Submitter.Kind) {
    switch kind {
    case .item(let batch, let index): add(.init(index: index, content: .refused(problem, key)), to: batch)
    case .client(let responder), .untilEnd(let responder, _):
      queries.answer(responder) { [self] in
        guard let found = try reader.keys([key.name], at: clock.now)[0], key.repeats(found.key) else {
          metrics.count { $0.refused += 1 }
          throw problem
        }
        answerRepeated(found.call, Submitter(kind: kind, since: clock.now, otherwise: .refuse(problem)))
        return nil
      }
    case .webhookTest, .replay, .forwarded: break
    }
  }

  /// Does for a submission what is to be done without the call that it seemed to repeat.
  ///
  /// - Throws: The problem if it is refused.
  private func resubmit(_ submitter: Submitter, after id: CallID) throws(Problem) {
    switch submitter.otherwise {
    case .submit(let descriptor, let tries) where tries > 0:
      let token = expect(submitter.kind(at: clock.now), else: .submit(descriptor, tries: tries - 1))
      engine.post(.submit(descriptor, token))
    case .submit, .nothing: throw Self.removedMeanwhile(id)
    case .refuse(let problem): throw problem
    }
  }

  private static func removedMeanwhile(_ id: CallID) -> Problem {
    Problem(
      .callRemoved,
      detail: "\(id), which was accepted under the same Idempotency-Key, was removed while it was read. Submit again.",
      retryAfter: 1)
  }

  // MARK: Calls that run again

  /// Runs a call again for a submission under its key, if it is still as it was found. So of any number of submissions at
  /// once, at whichever instances, one makes a new run, and the others are answered with it.
  private func rerun(_ call: CallRecord, for submitter: Submitter) {
    let commands = Self.rerunning(call)
    engine.post(
      .command(
        CallCommand(
          commands.kind, call.id, in: call.spec.namespace,
          reply: waiting.commands.add(.rerun(Rerun(call: call, submitter: submitter))),
          attribution: commands.attribution, condition: commands.condition)))
  }

  private static func rerunning(_ call: CallRecord) -> BulkCommands {
    BulkCommands(
      kind: .retry,
      condition: .unchanged(endedAt: call.progress.finishedAt ?? .epoch, attempts: call.progress.attempts),
      attribution: Attribution(reason: "submitted again under its Idempotency-Key"), calls: [call.id])
  }

  /// Answers a submission that was to run its call again.
  func finish(_ rerun: Rerun, _ reply: CallCommand.Reply) {
    switch reply {
    case .done(let record): answer(rerun, with: record ?? rerun.call, .rerun)
    case .elsewhere(let target):
      guard let owners else { return refuse(rerun, Refusal.ownedElsewhere(target).problem) }
      let batch = BulkBatch(size: 1) { [self] tally in
        if tally.done == 1 { return answer(rerun, with: nil, .rerun) }
        if tally.skipped == 1 { return answer(rerun, with: nil, .repeated) }
        refuse(rerun, Refusal.ownedElsewhere(target).problem)
      }
      owners.forward(
        Self.rerunning(rerun.call), in: rerun.call.spec.namespace, about: [(rerun.call.id, target)], of: batch)
    case .refused(let refusal) where refusal.problem.status >= 500: refuse(rerun, refusal.problem)
    // Another submission has just run it again, or somebody has changed it.
    case .refused, .unchanged: answer(rerun, with: nil, .repeated)
    }
  }

  /// - Parameter record: The call, if it is known.
  private func answer(_ rerun: Rerun, with record: CallRecord?, _ status: IdempotencyStatus) {
    guard case .item(let batch, let index) = rerun.submitter.kind else {
      return show(rerun.call.id, status, rerun.submitter, else: status == .rerun ? record ?? rerun.call : nil)
    }
    if let record { return answer(index, of: batch, with: record, status) }
    queries.runOwed { [self] in
      do {
        guard let stored = try known(rerun.call.id, rerun.submitter) else { return }
        answer(index, of: batch, with: stored.record, status)
      } catch {
        batch.answer(index, queries.problem(of: error))
      }
    }
  }

  private func refuse(_ rerun: Rerun, _ problem: Problem) {
    switch rerun.submitter.kind {
    case .item(let batch, let index): refuse(index, of: batch, problem)
    case .client(let responder), .untilEnd(let responder, _), .webhookTest(let responder):
      metrics.count { $0.refused += 1 }
      queries.respond(responder, Answer.problem(problem))
    case .replay, .forwarded: break
    }
  }

  // MARK: Batches

  private func add(_ item: ReplayQueue.Item, to batch: any BatchAnswering) {
    if batch.replays.add(item) { readReplays(of: batch) }
  }

  /// Answers the items of a batch with the calls that they repeat, as they are now and as lists show them, because a
  /// batch has many items and each response may be large.
  ///
  /// Most of these calls are accepted, so this is not refused if too many queries wait. After each page other queries get
  /// their chance.
  private func readReplays(of batch: any BatchAnswering) {
    queries.runOwed { [self] in
      let page = batch.replays.next()
      if page.isEmpty { return }
      do {
        let (repeated, refused) = try sorted(page, of: batch)
        let records = try reader.records(of: repeated.map(\.id))
        for (index, problem) in refused { refuse(index, of: batch, problem) }
        for (item, stored) in zip(repeated, records) {
          switch stored {
          case .success(let record):
            do {
              let status =
                item.submitter.mayRerun(record) ? try record.whenRepeated { try attempts(of: item.id) } : .repeated
              if status == .rerun {
                rerun(record, for: item.submitter)
              } else {
                answer(item.index, of: batch, with: record, status)
              }
            } catch {
              batch.answer(item.index, queries.problem(of: error))
            }
          case .failure(let error): batch.answer(item.index, queries.problem(of: error))
          case nil:
            do throws(Problem) {
              try resubmit(item.submitter, after: item.id)
            } catch {
              refuse(item.index, of: batch, error)
            }
          }
        }
      } catch {
        let problem = queries.problem(of: error)
        for item in page { batch.answer(item.index, problem) }
      }
      readReplays(of: batch)
    }
  }

  private func attempts(of id: CallID) throws -> [AttemptRecord] {
    try reader.call(id, in: nil, allResponses: false)?.attempts ?? []
  }

  private func answer(
    _ index: Int, of batch: any BatchAnswering, with record: CallRecord, _ status: IdempotencyStatus
  ) {
    batch.answer(index, id: record.id, status: 202, repetition: status) {
      CallView.write(
        record, attempts: [], wait: calls.standings.wait(of: record, at: clock.now), detail: .summary,
        redaction: calls.redaction, to: &$0)
    }
  }

  /// The items of a page that repeat calls, and those that are refused because they do not.
  private func sorted(
    _ page: [ReplayQueue.Item], of batch: any BatchAnswering
  ) throws(StoreError) -> (repeated: [(index: Int, id: CallID, submitter: Submitter)], refused: [(Int, Problem)]) {
    let now = clock.now
    var found = try reader.keys(page.compactMap { $0.key?.name }, at: now).makeIterator()
    var repeated: [(index: Int, id: CallID, submitter: Submitter)] = []
    var refused: [(Int, Problem)] = []
    for item in page {
      switch item.content {
      case .repeats(let id, let submitter): repeated.append((item.index, id, submitter))
      case .refused(let problem, let key):
        if let record = found.next() ?? nil, key.repeats(record.key) {
          let kind = Submitter.Kind.item(batch, index: item.index)
          repeated.append((item.index, record.call, Submitter(kind: kind, since: now, otherwise: .refuse(problem))))
        } else {
          refused.append((item.index, problem))
        }
      }
    }
    return (repeated, refused)
  }

  private func refuse(_ index: Int, of batch: any BatchAnswering, _ problem: Problem) {
    metrics.count { $0.refused += 1 }
    batch.answer(index, problem)
  }
}
