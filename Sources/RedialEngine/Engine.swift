public import RedialCore
internal import RedialModel

/// The life of every call, as one deterministic state machine: events and time
/// in, effects out. It does no I/O, has no clock and draws its randomness from
/// a seed, so the same events at the same times give the same effects.
public struct Engine: Sendable {
  private let shared: SharedSettings
  var random: RandomSource
  var ids: CallIDSource

  /// Calls in memory.
  var calls = CallTable()
  /// The last stamp given to a call.
  private var lastStamp: UInt32 = 0
  /// Calls that the store was asked for, for an operation, and has not answered yet.
  var fetches: [CallID: Fetches] = [:]
  /// Keys that the store was asked for, and has not answered yet.
  var keys: [String: KeyLookups] = [:]
  /// Bytes of request bodies in memory, and those of attempts under way among them.
  var heldBytes = 0
  var runningBytes = 0
  /// Due calls in memory, over all targets, the bytes of their bodies, and how many targets have one.
  var readyCount = 0
  var readyBytes = 0
  var busyTargets = 0
  /// What a body has taken of late.
  var usualBody = 0
  /// Calls that have not ended, here and in the store; of the shards that are this engine's. What other instances put
  /// there counts from the next renewal of the lease on, so that until then this may be too small, and even below 0.
  var unfinished = 0
  /// Those of the shards of others, as of the last renewal, with those that this engine has put there since.
  var elsewhere = 0
  /// Attempts under way.
  var inFlight = 0
  /// Those that targets have borrowed; see Engine+Slots.
  var borrowed = 0
  /// Attempts that have ended since the targets that want more than they have were looked at.
  var freed = 0
  /// Those targets, in turn.
  var crowded = Queue<Int>()
  /// ``EngineSettings/longSilence`` in microseconds.
  let leastSilence: Int64

  var targets: [TargetState] = []
  var targetIndex: [String: Int] = [:]
  /// What operators have set about TLS, for whichever target.
  var originTLS: OriginTLS
  /// When targets are next looked through for those that can be forgotten, at the soonest.
  var nextForgetting = Timestamp.epoch
  /// Places in `targets` that are free.
  var freeTargets: [Int] = []
  /// The namespaces, ``Namespace/default`` first, and the places of the others.
  var namespaces = [NamespaceState(.default)]
  var namespaceIndex: [Namespace: Int] = [:]
  /// Namespaces that have targets which may have a call to start, each at most once, in turn.
  var turns = Queue<Int>()
  /// How many namespaces beside the default one have calls that have not ended, or a key.
  var sharing = 0
  /// How many namespaces have a due call in memory.
  var busyNamespaces = 0
  var timers = TimerHeap()

  /// When the earliest call in the store is due.
  var storeNextDue: Timestamp?
  /// While calls are being taken from the store: the earliest that was put there since.
  var claiming: Claiming?
  /// The most calls that may come from the store for what it has been asked; their place in memory is taken.
  var expected = 0
  var trouble: StoreTrouble?
  /// Whether the disk is full but for what is kept for accepted calls: new ones are refused.
  var isShortOfRoom = false
  /// Whether the store's files are not where they were.
  var isStoreMisplaced = false
  var epoch: UInt64 = 0
  /// What of the store is this engine's.
  var leases: LeaseTable
  /// Who is told of the events of all calls and targets.
  var subscriptions: [WebhookSubscription] = []
  var isDraining = false
  var hasDrained = false

  // One turn's.
  var now = Timestamp.epoch
  var writes: [StoreWrite] = []
  var afterCommit: [Action] = []
  /// Asked for behind this turn's writes, so that the store sees what was put there.
  var claims: [StoreRequest.Body] = []
  var effects = Effects()

  struct Claiming: Sendable {
    var limit: Int
    var earliestSince: Timestamp?
    /// Calls with an ordering key that have ended since: the answer may bring them along as they were, since the store
    /// gives turns by itself.
    var ended: Set<CallID> = []
  }

  /// Answers about a call that are on their way from the store.
  struct Fetches: Sendable {
    var outstanding = 0
    /// How many of these tell of the call as it was before it last left memory.
    var stale = 0
  }

  /// Answers about a key that are on their way from the store.
  struct KeyLookups: Sendable {
    var outstanding = 0
    /// What was accepted under it since the first of them was asked for: they may have been given before it was on disk.
    var accepted: KeyRecord?
    /// How many of the answers that are outstanding were asked for under a lease that was lost since.
    var stale = 0
  }

  /// The settings, which never change and are a few hundred bytes: apart from the rest, since calling a method which does
  /// not change the engine may copy all that is in it.
  private final class SharedSettings: Sendable {
    let settings: EngineSettings

    init(_ settings: EngineSettings) { self.settings = settings }
  }

  var settings: EngineSettings {
    _read { yield shared.settings }
  }

  /// An engine that knows of no call.
  ///
  /// - Parameter seed: Where all of its randomness comes from.
  public init(settings: EngineSettings = EngineSettings(), seed: UInt64) {
    shared = SharedSettings(settings)
    originTLS = OriginTLS(rules: settings.targetRules)
    leastSilence = settings.longSilence.wholeMicroseconds
    random = RandomSource(seed: seed)
    ids = CallIDSource(instance: settings.instance)
    leases = LeaseTable(settings.leases)
  }

  /// Forgets everything but what is on its way from the store, and is as it was before it had a store.
  mutating func startOver() {
    var next = Engine(settings: settings, seed: 0)
    (next.random, next.ids, next.lastStamp, next.leases) = (random, ids, lastStamp, leases)
    (next.fetches, next.keys) = (fetches, keys)
    for id in next.fetches.keys { next.fetches[id]?.stale = fetches[id]?.outstanding ?? 0 }
    for key in next.keys.keys { next.keys[key]?.stale = keys[key]?.outstanding ?? 0 }
    (next.now, next.epoch, next.effects) = (now, epoch + 1, effects)
    (next.subscriptions, next.isDraining) = (subscriptions, isDraining)
    for namespace in namespaces { _ = next.place(of: namespace.namespace) }
    next.know(namespaces.filter(\.hasKey).map(\.namespace))
    self = next
    forgetAcceptedKeys()
  }

  /// Takes one turn: everything that happened, and the time it is now.
  ///
  /// An empty list is a turn for the sake of time alone, which
  /// ``Effects/wakeAt`` asks for. `now` must not go back.
  public mutating func handle(_ events: [EngineEvent], at now: Timestamp) -> Effects {
    self.now = max(now, self.now)
    // A call is accepted and begun, or ends and lets another begin: two of each an event. Grown step by step, the arrays
    // would be copied once more on average, and what they hold is large.
    writes.reserveCapacity(2 * events.count)
    afterCommit.reserveCapacity(2 * events.count)
    checkLease()
    retryStore()
    for event in events { handle(event) }
    fireTimers()
    dispatch()
    flush()
    effects.store += claims.map { StoreRequest($0, epoch: epoch) }
    claims = []
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
    case .submit where putOff(event), .operate where putOff(event), .control where putOff(event): break
    case .submit(let descriptor, let reply): submit(descriptor, reply: reply)
    case .operate(let operation): operate(operation)
    case .control(let control): self.control(control)
    case .describe(let key, let reply): effects.actions.append(.reply(reply, .report(describe(key))))
    case .describePage(let query, let reply): effects.actions.append(.reply(reply, .report(describe(query))))
    case .tally(let reply): effects.actions.append(.reply(reply, .tallied(takeTallies())))
    case .report(let reply): effects.actions.append(.reply(reply, .report(report())))
    case .attemptEnded(let result): attemptEnded(result)
    case .claimedDue(let claim): claimedDue(claim)
    case .claimedQueued(let target, let calls, let complete): claimedQueued(target, calls, complete: complete)
    case .fetched(let operation, let record): fetched(operation, record)
    case .fetchedDamaged(let operation, let ended, let why): fetchedDamaged(operation, hasEnded: ended, why)
    case .foundKey(let submission, let record): foundKey(submission, record)
    case .setAside(let count, let namespace): setAside(count, in: namespace)
    case .namespaces(let all): know(all)
    case .leased(let grant, let ask): leased(grant, ask)
    case .changed: leases.nextAsk = now
    case .storeFailed(let request, let failure): storeFailed(request, failure)
    case .storeWritten(let asked): storeWritten(asked)
    case .room(let isShort): isShortOfRoom = isShort
    case .storeMisplaced(let isMisplaced): isStoreMisplaced = isMisplaced
    case .subscriptions(let all): subscriptions = all
    case .announce(let announcement): announce(announcement)
    case .drain: isDraining = true
    }
  }

  // MARK: Time

  private mutating func fireTimers() {
    while let subject = timers.next(at: now) {
      switch subject {
      case .target(let index):
        guard let look = targets[index].nextLook, look <= now else { continue }
        targets[index].nextLook = nil
        enterRotation(index)
      case .call(let id, let stamp):
        guard let place = calls.place(of: id), calls[at: place].stamp == stamp else { continue }
        switch calls[at: place].phase {
        case .waiting: becomeReady(id)
        case .ready: finish(id, .failed, failure: .deadlineExceeded)
        case .running: break
        }
      }
    }
    // Timers of calls that have moved on stay in the heap; drop them before they outnumber the others.
    if timers.count > 4 * calls.count + 4 * targets.count + 1024 {
      timers.prune { subject in
        guard case .call(let id, let stamp) = subject else { return true }
        return calls.stamp(of: id) == stamp
      }
    }
  }

  private func nextWake() -> Timestamp? {
    var wake = timers.earliest ?? .distantFuture
    if let trouble, trouble.isComplete { wake = min(wake, trouble.until) }
    if let claim = nextClaim() { wake = min(wake, claim) }
    wake = min(wake, leases.wake(canAsk: trouble == nil && !(isDraining && !leases.canWork) && !hasDrained))
    return wake == .distantFuture ? nil : max(wake, now)
  }

  /// A stamp that no call in memory, and no timer of one that was, has.
  mutating func nextStamp() -> UInt32 {
    lastStamp &+= 1
    return lastStamp
  }

  // MARK: The store

  /// Hands this turn's writes over, with what is to follow once they are on disk.
  mutating func flush() {
    guard !writes.isEmpty || !afterCommit.isEmpty else { return }
    let body = StoreRequest.Body.commit(writes, then: afterCommit)
    if trouble != nil {
      trouble?.later.append(afterCommit, writes)
    } else {
      effects.store.append(StoreRequest(body, epoch: epoch))
    }
    writes = []
    afterCommit = []
  }

  /// Notes that a call was put into the store, due at that time.
  mutating func stored(due: Timestamp) {
    storeNextDue = min(storeNextDue ?? due, due)
    if let since = claiming?.earliestSince {
      claiming?.earliestSince = min(since, due)
    } else {
      claiming?.earliestSince = due
    }
  }

  // MARK: Ends

  private mutating func finishDraining() {
    guard isDraining, !hasDrained, inFlight == 0, trouble == nil else { return }
    // Where others wait for what this engine has, they are given it first.
    guard leases.aborting.isEmpty else { return }
    if leases.settings != nil, !leases.held.union(leases.leaving).union(leases.returning).isEmpty { return }
    hasDrained = true
    effects.store.append(StoreRequest(.commit([], then: [.drained]), epoch: epoch))
  }

  private func report() -> EngineReport {
    EngineReport(
      targets: knownTargets.map { targets[$0].snapshot(at: now) }, inFlight: inFlight, unfinished: max(0, unfinished),
      held: calls.count, storeFailing: isStoreFailing)
  }
}
