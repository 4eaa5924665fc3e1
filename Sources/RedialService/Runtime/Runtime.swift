internal import Dispatch
internal import Glibc
internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialTransport
internal import Synchronization

/// Connects the lanes: it performs the engine's effects on the store, the transport and the waiting clients, and
/// reports the results to the engine.
///
/// `@unchecked Sendable`: `init` sets the lanes once, before anything else can see the object;
/// everything else in it is constant or locked.
final class Runtime: @unchecked Sendable {
  let clock: Clock
  let metrics: Metrics
  let replies = ReplyTables()
  let standings: TargetStandings
  let ends: EndTable
  let events: EventFeed
  let endpoints: WebhookEndpoints
  /// Signs the callbacks of calls.
  let secret: WebhookSecret
  let queries: QueryLanes
  let forecasts: ForecastLane
  let forecastWatch = ForecastWatch()
  let forecastLimits: ForecastLimits
  let reader: any CallReader
  let bodies: BodyReading
  let log: Log
  let redaction: Redaction
  let housekeeping: Housekeeping
  let auditFindings = Mutex(AuditFindings())
  let deadlines: DeadlineWatch
  let statistics = CallStatistics()
  let spans: SpanExporter?
  let tracer: CallTracer?
  /// The other instances on the same store; nil if there can be none.
  let peers: PeerLink?
  /// Learns of the ends of calls that others run; nil if there can be no others.
  let endWatch: EndWatch?
  /// Runs the bulk operations while this instance leads; set before it has a shard, nil if there can be no others.
  let leadersBulk = Mutex<BulkRunner?>(nil)
  /// What all of them read; nil if there can be no others.
  let shared: SharedParts?
  /// Who follows commits: clients ask for the metrics after their answer, which must then count their call; and a client
  /// that waits for the end of the call that it has just submitted is in the table after its reply.
  let observers: (beforeReplies: [any CommitObserver], afterReplies: [any CommitObserver])
  private(set) var engineLane: EngineLane?
  private(set) var storeLane: StoreLane?
  private(set) var attemptLane: AttemptLane?
  /// Forwards submissions to the owners of their targets; nil if there can be no others.
  private(set) var forwardLane: ForwardLane?
  let drained = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - bodies: Reads bodies that are not in memory; needed unless all are.
  ///   - clock: The service's time.
  ///   - sharing: For a store that several instances share.
  /// - Throws: If libcurl cannot be started.
  init(
    settings: ServiceSettings, store: any ServiceStore, reader: any CallReader, bodies: BodyReading = BodyReading(nil),
    secret: WebhookSecret, endpoints: WebhookEndpoints, log: Log, clock: Clock = Clock(), sharing: SharedParts? = nil
  ) throws(TransportStartError) {
    self.clock = clock
    self.reader = reader
    self.bodies = bodies
    self.log = log
    metrics = Metrics(namedTargets: settings.namedTargets)
    ends = EndTable(limit: settings.maxWaiting, clock: clock)
    standings = TargetStandings(of: endpoints, isShared: sharing != nil)
    events = EventFeed(
      settings: settings.events, reader: reader, standings: standings, clock: clock,
      redaction: settings.engine.redaction, trust: sharing?.trust)
    self.endpoints = endpoints
    self.secret = secret
    let sampling = TraceSampling(share: settings.spans.share)
    let seed = UInt64(bitPattern: clock.now.microseconds) ^ UInt64(getpid()) << 48
    spans = SpanExporter(
      settings: settings.spans, clock: clock, log: log, redaction: settings.engine.redaction,
      tls: settings.transport.tls, instance: CallID(rawValue: clock.now.microseconds).characters, seed: ~seed
    ) { TracedCall(reading: $0, from: reader, sampling: sampling) }
    tracer = CallTracer(exporter: spans, sampling: sampling, log: log, reader: reader)
    shared = sharing
    peers = sharing.map { [clock] in PeerLink(trust: $0.trust, clock: clock) }
    endWatch = if let peers { try EndWatch(ends, reader, peers, clock: clock) } else { nil }
    let followers: [(any CommitObserver)?] = [ends, events, tracer, endWatch]
    observers = ([metrics], followers.compactMap { $0 })
    redaction = settings.engine.redaction
    housekeeping = Housekeeping(settings, reader: reader, clock: clock, log: log, metrics: metrics)
    deadlines = DeadlineWatch(
      reader: reader, limit: settings.namedTargets, every: settings.storeWatchInterval, log: log)
    queries = QueryLanes(count: reader.connections)
    forecastLimits = settings.forecasts
    forecasts = ForecastLane(
      maxPerKey: settings.forecasts.maxForecastsPerKey, maxWaiting: settings.forecasts.maxForecasts)
    // Weak: each lane may still run when this object is freed. Its results are then lost; the store has them, or the next
    // start finds an interrupted attempt.
    engineLane = EngineLane(engine: Engine(settings: settings.engine, seed: seed), clock: clock) { [weak self] in
      self?.perform($0)
    }
    let tidyInterval = sharing == nil ? StoreLane.tidyInterval : StoreLane.sharedTidyInterval
    storeLane = StoreLane(store: store, tidyInterval: tidyInterval) { [weak self] in
      self?.storeDid($0)
    }
    var configuration = settings.transport
    configuration.egress = settings.egress
    attemptLane = try AttemptLane(
      configuration,
      headers: AttemptHeaders(secret: secret, endpoints: endpoints, sampling: tracer?.sampling),
      endpoints: endpoints, bodies: bodies, redaction: redaction, clock: clock, tracer: tracer
    ) { [weak self] in self?.attemptsEnded($0) }
    if let peers, let forwarding = settings.engine.forwarding {
      forwardLane = try ForwardLane(
        peers, clock: clock, patience: forwarding.patience, largest: settings.maxDescriptorBytes
      ) { [weak self] in self?.forwarded($0) }
    }
  }

  /// Sets the egress policy, before the first attempt.
  func restrict(to policy: EgressPolicy) {
    attemptLane?.restrict(to: policy)
  }

  /// Takes the state from the store, and starts to work.
  func begin(with state: RecoveredState) {
    engineLane?.begin(with: state, endpoints.subscriptions, awaitsLease: shared != nil)
    startStatistics()
    startForecasts()
    if let storeLane { housekeeping.start(on: storeLane) { [weak self] in self?.audit($0) } }
    startDeadlines()
    if shared != nil { answerDoubted() }
  }

  /// Sends an event to the engine.
  func post(_ event: EngineEvent) {
    engineLane?.post(event)
  }

  /// Asks the engine something.
  ///
  /// - Parameters:
  ///   - question: Reads the engine, on its lane.
  ///   - then: Called with the answer, on the lane.
  func ask<Answer: Sendable>(
    _ question: @escaping @Sendable (inout Engine) -> Answer, then: @escaping @Sendable (Answer) -> Void
  ) {
    post(.question(Question(question, then: then)))
  }

  /// Sends events to the engine.
  func post(_ events: [EngineEvent]) {
    engineLane?.post(events)
  }

  /// Sends events to the engine, whose step may run on this thread.
  func postInPlace(_ events: [EngineEvent]) {
    engineLane?.postInPlace(events)
  }

  /// Leaves an event for the engine, on an event loop, until ``wakeEngine()`` at the end of the loop's iteration.
  func leave(_ event: EngineEvent) {
    engineLane?.leave(event)
  }

  /// Has the engine take the events that were left for it.
  func wakeEngine() {
    engineLane?.wake()
  }

  /// Registers whoever submits a call; the token is for an event that is posted later.
  func expect(
    _ submitter: Submitter.Kind, else otherwise: Submitter.Otherwise = .nothing
  ) -> ReplyToken<SubmissionReply> {
    replies.submissions.add(Submitter(kind: submitter, since: clock.now, otherwise: otherwise))
  }

  /// Gives the engine a command of an operator about a target, and answers with the target.
  func perform(_ kind: TargetCommand.Kind, on target: TargetKey, _ exchange: Exchange) {
    let commander = TargetCommander(responder: exchange.responder, request: exchange.forwardable)
    post(.targetCommand(TargetCommand(kind, target, reply: replies.targetCommands.add(commander))))
  }

  /// Gives the engine the command of an operation for several calls, as if clients had sent it.
  ///
  /// - Parameter finish: Called once, from any thread, when all replies are there.
  func perform(
    _ operation: BulkOperation, on calls: [CallID], finish: @escaping @Sendable (BulkBatch.Tally) -> Void
  ) {
    let (kind, condition) = (operation.commandKind, operation.condition)
    let (namespace, attribution) = (operation.namespace, operation.request.attribution)
    let batch = BulkBatch(size: calls.count, finish: finish)
    post(
      calls.map {
        let request = peers == nil ? nil : ForwardableRequest(kind, $0, in: namespace, attribution, if: condition)
        let token = replies.commands.add(.bulk(batch, request))
        return .command(
          CallCommand(kind, $0, in: namespace, reply: token, attribution: attribution, condition: condition))
      })
  }
}
