internal import Dispatch
internal import Glibc
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialTransport

/// Makes the parts of the service, and passes between its lanes what the engine decides, what is on disk, and what has
/// become of attempts. Whoever makes it keeps it until the server that leads to its parts has ended.
final class Runtime: Sendable {
  let stage = ServiceStage()
  let clock: Clock
  let log: Log
  let metrics: Metrics
  let redaction: Redaction
  // The lanes.
  let engine: EngineLane
  private let store: StoreLane
  private let attempts: AttemptLane
  /// Forwards submissions to the owners of their targets; nil if there can be no others.
  private let forwards: ForwardLane?
  // What answers clients.
  let queries: Queries
  let calls: CallAnswers
  let intake: Intake
  let commands: Commands
  let targets: TargetAnswers
  let plans = PlanLane()
  let statistics: StatisticsGathering
  let monitoring: Monitoring
  let changes: Changes
  let auditLog: AuditLog
  let endpoints: EndpointChanges
  let issues: IssueAnswers
  let messenger: AlertMessenger
  let credentials: AttemptCredentials
  let followers: KeyFollowers
  /// Who share the store with this instance; nil if there can be no others.
  let instances: OtherInstances?
  // What nobody asks for.
  private let observers: Observers
  private let replies: Replies
  private let housekeeping: Housekeeping
  private let audit: MemoryAudit
  let alerts: AlertWatch
  private let tracer: CallTracer?
  private let spans: SpanExporter?
  private let drained = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - bodies: Reads bodies that are not in memory; needed unless all are.
  ///   - clock: The service's time.
  ///   - sharing: For a store that several instances share.
  ///   - keys: Makes data keys, where that may take long.
  /// - Throws: If libcurl cannot be started.
  init(
    settings: ServiceSettings, store opened: sending any ServiceStore, reader: any CallReader,
    bodies: BodyReading = BodyReading(nil), secret: WebhookSecret?, endpoints known: WebhookEndpoints,
    credentials named: NamedCredentials, log: Log,
    clock: Clock = Clock(), sharing: SharedParts? = nil, keys: NamespaceKeys? = nil
  ) throws(TransportStartError) {
    let redaction = settings.engine.redaction
    let metrics = Metrics(namedTargets: settings.namedTargets)
    (self.clock, self.log, self.metrics, self.redaction) = (clock, log, metrics, redaction)
    let seed = UInt64(bitPattern: clock.now.microseconds) ^ UInt64(getpid()) << 48
    let engine = EngineLane(engine: Engine(settings: settings.engine, seed: seed), clock: clock, keys: keys)
    let store = StoreLane(
      store: opened, tidyInterval: sharing == nil ? StoreLane.tidyInterval : StoreLane.sharedTidyInterval)
    let queries = Queries(reader, metrics, log)
    (self.engine, self.store, self.queries) = (engine, store, queries)

    let standings = TargetStandings(of: known, isShared: sharing != nil)
    let ends = EndTable(limit: settings.maxWaiting, clock: clock)
    let events = EventFeed(
      settings: settings.events, reader: reader, standings: standings, clock: clock, redaction: redaction,
      trust: sharing?.trust)
    let followers = KeyFollowers(engine: engine, events: events, ends: ends)
    self.followers = followers
    let instances = try sharing.map { shared throws(TransportStartError) in
      try OtherInstances(shared, engine, store, known, named, queries, followers, log, clock)
    }
    self.instances = instances

    let sampling = TraceSampling(share: settings.spans.share)
    let spans = SpanExporter(
      settings: settings.spans, clock: clock, log: log, redaction: redaction, tls: settings.transport.tls,
      instance: CallID(rawValue: clock.now.microseconds).characters, seed: ~seed
    ) { TracedCall(reading: $0, from: reader, sampling: sampling) }
    let tracer = CallTracer(exporter: spans, sampling: sampling, log: log, reader: reader)
    (self.spans, self.tracer) = (spans, tracer)

    let housekeeping = Housekeeping(settings, reader: reader, clock: clock, log: log, metrics: metrics)
    let targets = TargetAnswers(engine: engine, queries: queries)
    (self.housekeeping, self.targets) = (housekeeping, targets)

    let waiting = ReplyTables()
    let calls = CallAnswers(
      queries: queries, standings: standings, ends: ends, endWatch: instances?.endWatch, bodies: bodies,
      redaction: redaction, clock: clock)
    let intake = Intake(engine, waiting, calls, metrics, instances?.owners)
    let audit = MemoryAudit(engine, waiting, metrics, log)
    let auditLog = AuditLog(settings, store, clock, log)
    let replies = Replies(waiting, intake, calls, targets, audit, instances?.owners, metrics)
    self.auditLog = auditLog
    let changes = Changes(store: store, queries: queries, log: log, owners: instances?.owners, audit: auditLog)
    (self.calls, self.intake, self.audit, self.replies, self.changes) = (calls, intake, audit, replies, changes)
    commands = Commands(engine: engine, waiting: waiting, owners: instances?.owners, audit: auditLog)
    statistics = StatisticsGathering(engine, changes, queries, clock)

    let before: [(any Observer)?] = [standings, instances?.leadership, metrics, log, engine]
    let after: [(any Observer)?] = [ends, events, tracer, instances?.endWatch]
    let observers = Observers(beforeReplies: before.compactMap { $0 }, afterReplies: after.compactMap { $0 })
    let endpoints = EndpointChanges(
      known: known, secret: secret, changes: changes, engine: engine, waiting: waiting, observers: observers,
      redaction: redaction, clock: clock, log: log)
    (self.observers, self.endpoints) = (observers, endpoints)
    issues = IssueAnswers(
      engine: engine, queries: queries, clock: clock, standings: standings,
      watch: housekeeping.watch, lateAfter: settings.lateAfter)
    messenger = AlertMessenger(engine, known, waiting, clock)
    alerts = AlertWatch(
      issues, messenger, instances?.link, lease: settings.leaseDuration,
      every: settings.alertInterval, log)

    let credentials = AttemptCredentials(
      named, shared: sharing.map { _ in SharedTokens(store: store, log: log) },
      isProxied: settings.transport.proxy != nil, log: log)
    self.credentials = credentials
    var configuration = settings.transport
    configuration.egress = settings.egress
    attempts = try AttemptLane(
      configuration, headers: AttemptHeaders(secret: secret, endpoints: known, sampling: tracer?.sampling),
      credentials: credentials, endpoints: known, bodies: bodies, redaction: redaction, clock: clock, tracer: tracer
    ) { ended in
      metrics.ended(ended.results)
      endpoints.act(on: known.ended(ended.results, at: clock.now))
      engine.postInPlace(ended.events)
    }
    monitoring = Monitoring(
      stage: stage, engine: engine, queries: queries, metrics: metrics, attempts: attempts, clock: clock, ends: ends,
      storeWatch: housekeeping.watch, spans: spans,
      sampling: spans == nil ? .none : sampling, storeKind: sharing == nil ? "sqlite" : "postgresql")
    if let instances, let forwarding = settings.engine.forwarding {
      forwards = try ForwardLane(
        instances.link, clock: clock, patience: forwarding.patience, largest: settings.maxDescriptorBytes
      ) { replies.pass($0, engine) }
    } else {
      forwards = nil
    }
  }

  /// Sets the egress policy, before the first attempt.
  func restrict(to policy: EgressPolicy) {
    attempts.restrict(to: policy)
  }

  /// Takes over what an earlier process has left in the store. Nothing else reaches it before ``begin(with:)``.
  func recover() throws(StoreError) -> RecoveredState { try store.recover(at: clock.now) }

  /// Takes the state from the store, and starts to work.
  func begin(with state: RecoveredState) {
    // Weak: the lanes may still run when this object is freed. The store's results are then lost; the store has them, or
    // the next start finds an interrupted attempt. The transports of the other lanes reach these weakly.
    store.begin { [weak self] in self?.storeDid($0) }
    engine.begin(
      with: state, endpoints.known.subscriptions, awaitsLease: instances != nil
    ) { [weak self] in self?.perform($0) }
    statistics.start()
    housekeeping.start(
      on: store, audit: { [audit] in audit.compare($0) }, erased: { [observers] in observers.tell(.committed($0)) })
    alerts.start()
    auditLog.start()
    if instances != nil { answerDoubted() }
    stage.open()
  }

  /// Each second answers clients that have waited long for a store that is shared.
  private func answerDoubted() {
    replies.answerDoubted()
    // Not on the store's lane, which may be waiting for the database itself.
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in self?.answerDoubted() }
  }

  /// Begins to renew the lease and to listen to the other instances. Called before the first lease is requested.
  ///
  /// - Parameters:
  ///   - address: The URL at which the others reach this instance; nil if they cannot.
  ///   - bulk: Runs the bulk operations, while this instance is the leader.
  func meetOthers(at address: String?, _ bulk: BulkRunner) { instances?.meet(at: address, bulk, forwards) }

  /// Tells all observers what the store reports by itself.
  func receive(_ notices: StoreNotices) {
    // Not this object: the store retains the closure, and may still report when the service is gone.
    notices.receive { [observers, weak auditLog] in
      observers.tell(.store($0))
      if case .commitsLost(let loss, noticedHere: true) = $0 { auditLog?.record(loss) }
    }
  }

  // MARK: Between the lanes

  private func perform(_ effects: Effects) {
    if !effects.store.isEmpty { store.post(effects.store) }
    if !effects.actions.isEmpty { perform(effects.actions) }
  }

  /// Continues with the results of requests to the store.
  // A separate function in every build, because the profile finds the work after a commit by its name.
  @inline(never)
  private func storeDid(_ outcome: StorePipeline.Report) {
    switch outcome {
    case .events(let events): engine.post(events)
    case .committed(let writes, let then):
      for observer in observers.beforeReplies { observer.saw(.committed(writes)) }
      perform(then)
      for observer in observers.afterReplies { observer.saw(.committed(writes)) }
    }
  }

  private func perform(_ actions: [Action]) {
    var answers = SubmissionAnswers(most: actions.count)
    // The attempts to start are among the actions from `first` on, if there are any.
    var (first, hasStart) = (0, false)
    var others: [ForwardedCall] = []
    for (place, action) in actions.enumerated() {
      switch action {
      case .start: hasStart = true
      case .reply(let reply): replies.pass(reply, into: &answers)
      case .answer(let tell): tell()
      case .abort(let id):
        // Before the aborts: an attempt to abort may be among these, and an abort that came first would not find it.
        if hasStart { attempts.start(actions[first..<place]) }
        (first, hasStart) = (place, false)
        attempts.abort(id)
      case .notice(let notice): observers.tell(.notice(notice, at: clock.now))
      case .event(let event): observers.tell(.event(event))
      // The engine reports how each target stands.
      case .tookOver: break
      case .resign: resign()
      case .forward(let descriptor, let reply):
        guard let identity = descriptor.identity else { break }
        others.append(ForwardedCall(descriptor: descriptor, reply: reply, identity: identity))
      case .tellOwners(let shards): instances?.tellOwners(of: shards)
      case .drained: drained.signal()
      }
    }
    if hasStart { attempts.start(actions[first...]) }
    answers.send(redaction)
    if !others.isEmpty { forward(others) }
  }

  /// Ends the session of the lease.
  private func resign() {
    store.afterwards { [log, clock] store in
      do throws(StoreError) {
        try store.resign(at: clock.now)
      } catch {
        // It ends by itself when nobody renews it.
        log.write(.warning, "leaseNotReturned", [("error", error.message)])
      }
    }
  }

  /// Forwards what the engine wants forwarded; without anything to do that with, the engine stores it.
  private func forward(_ calls: [ForwardedCall]) {
    guard let forwards else { return engine.post(calls.map { .submit($0.descriptor, $0.reply) }) }
    forwards.forward(calls)
  }

  // MARK: The end

  /// How long a stop waits for a store that does not answer, each time.
  static let storePatience = Duration.seconds(2)

  /// Starts nothing more, waits for attempts in flight, aborts them after `bound`, and closes the store.
  func drain(within bound: Duration, storePatience: Duration = Runtime.storePatience) {
    stage.stop()
    calls.ends.close()
    followers.events.close()
    engine.post(.drain)
    var isOver = true
    if drained.wait(timeout: .now() + .microseconds(Int(bound.wholeMicroseconds))) == .timedOut {
      log.write(.warning, "drainTimedOut", [("interrupted", "\(attempts.inFlight)")])
      attempts.shutdown()
      // Aborted attempts are recorded as interrupted. A store that does not answer does not keep the process alive.
      isOver = drained.wait(timeout: .now() + .microseconds(Int(storePatience.wholeMicroseconds))) == .success
    } else {
      attempts.shutdown()
    }
    forwards?.shutdown()
    instances?.endWatch.shutdown()
    statistics.end()
    // A lane that did not end in time still uses this object when it does, perhaps just before the process exits.
    if !closeStore(isDrained: isOver, within: storePatience) || !isOver { _ = Unmanaged.passRetained(self) }
    tracer?.close()
    spans?.close()
  }

  /// Ends a runtime that has not begun.
  func abandon() {
    stage.stop()
    statistics.stop()
    attempts.shutdown()
    forwards?.shutdown()
    instances?.endWatch.shutdown()
    _ = closeStore(isDrained: false)
  }

  /// Closes the store after all earlier requests; false if it does not get there in time.
  private func closeStore(isDrained: Bool, within patience: Duration = Runtime.storePatience) -> Bool {
    housekeeping.stop(on: store)
    alerts.stop()
    auditLog.stop()
    let closed = DispatchSemaphore(value: 0)
    store.close { [log, clock] store in
      if isDrained {
        do throws(StoreError) {
          try store.resign(at: clock.now)
        } catch {
          // The next process takes over as after a kill.
          log.write(.warning, "leaseNotReturned", [("error", error.message)])
        }
      }
    } then: {
      closed.signal()
    }
    return closed.wait(timeout: .now() + .microseconds(Int(patience.wholeMicroseconds))) == .success
  }
}
