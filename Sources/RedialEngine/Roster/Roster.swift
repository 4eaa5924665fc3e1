internal import RedialCore
internal import RedialModel

/// The targets and namespaces that the engine knows, the order in which they are examined, and what their calls
/// occupy.
///
/// A target and a namespace are known by a place, which stays the same until a target is forgotten. Counts of
/// occupancy are kept at three levels: of the target, of its namespace, and of the whole.
struct Roster: Sendable {
  let shared: SharedSettings
  /// Targets by place; some places are free.
  private(set) var targets: [TargetState] = []
  private var index: [TargetKey: Int] = [:]
  private var freePlaces: [Int] = []
  /// The earliest time to look for targets that can be forgotten.
  private var nextForgetting = Timestamp.epoch
  /// The namespaces, ``Namespace/default`` first; and the place of each of the others.
  private(set) var namespaces = [NamespaceState(.default)]
  private var namespaceIndex: [Namespace: Int] = [:]
  /// Number of namespaces, besides the default one, with unfinished calls or an API key.
  private(set) var sharing = 0
  /// Unfinished calls of this engine's shards, in memory and in the store. Calls that other instances put there are
  /// counted at the next renewal of the lease. Until then this can be too small, and even below 0.
  private(set) var unfinished = 0
  /// Unfinished calls of the shards of others, as of the last renewal, and those that this engine has put there
  /// since.
  private(set) var elsewhere = 0
  /// What all calls occupy.
  private(set) var occupancy = Occupancy()
  /// The recent usual size of a body.
  private(set) var usualBody = 0
  /// How long clients' calls took until they ended.
  private(set) var durations = CallDurations()
  private(set) var rotation = Rotation()
  private var origins: OriginTable

  init(_ shared: SharedSettings) {
    self.shared = shared
    origins = OriginTable(most: shared.settings.maxConnectionsPerOrigin)
  }

  /// Forgets everything except the namespaces, and which of them have keys.
  mutating func startOver() {
    let (known, durations) = (namespaces, durations)
    self = Roster(shared)
    self.durations = durations
    for state in known { _ = place(of: state.namespace) }
    know(known.filter(\.hasKey).map(\.namespace))
  }

  var settings: EngineSettings {
    _read { yield shared.settings }
  }

  /// Needed to change what a target's calls occupy, and its slots. Only this file can make one, so nothing else can
  /// change the counts of a target without those of its namespace and of the whole.
  struct Authority {
    fileprivate init() {}
  }

  /// A target, to be changed in place. Its occupancy and its slots can only be read.
  subscript(place: Int) -> TargetState {
    _read { yield targets[place] }
    _modify { yield &targets[place] }
  }

  // MARK: Targets

  /// The place of a target; nil if it is not known.
  func place(of key: TargetKey) -> Int? { index[key] }

  /// How many targets are known.
  var count: Int { index.count }

  /// The places of all targets, in an order that is the same in every process.
  var places: [Int] { targets.indices.filter { !targets[$0].isForgotten } }

  /// Those of the targets of some shards, in the same order.
  func places(in shards: ShardSet) -> [Int] {
    shards.isEmpty ? [] : places.filter { shards.contains(target: targets[$0].key) }
  }

  /// Adds a target. Returns its place.
  mutating func add(_ key: TargetKey, at now: Timestamp) -> Int {
    let namespace = place(of: key.namespace)
    namespaces[namespace].countTargets(1)
    let rule = settings.rule(for: key)
    let state = TargetState(
      key: key, namespace: namespace, settings: settings.target(by: rule), pattern: rule?.match,
      most: settings.mostPerTarget, at: now)
    let place: Int
    if let free = freePlaces.popLast() {
      targets[free] = state
      place = free
    } else {
      place = targets.count
      targets.append(state)
    }
    rotation.addTarget(place)
    index[key] = place
    return place
  }

  /// Whether targets may be looked for that can be forgotten. If few were found, not again for a second, so that not
  /// every new target costs a look at all the others.
  mutating func beginForgetting(at now: Timestamp) -> Bool {
    guard now >= nextForgetting else { return false }
    nextForgetting = now + .seconds(1)
    return true
  }

  /// Forgets those of these targets that are idle and healthy.
  mutating func forgetIdle(among known: [Int], at now: Timestamp) {
    var forgotten = 0
    for place in known {
      guard targets[place].isForgettable(isQueued: isQueued(place), at: now) else {
        targets[place].forgetOldResults(at: now)
        continue
      }
      forget(place)
      forgotten += 1
    }
    if forgotten * 4 >= known.count { nextForgetting = now }
  }

  /// Whether a target's breaker is open only because there was no call for so long.
  func isStale(_ place: Int, at now: Timestamp) -> Bool {
    targets[place].isStale(isQueued: isQueued(place), at: now)
  }

  /// No target is forgotten before this time. Returns the time that held until now.
  mutating func postponeForgetting(until time: Timestamp) -> Timestamp {
    defer { nextForgetting = time }
    return nextForgetting
  }

  private func isQueued(_ place: Int) -> Bool { rotation.contains(place) || rotation.isNewcomer(place) }

  private mutating func forget(_ place: Int) {
    index[targets[place].key] = nil
    origins.forget(place)
    targets[place].forget()
    namespaces[targets[place].namespace].countTargets(-1)
    freePlaces.append(place)
  }

  /// Drops the targets of shards that another instance gets. None of their calls may be in memory. Returns the keys,
  /// and how many calls they had requested from the store.
  mutating func drop(_ shards: ShardSet) -> (keys: [TargetKey], expected: Int) {
    var keys: [TargetKey] = []
    var expected = 0
    for place in places(in: shards) {
      keys.append(targets[place].key)
      expected += targets[place].stored.expected
      targets[place] = TargetState(
        key: targets[place].key, namespace: targets[place].namespace, settings: settings.target, pattern: nil,
        most: settings.mostPerTarget, at: .epoch)
      forget(place)
    }
    rotation.drop { targets[$0].isForgotten }
    return (keys, expected)
  }

  // MARK: Namespaces

  /// Whether there is more than one namespace: besides the default one, any with unfinished calls or a key.
  var isShared: Bool { sharing > 0 }

  /// The place of a namespace; nil if it is not known.
  func knownPlace(of namespace: Namespace) -> Int? { namespace.isDefault ? 0 : namespaceIndex[namespace] }

  /// Returns the place of a namespace, and creates it if it is new.
  mutating func place(of namespace: Namespace) -> Int {
    if let place = knownPlace(of: namespace) { return place }
    namespaceIndex[namespace] = namespaces.count
    namespaces.append(NamespaceState(namespace))
    rotation.addLane()
    return namespaces.count - 1
  }

  /// Learns which namespaces have keys.
  mutating func know(_ keyed: [Namespace]) {
    for place in namespaces.indices { namespaces[place].setHasKey(false) }
    for namespace in keyed { namespaces[place(of: namespace)].setHasKey(true) }
    updateSharing()
  }

  /// Updates which namespaces count among those that share the engine.
  private mutating func updateSharing() {
    for place in namespaces.indices { updateSharing(of: place) }
  }

  private mutating func updateSharing(of place: Int) {
    sharing += namespaces[place].setSharing(
      place > 0 && (namespaces[place].hasKey || namespaces[place].unfinished > 0))
  }

  /// Takes over the namespaces in the store.
  mutating func recover(_ known: [(namespace: Namespace, unfinished: Int)], unfinished all: Int) {
    unfinished = all
    if known.isEmpty { namespaces[0].recover(unfinished: all) }
    for (namespace, count) in known { namespaces[place(of: namespace)].recover(unfinished: count) }
    updateSharing()
  }

  /// Changes the number of unfinished calls of a namespace.
  mutating func countUnfinished(_ change: Int, at place: Int) {
    unfinished += change
    namespaces[place].countUnfinished(change)
    updateSharing(of: place)
  }

  /// Changes the number of calls in the shards of others.
  mutating func countElsewhere(_ change: Int, at place: Int) {
    elsewhere += change
    namespaces[place].countElsewhere(change)
  }

  /// The store is about to count the unfinished calls.
  mutating func beginRecount() {
    for place in namespaces.indices { namespaces[place].beginRecount() }
  }

  /// Replaces the numbers of unfinished calls, here and in the shards of others, by those that the store has counted.
  mutating func recount(
    _ own: [(namespace: Namespace, unfinished: Int)], elsewhere others: [(namespace: Namespace, unfinished: Int)]
  ) {
    for place in namespaces.indices { namespaces[place].recount() }
    for (namespace, count) in own { namespaces[place(of: namespace)].addCounted(unfinished: count) }
    for (namespace, count) in others { namespaces[place(of: namespace)].addCounted(elsewhere: count) }
    unfinished = namespaces.reduce(0) { $0 + $1.unfinished }
    elsewhere = namespaces.reduce(0) { $0 + $1.elsewhere }
    updateSharing()
  }

  /// The counts of each namespace since the last request for them.
  mutating func takeTallies() -> [NamespaceTally] {
    var backlogs = [Int](repeating: 0, count: namespaces.count)
    for place in targets.indices where !targets[place].isForgotten && !targets[place].key.isOfWebhooks {
      backlogs[targets[place].namespace] += targets[place].dueCalls
    }
    return namespaces.indices.filter { !namespaces[$0].tally.isEmpty || backlogs[$0] > 0 }
      .map {
        NamespaceTally(
          namespace: namespaces[$0].namespace, tally: namespaces[$0].takeTally(), backlog: backlogs[$0])
      }
  }

  /// Counts the end of a call of a target.
  mutating func countEnd(of call: borrowing CallRecord, isClients: Bool, of place: Int, at now: Timestamp) {
    let (progress, time) = (call.progress, now - call.newSince)
    targets[place].countEnd(of: call.id, progress.state, after: time, at: now)
    guard isClients else { return }
    namespaces[targets[place].namespace].countEnd(progress.state, isRetried: progress.attempts > 1, after: time)
    durations.count(
      progress.state,
      CallDurations.Example(call: call.id, traceparent: call.spec.traceparent, time: time, at: now))
  }

  /// Counts an attempt that the target has ended.
  mutating func countAttempt(
    _ duration: Duration, succeeded: Bool, ended: Bool, isClients: Bool, of place: Int, at now: Timestamp
  ) {
    targets[place].count(duration, succeeded: succeeded, ended: ended, at: now)
    guard isClients else { return }
    namespaces[targets[place].namespace].countAttempt(duration, succeeded: succeeded, ended: ended)
  }

  // MARK: Occupancy

  /// A call of a target comes into memory.
  mutating func hold(_ bytes: Int, of place: Int) {
    usualBody += (bytes - usualBody) / 8
    targets[place].recordBodySize(bytes)
    targets[place].count(Authority()) { $0.hold(bytes) }
    namespaces[targets[place].namespace].occupancy.hold(bytes)
    occupancy.hold(bytes)
  }

  /// A call of a target leaves memory.
  mutating func release(_ bytes: Int, of place: Int) {
    targets[place].count(Authority()) { $0.release(bytes) }
    namespaces[targets[place].namespace].occupancy.release(bytes)
    occupancy.release(bytes)
  }

  /// A call of a target in memory becomes due.
  mutating func becomeReady(_ bytes: Int, isRetry: Bool, of place: Int) {
    let namespace = targets[place].namespace
    targets[place].countDue(1, isRetry: isRetry)
    let isFirst = targets[place].count(Authority()) { $0.becomeReady(bytes) }
    let isFirstOfNamespace = namespaces[namespace].occupancy.becomeReady(bytes)
    _ = occupancy.becomeReady(bytes)
    if isFirst { countBusy(1, isFirstOfNamespace ? 1 : 0, of: namespace) }
  }

  /// A due call of a target is started or leaves memory.
  mutating func leaveReady(_ bytes: Int, isRetry: Bool, of place: Int) {
    let namespace = targets[place].namespace
    targets[place].countDue(-1, isRetry: isRetry)
    let isLast = targets[place].count(Authority()) { $0.leaveReady(bytes) }
    let isLastOfNamespace = namespaces[namespace].occupancy.leaveReady(bytes)
    _ = occupancy.leaveReady(bytes)
    if isLast { countBusy(-1, isLastOfNamespace ? -1 : 0, of: namespace) }
  }

  private mutating func countBusy(_ targets: Int, _ spaces: Int, of namespace: Int) {
    namespaces[namespace].occupancy.countBusy(targets: targets)
    occupancy.countBusy(targets: targets, namespaces: spaces)
  }

  /// An attempt to a target starts.
  mutating func start(_ bytes: Int, of place: Int, at now: Timestamp) {
    targets[place].count(Authority()) { $0.start(bytes) }
    namespaces[targets[place].namespace].occupancy.start(bytes)
    occupancy.start(bytes)
    targets[place].count(Authority(), credit: { $0.start(at: now) })
    countBorrowed(of: place)
  }

  /// An attempt to a target was undone or has ended.
  ///
  /// - Parameter wasMade: Whether ``learn(_:of:)`` has learned from its end.
  mutating func stop(_ bytes: Int, of place: Int, wasMade: Bool) {
    targets[place].count(Authority()) { $0.stop(bytes) }
    namespaces[targets[place].namespace].occupancy.stop(bytes)
    occupancy.stop(bytes)
    rotation.free()
    let isLast = targets[place].occupancy.inFlight == 0
    if !wasMade { targets[place].count(Authority(), credit: { $0.undo(isLast: isLast) }) }
    countBorrowed(of: place)
  }

  /// The roster as it would be with one more free slot.
  func withFreeSlot() -> Roster {
    var copy = self
    copy.occupancy.stop(0)
    return copy
  }

  // MARK: Slots

  /// Records how long a response of a target took.
  mutating func recordResponseTime(_ duration: Duration, of place: Int) {
    targets[place].count(Authority(), credit: { $0.record(duration) })
  }

  /// Learns from the end of an attempt, which still counts as in flight.
  mutating func learn(_ sign: TargetSign, startedAt: Timestamp, of place: Int) {
    let (inFlight, most) = (targets[place].occupancy.inFlight, targets[place].limits.maxInFlight)
    targets[place].count(Authority(), credit: { $0.learn(sign, startedAt: startedAt, inFlight: inFlight, most: most) })
    countBorrowed(of: place)
  }

  /// Takes back a target's earned slots if it has been silent or idle for long.
  mutating func doubt(_ place: Int, at now: Timestamp) {
    let (inFlight, lastEnd) = (targets[place].occupancy.inFlight, targets[place].lastEnd)
    let silence = shared.leastSilence
    targets[place].count(
      Authority(), credit: { $0.doubt(inFlight: inFlight, lastEnd: lastEnd, leastSilence: silence, at: now) })
    countBorrowed(of: place)
  }

  private mutating func countBorrowed(of place: Int) {
    let inFlight = targets[place].occupancy.inFlight
    let change = targets[place].credit.borrowed(ofInFlight: inFlight) - targets[place].occupancy.borrowed
    guard change != 0 else { return }
    targets[place].count(Authority()) { $0.borrow(change) }
    namespaces[targets[place].namespace].occupancy.borrow(change)
    occupancy.borrow(change)
  }

  // MARK: Connections

  /// Whether a target may have another connection to an origin.
  func hasConnection(_ place: Int, to origin: UInt64) -> Bool {
    origins.hasConnection(to: origin, for: place, isProven: targets[place].credit.proven > 0)
  }

  /// Examines a target again when there is a connection to an origin for it.
  mutating func waitForConnection(_ place: Int, to origin: UInt64) {
    origins.wait(place, for: origin)
    targets[place].lacksConnection = true
  }

  /// An attempt to an origin starts.
  mutating func connect(_ place: Int, to origin: UInt64, at now: Timestamp) -> OriginTable.Connection {
    targets[place].lacksConnection = false
    return origins.start(place, to: origin, at: now)
  }

  /// A target has answered an attempt, which still counts as in flight.
  mutating func recordAnswer(
    to callers: @autoclosure () -> SlotHolders, of place: Int, on connection: OriginTable.Connection,
    isMultiplexed: Bool?, at now: Timestamp
  ) {
    targets[place].recordAnswer(to: callers(), at: now)
    origins.recordAnswer(on: connection, to: place, isMultiplexed: isMultiplexed, at: now)
  }

  /// An attempt has ended; the targets that wait for its connection are examined.
  mutating func disconnect(_ connection: OriginTable.Connection, of place: Int, startedAt: Timestamp) {
    let examined = origins.end(connection, of: place, startedAt: startedAt) { [targets] in targets[$0].credit.proven > 0
    }
    for next in examined { enterRotation(next) }
  }

  // MARK: Rotation

  /// Puts a target into the rotation, to be examined, if it has due calls.
  mutating func enterRotation(_ place: Int) {
    guard targets[place].hasDue else { return }
    rotation.enter(place, of: targets[place].namespace)
  }

  /// Takes out the next target to examine. A namespace that has its share of the attempts in flight, or whose targets
  /// all wait for the pool, keeps its place in the rotation.
  mutating func nextInRotation() -> Int? {
    for _ in 0..<rotation.count {
      guard let lane = rotation.first else { return nil }
      guard mayBegin(lane) else {
        rotation.skip()
        continue
      }
      rotation.removeFirst()
      admitNewcomer(of: lane)
      if let place = rotation.takeTarget(of: lane) { return place }
    }
    return nil
  }

  /// Admits the next target that waits for the pool, if the pool has a slot for its namespace.
  private mutating func admitNewcomer(of lane: Int) {
    guard rotation.newcomers(of: lane) > 0, mayBorrow(lane) else { return }
    while let place = rotation.takeNewcomer(of: lane) {
      guard !rotation.contains(place), targets[place].hasDue else { continue }
      return rotation.admit(place, of: lane)
    }
  }

  /// Examines a target again when slots become free, if it may not start an attempt now.
  mutating func waitForSlot(_ place: Int) {
    rotation.wait(place, of: targets[place].namespace, hasInFlight: targets[place].occupancy.inFlight > 0)
  }

  /// Examines targets that want more slots than they have, as far as attempts have ended.
  mutating func examineCrowded() {
    var count = rotation.takeFreed()
    while count > 0, let place = rotation.takeCrowded() {
      count -= 1
      enterRotation(place)
    }
  }

  /// Whether a target may go before those that wait for the pool. A target that would start its only attempt on a
  /// borrowed slot goes behind them, so that it does not take the slot of its ended attempt at once again.
  mutating func takeAdmission(_ place: Int) -> Bool {
    let lane = targets[place].namespace
    return rotation.takeAdmission(place, of: lane) || targets[place].occupancy.inFlight > 0
      || targets[place].credit.proven > 0 || rotation.hasNoNewcomers(lane)
  }
}
