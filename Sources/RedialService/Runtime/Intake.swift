internal import HTTPServer
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

  private var reader: any CallReader { queries.reader }

  init(_ engine: EngineLane, _ waiting: ReplyTables, _ calls: CallAnswers, _ metrics: Metrics) {
    (self.engine, self.waiting, self.calls, self.metrics) = (engine, waiting, calls, metrics)
    (queries, clock) = (calls.queries, calls.clock)
  }

  /// Registers whoever submits a call, and returns the event for the engine.
  func event(_ descriptor: CallDescriptor, of kind: Submitter.Kind) -> EngineEvent {
    .submit(descriptor, expect(kind, else: descriptor.key == nil ? .nothing : .submit(descriptor, tries: 2)))
  }

  private func expect(_ kind: Submitter.Kind, else otherwise: Submitter.Otherwise) -> ReplyToken<SubmissionReply> {
    waiting.submissions.add(Submitter(kind: kind, since: clock.now, otherwise: otherwise))
  }

  /// Answers a repeated submission with the call that was accepted first, as it is now.
  func answerRepeated(_ id: CallID, _ submitter: Submitter) {
    let replay = { @Sendable [self] () throws -> HTTPResponse? in
      guard let stored = try reader.call(id, in: nil, allResponses: false) else {
        do throws(Problem) {
          try resubmit(submitter, after: id)
        } catch {
          metrics.count { $0.refused += 1 }
          throw error
        }
        return nil
      }
      return Answer.replayed(stored, wait: calls.standings.wait(of: stored, at: clock.now), calls.redaction)
    }
    switch submitter.kind {
    case .item(let batch, let index): add(.init(index: index, content: .repeats(id, submitter)), to: batch)
    case .untilEnd(let responder, let wait):
      calls.showEnded(id, in: nil, responder, wait, applied: wait.bound, isReplay: true, orElse: replay)
    case .client(let responder), .webhookTest(let responder): queries.answer(responder, isOwed: true, replay)
    // They are answered without their calls.
    case .replay, .forwarded: break
    }
  }

  /// Refuses a submission that cannot be accepted as things are now, unless it repeats one that was accepted: the same
  /// submission under the same key is answered with the same call, whatever else has changed since.
  func refuse(_ problem: Problem, unlessRepeatedUnder key: IdempotencyKey, _ kind: Submitter.Kind) {
    switch kind {
    case .item(let batch, let index): add(.init(index: index, content: .refused(problem, key)), to: batch)
    case .client(let responder), .untilEnd(let responder, _):
      queries.answer(responder) { [self] in
        guard let found = try reader.keys([key.name], at: clock.now)[0], found.key == key else {
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
      status: 503, code: "callRemoved", title: "The repeated call was just removed",
      detail: "\(id), which was accepted under the same Idempotency-Key, was removed while it was read. Submit again.",
      retryAfter: 1)
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
            batch.answer(item.index, id: item.id, status: 202, replayed: true) {
              CallView.write(
                record, attempts: [], wait: calls.standings.wait(of: record, at: clock.now), detail: .summary,
                redaction: calls.redaction, to: &$0)
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
        if let record = found.next() ?? nil, record.key == key {
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
