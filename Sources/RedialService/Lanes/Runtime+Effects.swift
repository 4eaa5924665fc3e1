internal import Dispatch
internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialTransport
internal import Synchronization

/// How the engine's effects are performed, and their results reported.
extension Runtime {
  /// Performs the engine's effects.
  func perform(_ effects: Effects) {
    if !effects.store.isEmpty { storeLane?.post(effects.store) }
    if !effects.actions.isEmpty { perform(effects.actions) }
  }

  /// Continues with the results of requests to the store.
  // A separate function in every build, because the profile finds the work after a commit by its name.
  @inline(never)
  func storeDid(_ outcome: StoreLane.Outcome) {
    switch outcome {
    case .events(let events): post(events)
    case .committed(let writes, let then):
      metrics.countCommit(writes)
      perform(then)
      // After the replies: a client that waits for the end of the call that it has just submitted is in the table
      // now.
      ends.committed(writes)
      events.committed(writes)
      tracer?.committed(writes)
    }
  }

  /// Logs the result of a tidying step.
  func didTidy(_ result: Result<TidyStep, StoreError>) {
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
      case .abort(let id):
        // Before the aborts: an attempt to abort may be among these, and an abort that came first would not find it.
        begin(beginnings)
        beginnings.removeAll()
        transport?.cancel([UInt64(id.rawValue)])
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

  /// Attempts to start.
  private struct Beginnings {
    /// The wall clock time, because receivers of webhooks compare it with their own.
    let time: Timestamp
    /// The maximum number of them.
    let most: Int
    var requests: [TransportRequest] = []
    /// The attempt number of each request.
    var numbers: [Int] = []
    /// The attempts, for tracing; empty if nothing is traced.
    var traced: [AttemptStart] = []
    /// The results of attempts that must not be made.
    var ends: [EngineEvent] = []

    init(at time: Timestamp, most: Int) {
      self.time = time
      self.most = most
    }

    /// Forgets all of them after they have started.
    mutating func removeAll() {
      self = Beginnings(at: time, most: most)
    }
  }

  /// Makes the request of an attempt, unless the attempt must not be made: this process may have been suspended while
  /// another instance took over the call, or the secret that would sign it is gone.
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
    var request = TransportRequest(
      id: UInt64(start.call.id.rawValue), url: spec.url, method: spec.method, headers: fields,
      body: start.call.body, source: bodies.source(of: start.call), timeout: start.timeout,
      captureLimit: spec.captureLimit, maxRedirects: spec.maxRedirects, tls: start.tls)
    if spec.maxRedirects > 0 { request.secretHeaders = redaction.headers + spec.redactedHeaders }
    beginnings.requests.append(request)
    beginnings.numbers.append(start.number)
    if start.call.kind == .webhook { endpoints.began(UInt64(start.call.id.rawValue), to: spec.target) }
    if tracer != nil { beginnings.traced.append(start) }
  }

  private func begin(_ beginnings: Beginnings) {
    if !beginnings.ends.isEmpty { post(beginnings.ends) }
    if beginnings.requests.isEmpty { return }
    inFlight.withLock { inFlight in
      for (request, number) in zip(beginnings.requests, beginnings.numbers) { inFlight[request.id] = number }
    }
    tracer?.starting(beginnings.traced)
    transport?.start(beginnings.requests)
  }

  /// Reports attempts that the transport has made to the engine.
  func attemptsEnded(_ results: [TransportResult]) {
    let numbers = inFlight.withLock { inFlight in results.map { inFlight.removeValue(forKey: $0.id) } }
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
}

extension AttemptResult {
  /// Translates the transport's result for the engine.
  init(_ result: TransportResult, number: Int) {
    let answered = result.outcome == .answered
    self.init(
      id: CallID(rawValue: Int64(result.id)), number: number, outcome: result.outcome, status: result.status,
      failure: result.error.map { AttemptFailure(code: $0.code, message: $0.message) },
      response: answered ? CapturedResponse(head: result.head, body: result.body, truncated: result.truncated) : nil,
      duration: result.duration, figures: result.figures)
  }
}
