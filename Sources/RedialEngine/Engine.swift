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
  /// The last stamp that a call got.
  private var lastStamp: UInt32 = 0
  /// Requests to the store for a call that a command is about, without an answer yet.
  var fetches: [CallID: Fetches] = [:]
  /// Requests to the store for an idempotency key, without an answer yet.
  var keys: [String: KeyLookups] = [:]
  /// Bytes of request bodies in memory; and of these, the bytes of attempts in flight.
  var heldBytes = 0
  var runningBytes = 0
  /// Due calls in memory, over all targets, the bytes of their bodies, and how many targets have one.
  var readyCount = 0
  var readyBytes = 0
  var busyTargets = 0
  /// The recent usual size of a body.
  var usualBody = 0
  /// Unfinished calls of this engine's shards, in memory and in the store. Calls that other instances put there are
  /// counted at the next renewal of the lease. Until then this can be too small, and even below 0.
  var unfinished = 0
  /// Unfinished calls of the shards of others, as of the last renewal, and those that this engine has put there
  /// since.
  var elsewhere = 0
  /// Attempts in flight.
  var inFlight = 0
  /// Those that targets have borrowed from the pool; see Engine+Slots.
  var borrowed = 0
  /// Attempts that have ended since the crowded targets were last examined.
  var freed = 0
  /// Targets that want more slots than they have, in order.
  var crowded = Queue<Int>()
  /// ``EngineSettings/longSilence`` in microseconds.
  let leastSilence: Int64

  var targets: [TargetState] = []
  var targetIndex: [String: Int] = [:]
  /// TLS settings by origin, set by operators.
  var originTLS: OriginTLS
  /// The earliest time to look for targets that can be forgotten.
  var nextForgetting = Timestamp.epoch
  /// Free places in `targets`.
  var freeTargets: [Int] = []
  /// The namespaces, ``Namespace/default`` first; and the index of each of the others.
  var namespaces = [NamespaceState(.default)]
  var namespaceIndex: [Namespace: Int] = [:]
  /// The rotation of namespaces whose targets may have a call to start; each is in it at most once.
  var rotation = Queue<Int>()
  /// Number of namespaces, besides the default one, with unfinished calls or an API key.
  var sharing = 0
  /// Number of namespaces with a due call in memory.
  var busyNamespaces = 0
  var timers = TimerHeap()

  /// When the earliest call in the store is due.
  var storeNextDue: Timestamp?
  /// Set while the store is claiming calls.
  var claiming: Claiming?
  /// The maximum number of calls that the store may still send for open requests. Their room in memory is reserved.
  var expected = 0
  var trouble: StoreTrouble?
  /// Whether the disk has only the reserve for accepted calls left. New calls are then refused.
  var isShortOfRoom = false
  /// Whether the store's files are not where they were.
  var isStoreMisplaced = false
  var epoch: UInt64 = 0
  /// The part of the store that belongs to this engine.
  var leases: LeaseTable
  /// Webhook endpoints that receive the events of all calls and targets.
  var subscriptions: [WebhookSubscription] = []
  var isDraining = false
  var hasDrained = false

  // Of one step.
  var now = Timestamp.epoch
  var writes: [StoreWrite] = []
  var afterCommit: [Action] = []
  /// Claims of this step. They follow its writes, so that the store sees those calls too.
  var claims: [StoreRequest.Body] = []
  var effects = Effects()

  struct Claiming: Sendable {
    var limit: Int
    var earliestSince: Timestamp?
    /// Calls with an ordering key that have ended since. The answer can still contain them as they were before,
    /// because the store itself gives out turns.
    var ended: Set<CallID> = []
  }

  /// Answers about a call that the store still has to send.
  struct Fetches: Sendable {
    var outstanding = 0
    /// How many of these show the call as it was before it last left memory.
    var stale = 0
  }

  /// Answers about an idempotency key that the store still has to send.
  struct KeyLookups: Sendable {
    var outstanding = 0
    /// The call that was accepted under the key since the first request: the answers may be older than its commit.
    var accepted: KeyRecord?
    /// How many of the open answers were requested under a lease that has been lost since.
    var stale = 0
  }

  /// The settings never change and take a few hundred bytes. They are in an object of their own, because calling a
  /// method that does not change the engine may copy everything in it.
  private final class SharedSettings: Sendable {
    let settings: EngineSettings

    init(_ settings: EngineSettings) { self.settings = settings }
  }

  var settings: EngineSettings {
    _read { yield shared.settings }
  }

  /// Creates an engine without calls.
  ///
  /// - Parameter seed: The seed of all its random numbers.
  public init(settings: EngineSettings = EngineSettings(), seed: UInt64) {
    shared = SharedSettings(settings)
    originTLS = OriginTLS(rules: settings.targetRules)
    leastSilence = settings.longSilence.wholeMicroseconds
    random = RandomSource(seed: seed)
    ids = CallIDSource(instance: settings.instance)
    leases = LeaseTable(settings.leases)
  }

  /// Forgets everything, except the answers that the store still has to send.
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

  /// Makes one step: takes everything that happened, and the current time.
  ///
  /// An empty list is a step only for the sake of time; ``Effects/wakeAt`` asks for it. `now` must not go back.
  public mutating func handle(_ events: [EngineEvent], at now: Timestamp) -> Effects {
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
    case .submit where putOff(event), .command where putOff(event), .targetCommand where putOff(event): break
    case .submit(let descriptor, let reply): submit(descriptor, reply: reply)
    case .command(let command): execute(command)
    case .targetCommand(let command): execute(command)
    case .describe(let key, let reply): effects.actions.append(.reply(reply, .report(describe(key))))
    case .describePage(let query, let reply): effects.actions.append(.reply(reply, .report(describe(query))))
    case .tally(let reply): effects.actions.append(.reply(reply, .tallied(takeTallies())))
    case .report(let reply): effects.actions.append(.reply(reply, .report(report())))
    case .attemptEnded(let result): attemptEnded(result)
    case .claimedDue(let claim): claimedDue(claim)
    case .claimedQueued(let target, let calls, let complete): claimedQueued(target, calls, complete: complete)
    case .fetched(let command, let record): fetched(command, record)
    case .fetchedDamaged(let command, let ended, let why): fetchedDamaged(command, hasEnded: ended, why)
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

  /// Returns a stamp that no call in memory has, nor a timer of an earlier call.
  mutating func nextStamp() -> UInt32 {
    lastStamp &+= 1
    return lastStamp
  }

  // MARK: The store

  /// Sends this step's writes to the store, with the actions that follow the commit.
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

  /// Notes that a call was written to the store, due at that time.
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
    // If others wait for this engine's shards, they get them first.
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
