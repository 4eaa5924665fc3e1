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
  private let endpoints: WebhookEndpoints
  private let bodies: BodyReading
  private let redaction: Redaction
  private let clock: Clock
  private let tracer: CallTracer?
  /// The number of the attempt in flight, by call.
  private let numbers = Mutex<[UInt64: Int]>([:])
  private var transport: Transport?
  private let ended: @Sendable (Ended) -> Void

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
    _ configuration: TransportConfiguration, headers: AttemptHeaders, endpoints: WebhookEndpoints, bodies: BodyReading,
    redaction: Redaction, clock: Clock, tracer: CallTracer?, ended: @escaping @Sendable (Ended) -> Void
  ) throws(TransportStartError) {
    (self.headers, self.endpoints, self.bodies) = (headers, endpoints, bodies)
    (self.redaction, self.clock, self.tracer) = (redaction, clock, tracer)
    self.ended = ended
    // Weak: the transport's thread may still run when this object is freed. Its results are then lost; the next start
    // finds interrupted attempts.
    transport = try Transport(configuration: configuration) { [weak self] results in
      if let self { ended(take(results)) }
    }
  }

  /// Sets the egress policy, before the first attempt.
  func restrict(to policy: EgressPolicy) {
    transport?.restrict(to: policy)
  }

  /// Starts the attempts among actions of the engine.
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
    var requests: [TransportRequest] = []
    /// The attempt number of each request.
    var started: [Int] = []
    /// The attempts, for tracing; empty if nothing is traced.
    var traced: [AttemptStart] = []
    var refused: [EngineEvent] = []
    requests.reserveCapacity(actions.count)
    started.reserveCapacity(actions.count)
    for case .start(let start) in actions {
      if start.startBefore <= now {
        refused.append(.attemptTooLate(start.call.id, number: start.number))
      } else if let head = headers.head(of: start, at: time) {
        requests.append(request(of: start, head))
        started.append(start.number)
        if tracer != nil { traced.append(start) }
      } else {
        refused.append(.attemptEnded(start.call.id, number: start.number, .endpointGone))
      }
    }
    numbers.withLock { numbers in
      for (request, number) in zip(requests, started) { numbers[request.id] = number }
    }
    tracer?.starting(traced)
    if !refused.isEmpty { ended(Ended(results: [], events: refused)) }
    return requests
  }

  private func request(of start: AttemptStart, _ head: AttemptHead) -> TransportRequest {
    let (call, spec) = (start.call, start.call.spec)
    var request = TransportRequest(
      id: UInt64(call.id.rawValue), url: head.url, method: spec.method, headers: head.fields, body: call.body,
      source: bodies.source(of: call), timeout: start.timeout, captureLimit: spec.captureLimit,
      maxRedirects: spec.maxRedirects, tls: start.tls)
    if spec.maxRedirects > 0 { request.secretHeaders = redaction.headers + spec.redactedHeaders }
    if call.kind == .webhook { endpoints.began(request.id, to: spec.target, at: head.url) }
    return request
  }

  /// Aborts a call's attempt.
  func abort(_ call: CallID) {
    transport?.cancel([UInt64(call.rawValue)])
  }

  /// How many attempts are in flight.
  var inFlight: Int { numbers.withLock { $0.count } }

  /// Aborts all attempts, and starts no more.
  func shutdown() {
    transport?.shutdown()
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
