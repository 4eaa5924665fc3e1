internal import RedialCore
internal import RedialModel

/// How namespaces share one engine, so that none can starve another.
///
/// Attempts start alternately between namespaces, and within each alternately between its targets. So the number of
/// targets or calls of one namespace makes no difference to the others. While there is only one namespace, all of
/// this costs a comparison. The first call or key of another one switches the limits on, until its calls have ended
/// and its keys are revoked.
///
/// ``EngineSettings/namespaceShare`` is the share of each limited resource that one namespace may take. For attempts
/// in flight the limit moves (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2),
/// 1998): with a share of a half, a namespace may have as many as are left free. So one alone has a half, two have a
/// third each, and something is always free for the next, because attempts in flight cannot be taken back. Waiting
/// calls can be moved to the store, so for them the limit is simply the share, which also tells nobody how much
/// others have.
extension Engine {
  /// Whether there is more than one namespace: besides the default one, any with unfinished calls or a key.
  var isShared: Bool { sharing > 0 }

  /// Learns which namespaces have keys.
  mutating func know(_ namespaces: [Namespace]) {
    for place in self.namespaces.indices { self.namespaces[place].hasKey = false }
    for namespace in namespaces { self.namespaces[place(of: namespace)].hasKey = true }
    for place in self.namespaces.indices { noteSharing(place) }
  }

  /// Updates whether a namespace counts among those that share the engine.
  private mutating func noteSharing(_ place: Int) {
    let isSharing = place > 0 && (namespaces[place].hasKey || namespaces[place].unfinished > 0)
    guard isSharing != namespaces[place].isSharing else { return }
    namespaces[place].isSharing = isSharing
    sharing += isSharing ? 1 : -1
  }

  /// Returns the place of a namespace, and creates it if it is new.
  mutating func place(of namespace: Namespace) -> Int {
    if namespace.isDefault { return 0 }
    if let place = namespaceIndex[namespace] { return place }
    namespaceIndex[namespace] = namespaces.count
    namespaces.append(NamespaceState(namespace))
    return namespaces.count - 1
  }

  /// Takes over the namespaces in the store.
  mutating func recover(_ known: [(namespace: Namespace, unfinished: Int)], unfinished all: Int) {
    unfinished = all
    if known.isEmpty { namespaces[0].unfinished = all }
    for (namespace, count) in known { namespaces[place(of: namespace)].unfinished = count }
    for place in namespaces.indices { noteSharing(place) }
  }

  /// Changes the number of unfinished calls of a namespace.
  mutating func countUnfinished(_ change: Int, at place: Int) {
    unfinished += change
    namespaces[place].unfinished += change
    namespaces[place].drift += change
    noteSharing(place)
  }

  /// Replaces the numbers of unfinished calls by those that the store has counted.
  mutating func recount(_ known: [(namespace: Namespace, unfinished: Int)]) {
    for place in namespaces.indices { namespaces[place].unfinished = namespaces[place].drift }
    for (namespace, count) in known { namespaces[place(of: namespace)].unfinished += count }
    unfinished = namespaces.reduce(0) { $0 + $1.unfinished }
    for place in namespaces.indices { noteSharing(place) }
  }

  /// The counts of each namespace since the last request for them.
  mutating func takeTallies() -> [(namespace: Namespace, tally: CallTally)] {
    var tallies: [(namespace: Namespace, tally: CallTally)] = []
    for place in namespaces.indices where !namespaces[place].tally.isEmpty {
      tallies.append((namespaces[place].namespace, namespaces[place].tally))
      namespaces[place].tally = CallTally()
    }
    return tallies
  }

  /// Changes the number of calls in the shards of others.
  mutating func countElsewhere(_ change: Int, at place: Int) {
    elsewhere += change
    namespaces[place].elsewhere += change
    namespaces[place].driftElsewhere += change
  }

  /// Replaces the numbers of unfinished calls in the shards of others by those that the store has counted.
  mutating func recountElsewhere(_ known: [(namespace: Namespace, unfinished: Int)]) {
    for place in namespaces.indices { namespaces[place].elsewhere = namespaces[place].driftElsewhere }
    for (namespace, count) in known { namespaces[place(of: namespace)].elsewhere += count }
    elsewhere = namespaces.reduce(0) { $0 + $1.elsewhere }
  }

  /// The id of a new call. If there is more than one namespace, a client must not be able to count the calls of
  /// others by the ids of its own.
  mutating func nextID() -> CallID {
    isShared ? ids.next(at: now, skipping: Int(random.next() & 7)) : ids.next(at: now)
  }

  // MARK: Turns

  /// Puts a target at the end of its namespace's queue, and the namespace at the end of the rotation if it was not in
  /// it.
  mutating func appendToRotation(_ index: Int) {
    let place = targets[index].namespace
    namespaces[place].rotation.append(index)
    enterRotation(namespace: place)
  }

  /// Puts a namespace at the end of the rotation, if it was not in it.
  mutating func enterRotation(namespace place: Int) {
    guard !namespaces[place].isInRotation else { return }
    namespaces[place].isInRotation = true
    rotation.append(place)
  }

  /// Takes out the next target to examine. A namespace that has its share of the attempts in flight, or whose targets
  /// all wait for the pool, keeps its place in the rotation.
  mutating func nextInRotation() -> Int? {
    for _ in 0..<rotation.count {
      guard let place = rotation.popFirst() else { return nil }
      guard mayBegin(place) else {
        rotation.append(place)
        continue
      }
      namespaces[place].isInRotation = false
      admitNewcomer(at: place)
      let index = namespaces[place].rotation.popFirst()
      if !namespaces[place].rotation.isEmpty || !namespaces[place].newcomers.isEmpty { enterRotation(namespace: place) }
      if let index { return index }
    }
    return nil
  }

  /// Whether its share allows a namespace to start another attempt.
  func mayBegin(_ place: Int) -> Bool {
    guard isShared, settings.namespaceShare < 1 else { return true }
    let free = settings.maxInFlight - inFlight
    return Double(namespaces[place].inFlight) * (1 - settings.namespaceShare) < Double(free) * settings.namespaceShare
  }

  // MARK: Shares

  /// The share of a limit that one namespace may have.
  func namespaceShare(of bound: Int) -> Int {
    guard isShared, settings.namespaceShare < 1 else { return bound }
    return max(1, Int(min(Double(bound) * settings.namespaceShare, 9e18)))
  }

  /// Whether its share allows one more call of a namespace to wait in memory.
  func hasNamespaceRoom(_ place: Int) -> Bool {
    !isShared || namespaces[place].held - namespaces[place].inFlight < namespaceShare(of: settings.maxHeld)
  }

  /// Why a namespace may have no further call; nil if it may. A namespace with less than an equal part of the backlog
  /// is not refused because of others.
  mutating func refusal(in namespace: Namespace) -> Problem? {
    if let problem = standstill() { return problem }
    guard isShared else { return refusal() }
    let place = place(of: namespace)
    let own = namespaces[place].unfinished + namespaces[place].elsewhere
    let isGuaranteed = own < settings.maxUnfinished / (1 + sharing)
    if !isGuaranteed, let problem = refusal() { return problem }
    let bound = namespaceShare(of: settings.maxUnfinished)
    guard own >= bound else { return nil }
    return Problem(
      status: 503, code: "namespaceBacklogFull", title: "The backlog of the namespace is full",
      detail: "\(bound) calls of this namespace have not ended yet, which is the maximum for one "
        + "(namespaceShare of maxUnfinished). Try again later.",
      retryAfter: 30)
  }

  /// Why a namespace may have no call to a target that is not remembered; nil if it may. Calls may go to twice as
  /// many targets as are remembered, because most can be forgotten soon. Beyond that, a namespace that has more than
  /// its equal part cannot add targets.
  mutating func refusalOfNewTarget(_ key: String) -> Problem? {
    guard targetIndex.count >= 2 * settings.maxTargets, targetIndex[key] == nil else { return nil }
    forgetIdleTargets()
    let place = place(of: QualifiedKey.namespace(of: key))
    guard targetIndex.count >= 2 * settings.maxTargets,
      namespaces[place].targets >= max(1, settings.maxTargets / namespaces.count)
    else { return nil }
    return Problem(
      status: 503, code: "tooManyTargets", title: "There are too many targets",
      detail: "\(targetIndex.count) targets have calls or a breaker that is not closed, and \(QualifiedKey.bare(key)) "
        + "would be one more. Try again later.",
      retryAfter: 30)
  }

  /// Why a namespace may not configure a further target; nil if it may.
  func refusalOfTarget(at place: Int) -> Problem? {
    let bound = namespaceShare(of: settings.maxTargets)
    guard namespaces[place].targets >= bound else { return nil }
    return Problem(
      status: 409, code: "tooManyTargets", title: "There are too many targets",
      detail: "\(bound) targets are remembered, and all of them are in use or have settings.")
  }
}
