internal import Dispatch
internal import Glibc
internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialTransport
internal import Synchronization

/// Joins the lanes: it performs the engine's effects on the store, the
/// transport and the clients that wait, and tells the engine what came of them.
///
/// `@unchecked Sendable`: the two lanes and the transport are set once, by `init`, before anything else can
/// see the object; everything else in it is constant or locked.
final class Runtime: @unchecked Sendable {
  let clock = Clock()
  let metrics: Metrics
  let replies = ReplyTable()
  let standings = TargetStandings()
  let ends: EndTable
  let events: EventFeed
  let endpoints: WebhookEndpoints
  let queries: QueryLanes
  let reader: any CallReader
  private let bodies: BodyReading
  let log: Log
  let redaction: Redaction
  private let watch: StoreWatch
  private let spans: SpanExporter?
  private let tracer: CallTracer?
  private let watchInterval: Duration
  let headers: AttemptHeaders
  private let retention: Retention
  private var engineLane: EngineLane?
  private var storeLane: StoreLane?
  private var transport: Transport?
  /// By call, the number of the attempt that the transport makes.
  private let underWay = Mutex<[UInt64: Int]>([:])
  private let drained = DispatchSemaphore(value: 0)

  /// - Parameter bodies: Where bodies are read that are not held; needed unless all are.
  /// - Throws: When libcurl cannot be started.
  init(
    settings: ServiceSettings, store: any CallStore, reader: any CallReader, bodies: BodyReading = BodyReading(nil),
    secret: WebhookSecret, endpoints: WebhookEndpoints, log: Log
  ) throws(TransportStartError) {
    self.reader = reader
    self.bodies = bodies
    self.log = log
    metrics = Metrics(namedTargets: settings.namedTargets)
    ends = EndTable(limit: settings.maxWaiting, clock: clock)
    events = EventFeed(
      settings: settings.events, reader: reader, standings: standings, clock: clock,
      redaction: settings.engine.redaction)
    self.endpoints = endpoints
    let sampling = TraceSampling(share: settings.spans.share)
    let seed = UInt64(bitPattern: clock.now.microseconds) ^ UInt64(getpid()) << 48
    spans = SpanExporter(
      settings: settings.spans, clock: clock, log: log, redaction: settings.engine.redaction,
      tls: settings.transport.tls, instance: CallID(rawValue: clock.now.microseconds).characters, seed: ~seed
    ) { CallTracer.Subject(reading: $0, from: reader, sampling: sampling) }
    tracer = CallTracer(exporter: spans, sampling: sampling, log: log, reader: reader)
    headers = AttemptHeaders(secret: secret, endpoints: endpoints, sampling: tracer?.sampling ?? .none)
    retention = settings.retention
    redaction = settings.engine.redaction
    watch = StoreWatch(reader: reader)
    watchInterval = settings.storeWatchInterval
    queries = QueryLanes(count: SQLiteReader.defaultConnections)
    engineLane = EngineLane(engine: Engine(settings: settings.engine, seed: seed), clock: clock) { [unowned self] in
      perform($0)
    }
    storeLane = StoreLane(store: store) { [unowned self] in storeDid($0) }
    var configuration = settings.transport
    configuration.egress = settings.egress
    transport = try Transport(configuration: configuration) { [unowned self] in attemptsEnded($0) }
  }

  /// Puts the egress policy in force, before the first attempt.
  func restrict(to policy: EgressPolicy) {
    transport?.restrict(to: policy)
  }

  /// Takes over what the store held, and starts to work on it.
  func begin(with state: RecoveredState) {
    standings.note(state)
    engineLane?.begin(with: state)
    if !endpoints.subscriptions.isEmpty { post(CollectionOfOne(.subscriptions(endpoints.subscriptions))) }
    storeLane?.tidy(retention, now: { [clock] in clock.now }) { [unowned self] in didTidy($0) }
    watch.start(every: watchInterval, now: { [clock] in clock.now }) { [log] result in
      switch result {
      case .success(let finding):
        log.write(
          .error, "storeFinding",
          [("check", finding.check.rawValue), ("count", "\(finding.count)"), ("meaning", finding.check.meaning)])
      case .failure(let error): log.write(.error, "storeWatchFailed", [("error", error.message)])
      }
    }
  }

  /// Tells the engine of events.
  func post(_ events: some Sequence<EngineEvent>) {
    engineLane?.post(events)
  }

  /// Tells the engine of events.
  func post(_ events: [EngineEvent]) {
    engineLane?.post(events)
  }

  /// Leaves an event for the engine, on an event loop, until ``wakeEngine()`` is called at the end of its turn.
  func leave(_ event: EngineEvent) {
    engineLane?.leave(event)
  }

  /// Has the engine look at what was left for it.
  func wakeEngine() {
    engineLane?.wake()
  }

  /// Asks the engine something on behalf of a client.
  func ask(_ responder: HTTPResponder, for purpose: ReplyTable.Purpose, _ event: (ReplyToken) -> EngineEvent) {
    post(CollectionOfOne(event(expect(responder, for: purpose))))
  }

  /// Notes a client who will wait for an engine's reply; the token is for an event that is posted later.
  func expect(_ responder: HTTPResponder, for purpose: ReplyTable.Purpose) -> ReplyToken {
    replies.add(responder, for: purpose, at: clock.now)
  }

  /// Makes a change that is no call's, on the store's lane behind everything that was asked of it before, and answers
  /// with what comes of it.
  ///
  /// - Parameters:
  ///   - event: What the log calls a failure of the store.
  ///   - body: Throws a `Problem`, or a `StoreError`, which becomes one.
  func change(
    _ responder: HTTPResponder, noting event: StaticString = "changeFailed",
    _ body: @escaping @Sendable (any CallStore) throws -> HTTPResponse
  ) {
    storeLane?.afterwards { [unowned self] store in
      do {
        respond(responder, try body(store))
      } catch let problem as Problem {
        respond(responder, Answer.problem(problem))
      } catch {
        let failure = error as? StoreError
        log.write(.error, event, [("error", failure?.message ?? "\(error)")])
        respond(responder, Answer.problem(Answer.notStored(isFull: failure?.kind == .full)))
      }
    }
  }

  /// Has the engine do the same thing to several calls, as if clients had asked for it.
  ///
  /// - Parameter finish: Called once, from any thread, when there is a reply for each.
  func perform(
    _ kind: Operation.Kind, on calls: [CallID], in namespace: Namespace, _ attribution: Attribution,
    finish: @escaping @Sendable (BulkBatch.Tally) -> Void
  ) {
    let batch = BulkBatch(size: calls.count, finish: finish)
    post(
      calls.map {
        .operate(Operation(kind, $0, in: namespace, reply: replies.add(batch), attribution: attribution))
      })
  }

  /// Makes a change that is no call's and that no client waits for, on the store's lane.
  ///
  /// - Parameters:
  ///   - write: What to write, as of when the store comes to it; nothing when nil.
  ///   - then: Called on the lane with whether it is on disk.
  func keep(_ write: @escaping @Sendable () -> StoreWrite?, then: @escaping @Sendable (Bool) -> Void) {
    storeLane?.afterwards { [weak self] store in
      do throws(StoreError) {
        try store.commit(write().map { [$0] } ?? [])
        then(true)
      } catch {
        self?.log.write(.error, "changeFailed", [("error", error.message)])
        then(false)
      }
    }
  }

  // MARK: Stopping

  /// Starts nothing more, waits for what is under way, aborts it when that takes too long, and closes the store.
  func drain(within bound: Duration) {
    ends.close()
    events.close()
    post(CollectionOfOne(.drain))
    let microseconds = Int(bound.wholeMicroseconds)
    var isOver = true
    if drained.wait(timeout: .now() + .microseconds(microseconds)) == .timedOut {
      let left = underWay.withLock { $0.count }
      log.write(.warning, "drainTimedOut", [("interrupted", "\(left)")])
      transport?.shutdown()
      // What was aborted is recorded as interrupted; a store that does not answer does not keep the process.
      isOver = drained.wait(timeout: .now() + .seconds(2)) == .success
    } else {
      transport?.shutdown()
    }
    // A lane that did not end in its time still reaches for this when it does, and it may be the last that happens
    // before the process exits.
    if !closeStore(isDrained: isOver) || !isOver { _ = Unmanaged.passRetained(self) }
    spans?.close()
  }

  /// Ends what has not begun.
  func abandon() {
    transport?.shutdown()
    _ = closeStore(isDrained: false)
  }

  /// Closes the store behind everything that was asked of it; false when it does not come to that in its time.
  private func closeStore(isDrained: Bool) -> Bool {
    watch.stop()
    storeLane?.stopTidying()
    let closed = DispatchSemaphore(value: 0)
    storeLane?.afterwards { [log] store in
      if isDrained {
        do throws(StoreError) {
          try store.leave()
        } catch {
          // Whoever comes next takes it over as from a process that was killed.
          log.write(.warning, "leaseNotReturned", [("error", error.message)])
        }
      }
      store.close()
      closed.signal()
    }
    return closed.wait(timeout: .now() + .seconds(2)) == .success
  }

  // MARK: Effects

  private func perform(_ effects: Effects) {
    if !effects.store.isEmpty { storeLane?.post(effects.store) }
    if !effects.actions.isEmpty { perform(effects.actions) }
  }

  /// Tells everybody that the store has ended calls by itself; that is on disk.
  func didSetAside(_ calls: [(id: CallID, namespace: Namespace)]) {
    metrics.countSetAside(calls.count)
    post(calls.map { .setAside(1, in: $0.namespace) })
    ends.ended(calls.map(\.id))
  }

  private func storeDid(_ outcome: StoreLane.Outcome) {
    switch outcome {
    case .events(let events): post(events)
    case .committed(let writes, let then):
      metrics.countCommit(writes)
      perform(then)
      // Behind the replies: a client that waits for the end of the call that it has just submitted is in the table now.
      ends.committed(writes)
      events.committed(writes)
      tracer?.committed(writes)
    }
  }

  private func didTidy(_ result: Result<TidyStep, StoreError>) {
    switch result {
    case .success(let step): metrics.count { $0.removed += step.removed }
    case .failure(let error): log.write(.error, "tidyFailed", [("error", error.message)])
    }
  }

  private func perform(_ actions: [Action]) {
    var beginnings = Beginnings(at: Clock.wallTime(), most: actions.count)
    var answers: [(HTTPResponder, HTTPResponse)] = []
    for action in actions {
      switch action {
      case .start(let start): prepare(start, &beginnings)
      case .reply(let token, let reply): answer(token, reply, into: &answers)
      case .abort(let id): transport?.cancel([UInt64(id.rawValue)])
      case .notice(let notice):
        standings.note(notice, at: clock.now)
        log.write(notice)
        events.note(notice, at: clock.now)
      case .tookOver(_, let state): standings.note(state)
      case .drained: drained.signal()
      }
    }
    begin(beginnings)
    if !answers.isEmpty { HTTPResponder.respond(answers) }
  }

  /// Attempts that are to begin.
  private struct Beginnings {
    /// The time by the wall clock, for that is what receivers of webhooks compare it with.
    let time: Timestamp
    /// No more than so many can there be.
    let most: Int
    var requests: [TransportRequest] = []
    /// By request, the number of the attempt that it makes.
    var numbers: [Int] = []
    /// The attempts, for whoever traces them; none when nobody does.
    var traced: [AttemptStart] = []
    /// What came of those that must not be made.
    var ends: [EngineEvent] = []

    init(at time: Timestamp, most: Int) {
      self.time = time
      self.most = most
    }
  }

  /// Makes the request of an attempt, unless it must not be made: this process may have stood still, and others have the
  /// call by now, or there is nobody left who could sign it.
  private func prepare(_ start: AttemptStart, _ beginnings: inout Beginnings) {
    if let bound = start.startBefore, bound <= clock.now {
      return beginnings.ends.append(.attemptEnded(AttemptResult(tooLate: start)))
    }
    guard let fields = headers.fields(of: start, at: beginnings.time) else {
      return beginnings.ends.append(.attemptEnded(AttemptResult(endpointGone: start)))
    }
    if beginnings.requests.isEmpty {
      beginnings.requests.reserveCapacity(beginnings.most)
      beginnings.numbers.reserveCapacity(beginnings.most)
    }
    let spec = start.call.spec
    beginnings.requests.append(
      TransportRequest(
        id: UInt64(start.call.id.rawValue), url: spec.url, method: spec.method, headers: fields,
        body: start.call.body, source: bodies.source(of: start.call), timeout: start.timeout,
        captureLimit: spec.captureLimit, maxRedirects: spec.maxRedirects, tls: start.tls))
    beginnings.numbers.append(start.number)
    if start.call.kind == .webhook { endpoints.began(UInt64(start.call.id.rawValue), to: spec.target) }
    if tracer != nil { beginnings.traced.append(start) }
  }

  private func begin(_ beginnings: Beginnings) {
    if !beginnings.ends.isEmpty { post(beginnings.ends) }
    if beginnings.requests.isEmpty { return }
    underWay.withLock { underWay in
      for (request, number) in zip(beginnings.requests, beginnings.numbers) { underWay[request.id] = number }
    }
    tracer?.starting(beginnings.traced)
    transport?.start(beginnings.requests)
  }

  private func attemptsEnded(_ results: [TransportResult]) {
    let numbers = underWay.withLock { underWay in results.map { underWay.removeValue(forKey: $0.id) } }
    metrics.count { counts in
      for result in results {
        counts.attempts[Int(result.outcome.rawValue)] += 1
        counts.attempt.record(seconds: result.duration.inSeconds)
      }
    }
    act(on: endpoints.ended(results, at: clock.now))
    var events: [EngineEvent] = []
    events.reserveCapacity(results.count)
    for (result, number) in zip(results, numbers) {
      if let number { events.append(.attemptEnded(AttemptResult(result, number: number))) }
    }
    post(events)
  }

  // MARK: The service's own documents

  /// Does something with the store's documents, on its lane, and answers with what comes of it.
  func keep(
    _ responder: HTTPResponder, _ body: @escaping @Sendable (any DocumentStore) throws -> HTTPResponse
  ) {
    change(responder, noting: "documentNotKept") { try body(Self.documents(of: $0)) }
  }

  /// Does something with the store's documents, on its lane.
  func onStore(_ body: @escaping @Sendable (any DocumentStore) -> Void) {
    storeLane?.afterwards { body(Self.documents(of: $0)) }
  }

  private static func documents(of store: any CallStore) -> any DocumentStore {
    guard let documents = store as? any DocumentStore else {
      preconditionFailure("a store that keeps calls for a service keeps its documents, too")
    }
    return documents
  }

  // MARK: Replies

  private func answer(_ token: ReplyToken, _ reply: Reply, into answers: inout [(HTTPResponder, HTTPResponse)]) {
    guard let waiting = replies.take(token) else {
      replies.takeBatch(token)?.note(reply)
      return
    }
    let now = clock.now
    switch reply {
    case .accepted(let record):
      metrics.count { counts in
        counts.accepted += 1
        counts.accept.record(seconds: (now - waiting.since).inSeconds)
      }
      let wait = standings.wait(of: record, at: now)
      switch waiting.purpose {
      case .batch(let batch, let index):
        batch.answer(index, id: record.id, status: 202, replayed: false) {
          CallView.write(record, attempts: [], wait: wait, redaction: redaction, to: &$0)
        }
      case .submitAndWait(let bound):
        answerWhenEnded(record.id, in: record.spec.namespace, waiting.responder, within: bound, applied: bound) {
          [redaction] in
          Answer.accepted(record, wait: wait, redaction)
        }
      default:
        metrics.count { $0.requests[2] += 1 }
        answers.append((waiting.responder, Answer.accepted(record, wait: wait, redaction)))
      }
    case .refused(let problem):
      metrics.count { counts in if waiting.purpose.isSubmission { counts.refused += 1 } }
      if case .batch(let batch, let index) = waiting.purpose { return batch.answer(index, problem) }
      metrics.count { $0.requests[problem.status / 100] += 1 }
      answers.append((waiting.responder, Answer.problem(problem)))
    case .replayed(let id): answerWithReplay(id, waiting)
    case .controlled(let target):
      answer(waiting.responder, with: target)
    case .done(let id):
      // Of the namespace that asked for it, or the engine would have refused.
      answerWithCall(id, in: nil, waiting.responder)
    case .report(let report) where waiting.purpose.isAboutTargets: answerWithTargets(report, waiting)
    case .report(let report):
      let response = self.response(to: waiting.purpose, report)
      metrics.count { $0.requests[response.status / 100] += 1 }
      answers.append((waiting.responder, response))
    }
  }

  /// Answers a repeated submission with the call that was accepted the first time, as it stands now.
  private func answerWithReplay(_ id: CallID, _ waiting: ReplyTable.Waiting) {
    if case .batch(let batch, let index) = waiting.purpose {
      if batch.replays.add(.init(index: index, id: id)) { readReplays(of: batch) }
      return
    }
    let replay = { @Sendable [unowned self] () throws in
      let stored = try storedCall(id, in: nil)
      return Answer.replayed(stored, wait: standings.wait(of: stored.record, at: clock.now), redaction)
    }
    guard case .submitAndWait(let bound) = waiting.purpose else {
      return query(waiting.responder, isOwed: true, replay)
    }
    answerWhenEnded(id, in: nil, waiting.responder, within: bound, applied: bound, orElse: replay)
  }

  /// - Parameter namespace: The only one that it may be of; nil where that is known.
  private func storedCall(_ id: CallID, in namespace: Namespace?) throws -> StoredCall {
    guard let stored = try reader.call(id, in: namespace, allResponses: false) else { throw Answer.noSuchCall(id) }
    return stored
  }

  /// Answers with a call once it has ended, or when time is up with something else.
  ///
  /// - Parameters:
  ///   - namespace: The only one that it may be of; nil where that is known.
  ///   - applied: The client's preference that an answer in time honours; nil when there was none.
  ///   - orElse: What is answered when the call has not ended in time; the call as it stands, if nothing is given.
  func answerWhenEnded(
    _ id: CallID, in namespace: Namespace?, _ responder: HTTPResponder, within bound: Duration,
    applied: Duration? = nil,
    orElse: (@Sendable () throws -> HTTPResponse)? = nil
  ) {
    let show = { @Sendable [unowned self] (stored: StoredCall) in
      Answer.call(stored, wait: standings.wait(of: stored.record, at: clock.now), redaction, applied: applied)
    }
    // There is something else for one whose call was accepted, who is not told otherwise because many queries wait.
    let isOwed = orElse != nil
    let finish = { @Sendable [unowned self] (outcome: EndTable.Outcome) in
      query(responder, isOwed: isOwed) { [unowned self] in
        if outcome == .timedOut, let orElse { return try orElse() }
        return show(try storedCall(id, in: namespace))
      }
    }
    let ticket = ends.wait(for: id, until: clock.now + bound, finish)
    guard let ticket else {
      return query(responder, isOwed: isOwed) { [unowned self] in
        try orElse?() ?? show(try storedCall(id, in: namespace))
      }
    }
    // A client that goes holds its place no longer. One that has only ended its side is answered as if its time were up.
    responder.onCancel { [weak self] in
      guard let self, ends.giveUp(ticket) else { return }
      finish(.timedOut)
    }
    // It may have ended before anybody waited.
    query(responder, isOwed: isOwed) { [unowned self] () -> HTTPResponse? in
      do {
        let stored = try storedCall(id, in: namespace)
        guard stored.record.progress.state.isFinal, ends.giveUp(ticket) else { return nil }
        return show(stored)
      } catch {
        guard ends.giveUp(ticket) else { return nil }
        throw error
      }
    }
  }

  /// Answers with a call as the store has it.
  func answerWithCall(_ id: CallID, in namespace: Namespace?, _ responder: HTTPResponder) {
    query(responder) { [unowned self] in
      let stored = try storedCall(id, in: namespace)
      return Answer.call(stored, wait: standings.wait(of: stored.record, at: clock.now), redaction)
    }
  }

  /// Answers with what a query gives, on a query lane.
  ///
  /// - Parameters:
  ///   - isOwed: Whether it is run however many wait: for somebody whose call was accepted.
  ///   - body: Throws a `Problem`, or a `StoreError`, which becomes one; nil if the answer comes another way.
  func query(
    _ responder: HTTPResponder, isOwed: Bool = false, _ body: @escaping @Sendable () throws -> HTTPResponse?
  ) {
    query(isOwed: isOwed) { [unowned self] in
      if let response = try body() { respond(responder, response) }
    } failure: { [unowned self] problem in
      respond(responder, Answer.problem(problem))
    }
  }

  /// Runs a query on a query lane.
  ///
  /// - Parameters:
  ///   - isOwed: Whether it is run however many wait: for somebody whose call was accepted.
  ///   - body: Throws a `Problem`, or a `StoreError`, which becomes one.
  ///   - failure: Called with the problem; at once, if too many queries wait.
  func query(
    isOwed: Bool = false, _ body: @escaping @Sendable () throws -> Void,
    failure: @escaping @Sendable (Problem) -> Void
  ) {
    let query = { @Sendable [unowned self] in
      do {
        try body()
      } catch {
        failure(problem(of: error))
      }
    }
    if isOwed { return queries.runOwed(query) }
    if !queries.run(query) {
      failure(
        Problem(
          status: 503, code: "tooManyQueries", title: "Too many queries are waiting",
          detail: "The service reads as fast as it can. Try again in a moment.", retryAfter: 1))
    }
  }

  /// What a client is told of a query that failed; what went wrong in the store is in the log.
  func problem(of error: any Error) -> Problem {
    if let problem = error as? Problem { return problem }
    let message = (error as? StoreError)?.message ?? "\(error)"
    // Of a call that cannot be read the message begins with its identity.
    let call = CallID(message.prefix { $0 != " " }).map { [("callId" as StaticString, $0.description)] } ?? []
    log.write(.error, "queryFailed", call + [("error", message)])
    return Answer.storeUnreadable
  }

  /// Answers at once.
  func respond(_ responder: HTTPResponder, _ response: HTTPResponse) {
    metrics.count { $0.requests[min(5, max(1, response.status / 100))] += 1 }
    responder.respond(response)
  }

  private func response(to purpose: ReplyTable.Purpose, _ report: EngineReport) -> HTTPResponse {
    switch purpose {

    case .readiness:
      return report.storeFailing ? Answer.problem(Answer.notReady) : Answer.text(200, "ready\n")
    case .metrics, .submit, .submitAndWait, .batch, .operation, .control, .targets, .target:
      return Answer.metrics(
        metrics.exposition(report, version: redialVersion, clockOffset: clock.offset, waits: ends.waiting)
          + watch.exposition() + (spans?.exposition() ?? ""))
    }
  }
}

extension AttemptResult {
  /// What the transport saw, in the engine's words.
  init(_ result: TransportResult, number: Int) {
    let answered = result.outcome == .answered
    self.init(
      id: CallID(rawValue: Int64(result.id)), number: number, outcome: result.outcome, status: result.status,
      failure: result.error.map { AttemptFailure(code: $0.code, message: $0.message) },
      response: answered ? CapturedResponse(head: result.head, body: result.body, truncated: result.truncated) : nil,
      duration: result.duration, figures: result.figures)
  }
}
