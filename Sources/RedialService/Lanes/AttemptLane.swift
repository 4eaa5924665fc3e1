internal import Dispatch
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialTransport
internal import Synchronization

/// Makes the attempts that the engine starts: it gives each its header fields and its body, and the transport executes
/// it. All of this happens on the transport's thread. The lane that starts attempts, which is the store's, writes the
/// next transaction meanwhile.
///
/// `@unchecked Sendable`: `init` sets the transport once, before anything else can see the object; everything else in it
/// is constant or locked.
final class AttemptLane: @unchecked Sendable {
  private let headers: AttemptHeaders
  private let credentials: AttemptCredentials
  private let endpoints: WebhookEndpoints
  private let bodies: BodyReading
  private let redaction: Redaction
  private let clock: Clock
  private let tracer: CallTracer?
  /// Whether a proxy sees what is not encrypted.
  private let isProxied: Bool
  /// The number of the attempt in flight, by call.
  private let numbers = Mutex<[UInt64: Int]>([:])
  /// Attempts that wait for a token, or for their bodies to be read, by call.
  private let waiting = Mutex<[UInt64: Waiting]>([:])
  /// Attempts in flight with secrets that their answers may not show, by call.
  private let guarded = Mutex<[UInt64: Guarded]>([:])
  /// Reads the bodies that are signed and only in the store: that blocks.
  private let signing = DispatchQueue(label: "redial.signing")
  private var transport: Transport?
  private let ended: @Sendable (Ended) -> Void

  /// An attempt that cannot be made yet.
  private struct Waiting {
    let start: AttemptStart
    let since: Timestamp
  }

  private struct Guarded {
    let start: AttemptStart
    /// What was added to it; nil for none.
    let proof: AttemptProof?
    let secrets: StruckSecrets
  }

  /// Attempts that ended together.
  struct Ended: Sendable {
    /// Their results, by the numbers of their calls.
    let results: [Transport.Ended]
    /// The same for the engine, without attempts that it does not wait for.
    let events: [EngineEvent]
  }

  /// - Parameters:
  ///   - bodies: Reads bodies that are not in memory.
  ///   - ended: Called with attempts that have ended or must not be made, on the transport's thread.
  /// - Throws: If libcurl cannot be started.
  init(
    _ configuration: TransportConfiguration, headers: AttemptHeaders, credentials: AttemptCredentials,
    endpoints: WebhookEndpoints, bodies: BodyReading,
    redaction: Redaction, clock: Clock, tracer: CallTracer?, ended: @escaping @Sendable (Ended) -> Void
  ) throws(TransportStartError) {
    (self.headers, self.credentials, self.endpoints, self.bodies) = (headers, credentials, endpoints, bodies)
    (self.redaction, self.clock, self.tracer) = (redaction, clock, tracer)
    isProxied = configuration.proxy != nil
    self.ended = ended
    // Weak: the transport's thread may still run when this object is freed. Its results are then lost; the next start
    // finds interrupted attempts.
    transport = try Transport(configuration: configuration) { [weak self] results in
      self?.end(results)
    }
  }

  /// Sets the egress policy, before the first attempt.
  func restrict(to policy: EgressPolicy) {
    transport?.restrict(to: policy)
  }

  func start(_ actions: ArraySlice<Action>) {
    // Weak: the transport's thread may still run when this object is freed; see above.
    transport?.start { [weak self] in self?.requests(for: actions) ?? [] }
  }

  /// Makes the requests of attempts, without those that must not be made: the call's deadline may have passed while the
  /// store was slow, or another instance may have taken over the call while this process was suspended, or the secret
  /// that would sign it is gone.
  private func requests(for actions: ArraySlice<Action>) -> [TransportRequest] {
    // The wall clock time, because receivers of webhooks compare it with their own.
    let (now, time) = (clock.now, Clock.wallTime())
    var made = Made()
    made.requests.reserveCapacity(actions.count)
    made.started.reserveCapacity(actions.count)
    for case .start(let start) in actions { make(Waiting(start: start, since: now), at: now, time, &made) }
    return take(made)
  }

  /// Makes an attempt, unless something is against it, or it has to wait.
  private func make(_ attempt: Waiting, at now: Timestamp, _ time: Timestamp, _ made: inout Made) {
    let start = attempt.start
    guard start.startBefore > now else {
      return made.refused.append(.attemptTooLate(start.call.id, number: start.number))
    }
    do throws(HeadFault) {
      let head = try headers.head(of: start, at: time)
      if start.credential == nil, start.signing == nil {
        var request = request(of: start, head)
        if !head.secrets.isEmpty { guardSecrets(StruckSecrets(head.secrets), of: start, in: &request) }
        made.add(request, of: start, isTraced: tracer != nil)
      } else {
        prove(attempt, head, at: now, time, &made)
      }
    } catch {
      made.refused.append(.attemptEnded(start.call.id, number: start.number, AttemptResult(error)))
    }
  }

  /// Requests that begin, and attempts that have ended before.
  private struct Made {
    var requests: [TransportRequest] = []
    /// The attempt number of each request of a call.
    var started: [(id: UInt64, number: Int)] = []
    /// The attempts, for tracing; empty if nothing is traced.
    var traced: [AttemptStart] = []
    /// The attempts that are not made.
    var refused: [EngineEvent] = []

    mutating func add(_ request: TransportRequest, of start: AttemptStart, isTraced: Bool) {
      requests.append(request)
      started.append((request.id, start.number))
      if isTraced { traced.append(start) }
    }
  }

  /// Records what begins, and reports what does not.
  private func take(_ made: Made) -> [TransportRequest] {
    numbers.withLock { numbers in
      for (id, number) in made.started { numbers[id] = number }
    }
    tracer?.starting(made.traced)
    if !made.refused.isEmpty { ended(Ended(results: [], events: made.refused)) }
    return made.requests
  }

  private func request(of start: AttemptStart, _ head: AttemptHead) -> TransportRequest {
    let (call, spec) = (start.call, start.call.spec)
    var request = TransportRequest(
      id: UInt64(call.id.rawValue), url: head.url, method: spec.method, headers: head.fields,
      body: head.body ?? call.body,
      source: bodies.source(of: call), timeout: start.timeout, captureLimit: spec.captureLimit,
      maxRedirects: spec.maxRedirects, tls: start.tls)
    request.group = Self.group(of: start)
    if spec.maxRedirects > 0 { request.secretHeaders = redaction.headers + spec.redactedHeaders }
    if call.kind == .webhook { endpoints.began(request.id, to: spec.target, at: head.url) }
    return request
  }

  /// The requests with which one shares connections: those of the same namespace with the same credential, a stored one or
  /// one of the call's own.
  private static func group(of start: AttemptStart) -> Int {
    var hasher = Hasher()
    hasher.combine(start.call.spec.namespace)
    hasher.combine(start.credential)
    for field in start.call.spec.headers
    where field.isNamed("authorization") || field.isNamed("cookie") || field.isNamed("x-api-key") {
      hasher.combine(field)
    }
    return hasher.finalize()
  }

  /// How many kept connections were not used again because of what was found on them before.
  var abandonedConnections: Int { transport?.abandonedConnections ?? 0 }

  // MARK: Credentials

  /// Adds to an attempt what proves who sends it, at once if that can be.
  private func prove(
    _ attempt: Waiting, _ head: AttemptHead, at now: Timestamp, _ time: Timestamp, _ made: inout Made
  ) {
    let start = attempt.start
    let (plan, fetch) = credentials.plan(start, at: time)
    switch plan {
    case .none: made.add(request(of: start, head), of: start, isTraced: tracer != nil)
    case .wait: wait(attempt)
    case .unavailable(let message): made.refused.append(Self.unavailable(start, message))
    case .add(let proof) where proof.credential != nil && start.call.spec.method == "TRACE":
      made.refused.append(.attemptEnded(start.call.id, number: start.number, .echoedCredential))
    case .add(let proof) where proof.credential != nil && isProxied && TargetURL.isClear(head.url):
      made.refused.append(.attemptEnded(start.call.id, number: start.number, .credentialInClear))
    case .add(let proof):
      if proof.readsBody, bodies.source(of: start.call) != nil {
        wait(attempt)
        signing.async { [weak self] in self?.readAndStart(attempt, head, proof) }
      } else {
        begin(attempt, proven(attempt, head, proof, at: time), proof, at: now, &made)
      }
    }
    // Only now: the token may be there at once, and what waits for it must be known.
    if let fetch { begin(fetch) }
  }

  /// Lets an attempt wait, for no longer than it may take.
  private func wait(_ attempt: Waiting) {
    let (id, number) = (UInt64(attempt.start.call.id.rawValue), attempt.start.number)
    waiting.withLock { $0[id] = attempt }
    let left = attempt.start.timeout - max(.zero, clock.now - attempt.since)
    let deadline = DispatchTime.now() + .microseconds(Int(max(.zero, left).wholeMicroseconds))
    DispatchQueue.global().asyncAfter(deadline: deadline) { [weak self] in
      self?.transport?.start { [weak self] in
        guard let self, let late = takeWaiting(id, number: number) else { return [] }
        var made = Made()
        made.refused.append(Self.unavailable(late.start, Self.lateness))
        return take(made)
      }
    }
  }

  private static let lateness = "The credential was not there within the attempt's time."

  /// Takes an attempt out of those that wait, if it still does; on the transport's thread.
  ///
  /// - Parameter number: Which of the call's attempts it must be: an earlier one may have been aborted.
  private func takeWaiting(_ id: UInt64, number: Int) -> Waiting? {
    waiting.withLock { waiting in
      waiting[id]?.start.number == number ? waiting.removeValue(forKey: id) : nil
    }
  }

  /// The head of an attempt with what proves who sends it.
  private func proven(
    _ attempt: Waiting, _ head: AttemptHead, _ proof: AttemptProof, at time: Timestamp
  ) -> Result<AttemptHead, AttemptProof.Fault> {
    let call = attempt.start.call
    var head = head
    let body = bodies.source(of: call).map { RequestBytes.stored($0) } ?? .held(call.body)
    do throws(AttemptProof.Fault) {
      try proof.add(to: &head, id: "msg_" + call.id.characters, method: call.spec.method, body: body, at: time)
      return .success(head)
    } catch {
      return .failure(error)
    }
  }

  /// Begins the request of an attempt, if nothing is against it by now; on the transport's thread.
  private func begin(
    _ attempt: Waiting, _ head: Result<AttemptHead, AttemptProof.Fault>, _ proof: AttemptProof, at now: Timestamp,
    _ made: inout Made
  ) {
    let start = attempt.start
    guard start.startBefore > now else {
      return made.refused.append(.attemptTooLate(start.call.id, number: start.number))
    }
    switch head {
    case .failure(let fault): made.refused.append(Self.unavailable(start, fault.message, code: fault.code))
    case .success(let head):
      var request = request(of: start, head)
      request.secretHeaders += proof.fieldNames
      // What it has waited is a part of its time.
      request.timeout = start.timeout - max(.zero, now - attempt.since)
      guard request.timeout >= .milliseconds(1) else {
        return made.refused.append(Self.unavailable(start, Self.lateness))
      }
      if proof.credential != nil {
        guardSecrets(StruckSecrets(proof), of: start, proof, in: &request)
      }
      made.add(request, of: start, isTraced: tracer != nil)
    }
  }

  /// Remembers what the answer to a request may not show.
  private func guardSecrets(
    _ secrets: StruckSecrets, of start: AttemptStart, _ proof: AttemptProof? = nil, in request: inout TransportRequest
  ) {
    if request.captureLimit > 0 { request.captureLimit += secrets.reach }
    let attempt = Guarded(start: start, proof: proof, secrets: secrets)
    guarded.withLock { [id = request.id] in $0[id] = attempt }
  }

  private func begin(_ fetch: Credential) {
    credentials.fetch(fetch) { [weak self] step in
      switch step {
      case .send(let request): self?.transport?.start([request])
      case .ask(let calls): self?.resume(calls)
      }
    }
  }

  /// Signs an attempt whose body is only in the store, and starts it.
  private func readAndStart(_ attempt: Waiting, _ head: AttemptHead, _ proof: AttemptProof) {
    let head = proven(attempt, head, proof, at: Clock.wallTime())
    transport?.start { [weak self] in
      let id = UInt64(attempt.start.call.id.rawValue)
      // It may have been aborted meanwhile.
      guard let self, takeWaiting(id, number: attempt.start.number) != nil else { return [] }
      var made = Made()
      begin(attempt, head, proof, at: clock.now, &made)
      return take(made)
    }
  }

  /// Starts attempts whose tokens have been fetched, or ends them.
  private func resume(_ calls: [UInt64]) {
    guard !calls.isEmpty else { return }
    transport?.start { [weak self] in
      guard let self else { return [] }
      let ready = waiting.withLock { waiting in calls.compactMap { waiting.removeValue(forKey: $0) } }
      let (now, time) = (clock.now, Clock.wallTime())
      var made = Made()
      for attempt in ready { make(attempt, at: now, time, &made) }
      return take(made)
    }
  }

  /// The end of an attempt that could not be made. It is no fault of the target.
  private static func unavailable(
    _ start: AttemptStart, _ message: String, code: String = AttemptFailure.credentialUnavailable
  ) -> EngineEvent {
    .attemptEnded(
      start.call.id, number: start.number,
      AttemptResult(outcome: .localFault, failure: AttemptFailure(code: code, message: message), duration: .zero))
  }

  // MARK: Ends

  func abort(_ call: CallID) {
    let id = UInt64(call.rawValue)
    // On the transport's thread, after its start.
    transport?.start { [weak self] in
      if let self, let attempt = waiting.withLock({ $0.removeValue(forKey: id) }) {
        ended(Ended(results: [], events: [.attemptEnded(call, number: attempt.start.number, .cancelled())]))
      }
      return []
    }
    transport?.cancel([id])
  }

  var inFlight: Int { numbers.withLock { $0.count } + waiting.withLock { $0.count } }

  /// Aborts all attempts, and starts no more.
  func shutdown() {
    let left = waiting.withLock { waiting in
      defer { waiting = [:] }
      return Array(waiting.values)
    }
    let events = left.map { EngineEvent.attemptEnded($0.start.call.id, number: $0.start.number, .cancelled()) }
    if !events.isEmpty { ended(Ended(results: [], events: events)) }
    transport?.shutdown()
  }

  /// Takes the ends of requests: tokens are used, and the others are reported.
  private func end(_ results: [Transport.Ended]) {
    let (own, ready) = credentials.take(results, at: Clock.wallTime())
    resume(ready)
    if !own.isEmpty { ended(take(withoutSecrets(own))) }
  }

  /// Strikes from results what secrets their requests had, and says which tokens were refused.
  private func withoutSecrets(_ results: [Transport.Ended]) -> [Transport.Ended] {
    let known = guarded.withLock { guarded in
      guarded.isEmpty
        ? [:]
        : Dictionary(
          results.compactMap { ended in guarded.removeValue(forKey: ended.id).map { (ended.id, $0) } },
          uniquingKeysWith: { $1 })
    }
    guard !known.isEmpty else { return results }
    var results = results
    for index in results.indices {
      guard let attempt = known[results[index].id] else { continue }
      attempt.secrets.strike(&results[index].result, keeping: attempt.start.call.spec.captureLimit)
      if let status = results[index].result.status, let proof = attempt.proof,
        credentials.answered(status, to: proof, of: attempt.start, at: Clock.wallTime())
      {
        results[index].result.failure = .tokenRefused
      }
    }
    return results
  }

  private func take(_ results: [Transport.Ended]) -> Ended {
    let numbers = numbers.withLock { numbers in results.map { numbers.removeValue(forKey: $0.id) } }
    var events: [EngineEvent] = []
    events.reserveCapacity(results.count)
    for (ended, number) in zip(results, numbers) {
      if let number { events.append(.attemptEnded(CallID(rawValue: Int64(ended.id)), number: number, ended.result)) }
    }
    return Ended(results: results, events: events)
  }
}
