package import RedialCore
internal import RedialModel

/// The life of every call, as one deterministic state machine: events and time
/// in, effects out. It does no I/O, has no clock and draws its randomness from
/// a seed, so the same events at the same times give the same effects.
///
/// Its state is in three parts, each with private state and its own tests: the ``Roster`` of targets and namespaces,
/// the ``Calls`` in memory, and the ``StoreDesk``. The engine decides between them. It has the time, and the effects of
/// the current step.
package struct Engine: Sendable {
  private let shared: SharedSettings
  var random: RandomSource
  var ids: CallIDSource

  /// Targets and namespaces.
  var roster: Roster
  /// Calls in memory.
  var calls = Calls()
  var desk: StoreDesk
  /// Calls that may have ended a process.
  var suspects = Suspects()
  /// TLS settings by origin, set by operators.
  var originTLS: OriginTLS
  /// What targets hide of their calls by their own settings, as the documents said last.
  var privacies: [TargetKey: TargetOverrides] = [:]
  /// The webhook endpoints that are enabled: they receive the events of all calls and targets.
  var subscriptions: [WebhookSubscription] = []
  /// Whether the engine stops.
  var stopping = Stopping.no

  // Of one step.
  var now = Timestamp.epoch
  var writes: [StoreWrite] = []
  var afterCommit: [Action] = []
  /// The shards of other engines for which calls are written.
  var toTell = ShardSet.none
  var effects = Effects()

  /// Whether the engine stops.
  enum Stopping: Sendable {
    /// It works. Leads to `draining`.
    case no
    /// It starts nothing more. Leads to `drained`.
    case draining
    /// All attempts have ended, and this has been reported.
    case drained
  }

  var settings: EngineSettings {
    _read { yield shared.settings }
  }

  /// Creates an engine without calls.
  ///
  /// - Parameter seed: The seed of all its random numbers.
  package init(settings: EngineSettings = EngineSettings(), seed: UInt64) {
    shared = SharedSettings(settings)
    roster = Roster(shared)
    originTLS = OriginTLS(rules: settings.targetRules)
    random = RandomSource(seed: seed)
    ids = CallIDSource(instance: settings.instance)
    desk = StoreDesk(settings.leases)
  }

  /// Forgets everything, except the answers that the store still has to send.
  mutating func startOver() {
    desk.startOver()
    suspects = Suspects()
    calls = Calls(after: calls)
    roster.startOver()
    originTLS = OriginTLS(rules: settings.targetRules)
    (writes, afterCommit, toTell) = ([], [], .none)
    if isDraining { stopping = .draining }
  }

  /// Makes one step: takes everything that happened, and the current time.
  ///
  /// An empty list is a step only for the sake of time; ``Effects/wakeAt`` asks for it. `now` must not go back.
  package mutating func handle(_ events: [EngineEvent], at now: Timestamp) -> Effects {
    self.now = max(now, self.now)
    // A call is accepted and started, or ends and lets another start: two effects for each event. Arrays that grow
    // step by step would be copied once more on average, and their elements are large.
    writes.reserveCapacity(2 * events.count)
    afterCommit.reserveCapacity(2 * events.count)
    checkLease()
    retryStore()
    for event in events { handle(event) }
    fireTimers()
    dispatch()
    flush()
    effects.store += desk.takeLater()
    claimWhatIsDue()
    tendLease()
    finishDraining()
    effects.wakeAt = nextWake()
    defer { effects = Effects() }
    return effects
  }

  mutating func handle(_ event: EngineEvent) {
    switch event {
    case .recovered(let state): recover(state)
    case .submit where desk.putOff(event), .command where desk.putOff(event), .targetCommand where desk.putOff(event):
      break
    case .submit(let descriptor, let reply): submit(descriptor, reply: reply)
    case .command(let command) where desk.isInDoubt: refuse(command, .storeUnreachable)
    case .command(let command): execute(command)
    case .targetCommand(let command) where desk.isInDoubt: refuse(command, .storeUnreachable)
    case .targetCommand(let command): execute(command)
    case .question(let question): effects.actions.append(.answer(question.ask(&self)))
    case .attemptEnded(let id, let number, let result): attemptEnded(id, number: number, result)
    case .attemptTooLate(let id, let number): attemptTooLate(id, number: number)
    case .claimedDue(let claim): claimedDue(claim)
    case .claimedQueued(let target, let calls, let complete): claimedQueued(target, calls, complete: complete)
    case .fetched(let command, let record): fetched(command, record)
    case .fetchedDamaged(let command, let ended, let why): fetchedDamaged(command, hasEnded: ended, why)
    case .foundKey(let submission, let record): foundKey(submission, record)
    case .setAside(let count, let namespace): setAside(count, in: namespace)
    case .namespaces(let all): roster.know(all)
    case .leased(let grant, let ask): leased(grant, ask)
    case .changed: desk.leases.askSoon(at: now)
    case .callsStored: if desk.leases.canWork { desk.claims.stored(due: now) }
    case .leaseRenewed(let session, let asked): desk.leases.renewed(session, asked: asked)
    case .storeFailed(let request, let failure): storeFailed(request, failure)
    case .storeWritten(let asked): storeWritten(asked)
    case .storeInDoubt(let message): storeInDoubt(message)
    case .room(let isShort): desk.setShortOfRoom(isShort)
    case .storeMisplaced(let isMisplaced): desk.setMisplaced(isMisplaced)
    case .keyMissing(let isMissing):
      desk.lacksKey = isMissing
      desk.leases.askSoon(at: now)
    case .privacies(let all): privacies = all
    case .subscriptions(let all): subscribe(all)
    case .announce(let announcement): announce(announcement)
    case .change(let change): self.change(change)
    case .drain: beginDraining()
    }
  }

  // MARK: Time

  private mutating func fireTimers() {
    // What would end now could not be written any more.
    guard !hasDrained else { return }
    while let subject = calls.nextFired(at: now) {
      switch subject {
      case .target(let place):
        guard roster[place].timerFired(at: now) else { continue }
        examineOutage(place)
        roster.enterRotation(place)
      case .call(let id, _):
        guard let place = calls.place(of: id) else { continue }
        switch calls[at: place].phase {
        case .waiting: becomeReady(id)
        case .ready: finish(id, .failed, failure: .deadlineExceeded)
        case .running: break
        }
      }
    }
    calls.dropVoidTimers(targets: roster.targets.count)
  }

  private func nextWake() -> Timestamp? {
    var wake = (hasDrained ? nil : calls.earliest) ?? .distantFuture
    if let trouble = desk.trouble, trouble.isComplete { wake = min(wake, trouble.until) }
    if let claim = nextClaim() { wake = min(wake, claim) }
    if !isDraining, desk.canDecide, let time = suspects.wake(inFlight: roster.occupancy.inFlight, at: now) {
      wake = min(wake, time)
    }
    let canAsk = desk.trouble == nil && !((isDraining || desk.lacksKey) && !desk.leases.canWork) && !hasDrained
    wake = min(wake, desk.leases.wake(canAsk: canAsk))
    return wake == .distantFuture ? nil : max(wake, now)
  }

  /// The id of a new call. If there is more than one namespace, a client must not be able to count the calls of
  /// others by the ids of its own.
  mutating func nextID() -> CallID {
    roster.isShared ? ids.next(at: now, skipping: Int(random.next() & 7)) : ids.next(at: now)
  }

  // MARK: The store

  /// Sends this step's writes to the store, with the actions that follow the commit.
  mutating func flush() {
    guard !writes.isEmpty || !afterCommit.isEmpty else { return }
    if !toTell.isEmpty { afterCommit.append(.tellOwners(toTell)) }
    if !desk.keep(writes, then: afterCommit) { request(.commit(writes, then: afterCommit)) }
    writes = []
    afterCommit = []
    toTell = .none
  }

  /// Sends a request to the store.
  mutating func request(_ body: StoreRequest.Body) {
    effects.store.append(StoreRequest(body, epoch: desk.epoch))
    if case .lease = body { return }
    desk.leases.recordWork()
  }

  // MARK: Ends

  /// Whether nothing more is started.
  var isDraining: Bool { stopping != .no }
  /// Whether all attempts have ended.
  var hasDrained: Bool { stopping == .drained }

  private mutating func beginDraining() {
    guard !isDraining else { return }
    stopping = .draining
    guard desk.leases.canWork else { return }
    saveLearned(of: .all)
    excuseAlone(beside: nil)
  }

  private mutating func finishDraining() {
    guard isDraining, !hasDrained, roster.occupancy.inFlight == 0, desk.trouble == nil else { return }
    // If others wait for this engine's shards, they get them first.
    guard desk.leases.hasNothingToGiveBack else { return }
    stopping = .drained
    request(.commit([], then: [.drained]))
  }
}
