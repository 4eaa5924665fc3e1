internal import RedialCore
internal import RedialModel

/// What an engine may work on: everything, if it is alone on its store, or the shards of its lease.
///
/// Times are the engine's own. A lease counts from when it was requested, not from when it was granted, so only the
/// rates of two clocks matter, not what they show (Gray and Cheriton, Leases, SOSP 1989).
struct LeaseTable: Sendable {
  /// The relation of an engine to its store.
  enum Standing: Sendable {
    /// Nobody shares the store, as long as it is open. Leads to `evicted`.
    case alone
    /// It has no lease, or lost it, and requests one. Leads to `member`.
    case joining
    /// It has a lease. Leads to `joining` when that is lost.
    case member(LeaseSession)
    /// It was alone on its store, and another process has taken the store: there is no way back.
    case evicted
  }

  /// Why a lease ends by itself.
  static let notRenewed = "The lease was not renewed in time: the store did not answer, or the process stood still."

  let settings: LeaseSettings?
  private(set) var standing: Standing
  private(set) var held: ShardSet
  /// Those of them that it would give back if they were idle, and in which it starts nothing for the moment.
  private(set) var yielding = YieldingShards()
  /// Shards of its lease in which it starts nothing any more, to give them back.
  private(set) var outgoing = ShardSet.none
  /// Shards that the current request gives back.
  private(set) var returning = ShardSet.none
  /// After this time others may have its shards.
  private(set) var validUntil = Timestamp.distantFuture
  /// When to make the next request, at the earliest, and if nothing else was requested since the last one.
  private var (nextAsk, restUntil) = (Timestamp.epoch, Timestamp.epoch)
  /// Whether something else was requested since.
  private var hasWorked = false
  private(set) var isAsking = false
  /// Since when it has the lease without a break, if it has one.
  private var memberSince = Timestamp.epoch
  /// Counts the lost leases: answers to requests under an earlier one are void.
  private(set) var round: UInt64 = 0
  /// Requests under a lost lease have an epoch below this.
  private(set) var lostBelow: UInt64 = 0
  /// Calls whose attempts were aborted when the lease was lost, and whose ends have not been reported yet. It joins
  /// again only after these, so that it never overlaps with itself.
  private(set) var aborting: Set<CallID> = []

  init(_ settings: LeaseSettings?) {
    self.settings = settings
    standing = settings == nil ? .alone : .joining
    held = settings == nil ? .all : .none
  }

  /// Whether it may decide anything at all.
  var canWork: Bool {
    switch standing {
    case .alone, .member: true
    case .joining, .evicted: false
    }
  }

  /// Whether a shard belongs to this engine, and it may decide something about it.
  func owns(shard: Int) -> Bool { canWork && (held == .all || held.contains(shard)) }

  /// Whether the calls of a target belong to this engine.
  func owns(_ target: TargetKey) -> Bool { held == .all || held.contains(target: target) }

  /// Whether nothing of it is left to give back before the engine stops: no shard, and no attempt that was aborted.
  var hasNothingToGiveBack: Bool {
    guard aborting.isEmpty else { return false }
    return settings == nil || held.union(outgoing).union(returning).isEmpty
  }

  /// No attempt may start at or after this time; nil if there is no such time.
  var startBefore: Timestamp? { settings == nil ? nil : validUntil }

  /// When to make the next request.
  var askAt: Timestamp {
    guard let settings, case .member = standing, !hasWorked, yielding.shards.isEmpty else { return nextAsk }
    // Nobody has renewed it for a third of its time.
    let unrenewed = validUntil + (.zero - settings.validity * 2 / 3)
    return max(nextAsk, min(restUntil, unrenewed))
  }

  /// When the lease needs attention.
  func wake(canAsk: Bool) -> Timestamp {
    guard settings != nil else { return .distantFuture }
    let ask = canAsk && !isAsking && aborting.isEmpty ? askAt : .distantFuture
    if case .member = standing { return min(validUntil, ask) }
    return ask
  }

  /// What an answer means.
  enum Answer: Sendable {
    /// Nothing: it is about a lease that was lost.
    case void
    /// The lease has ended before the answer came.
    case tooLate
    /// The lease holds; `isNew` if there was none.
    case granted(isNew: Bool)
  }

  // MARK: Requests

  /// Requests or renews the lease, and gives these shards back.
  mutating func ask(_ settings: LeaseSettings, giving idle: ShardSet, takesShards: Bool, at now: Timestamp) -> LeaseAsk
  {
    precondition(!isAsking && idle.subtracting(outgoing).isEmpty, "A shard is given back in which attempts may start.")
    outgoing = outgoing.subtracting(idle)
    returning = idle
    isAsking = true
    (nextAsk, restUntil, hasWorked) = (now + settings.pause, now + settings.rest, false)
    var session: Int64?
    if case .member(let member) = standing { session = member.id }
    let request = LeaseRequest(duration: settings.duration, giveBack: idle, takesShards: takesShards)
    return LeaseAsk(request: request, session: session, at: now, round: round)
  }

  /// The store has answered.
  mutating func answered(_ grant: LeaseGrant, _ ask: LeaseAsk, at now: Timestamp) -> Answer {
    guard ask.round == round, let settings else { return .void }
    isAsking = false
    returning = .none
    var isNew = false
    if case .joining = standing { (isNew, memberSince) = (true, now) }
    // It may have been renewed meanwhile, beside this request: a commit can wait for a standby for a long time.
    validUntil = max(isNew ? .epoch : validUntil, ask.at + settings.validity)
    // An answer that comes after the end of the lease is useless.
    if now >= validUntil { return .tooLate }
    standing = .member(grant.session)
    held = held.union(grant.gained)
    return .granted(isNew: isNew)
  }

  /// Whether attempts in flight in shards that it gains tell that their owner has died. Somebody who has lost the lease lately
  /// may have been cut off from the store together with that owner, or be that owner: then the owner's lease ends within
  /// twice its duration from the first one here.
  func witnessesDeath(at now: Timestamp) -> Bool {
    guard round > 0, let settings else { return true }
    return now - memberSince >= settings.duration * 3
  }

  /// The lease was renewed by a request beside the store's other work.
  ///
  /// - Parameter asked: When that was requested.
  mutating func renewed(_ session: Int64, asked: Timestamp) {
    guard case .member(let member) = standing, member.id == session, let settings else { return }
    validUntil = max(validUntil, asked + settings.validity)
  }

  /// The engine has requested something else of its store.
  mutating func recordWork() {
    hasWorked = true
  }

  /// The store could not answer.
  mutating func notAnswered(_ ask: LeaseAsk) {
    guard ask.round == round else { return }
    isAsking = false
    hasWorked = true
    outgoing = outgoing.union(returning)
    returning = .none
  }

  /// The next request is due at once.
  mutating func askSoon(at now: Timestamp) {
    (nextAsk, hasWorked) = (now, true)
  }

  // MARK: Giving back

  /// Whether the store has all shards back.
  var hasGivenAllBack: Bool { held.isEmpty && outgoing.isEmpty && returning.isEmpty }

  /// How many shards it has beyond a share, without those that are yielding.
  func surplus(over share: Int) -> Int { held.size - yielding.shards.size - share }

  /// Chooses busy shards to try to give back, see ``YieldingShards/choose(among:_:for:at:)``.
  mutating func yield(_ busy: [Int], _ count: Int, at now: Timestamp) -> ShardSet {
    guard let settings else { return .none }
    return yielding.choose(among: busy, count, for: settings.patience, at: now)
  }

  /// Those of the yielding shards that have not become idle in time.
  mutating func giveUpYielding(at now: Timestamp) -> ShardSet {
    guard let settings else { return .none }
    return yielding.giveUp(pause: settings.patience, at: now)
  }

  /// Goes on with all shards.
  mutating func keepYielding() -> ShardSet { yielding.keep() }

  /// Stops working on these shards.
  mutating func stopWork(in shards: ShardSet) {
    yielding.remove(shards)
    held = held.subtracting(shards)
    outgoing = outgoing.union(shards)
  }

  /// An attempt is aborted, because the lease is lost.
  mutating func abort(_ id: CallID) {
    aborting.insert(id)
  }

  /// An attempt has ended, or was never made.
  mutating func attemptEnded(_ id: CallID) {
    if !aborting.isEmpty { aborting.remove(id) }
  }

  /// The lease is gone.
  mutating func lose(at now: Timestamp, epoch: UInt64) {
    standing = settings == nil ? .evicted : .joining
    held = .none
    yielding = YieldingShards()
    outgoing = .none
    returning = .none
    validUntil = .distantFuture
    nextAsk = now
    isAsking = false
    round += 1
    lostBelow = epoch
  }
}
