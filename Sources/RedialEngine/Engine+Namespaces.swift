internal import RedialCore
internal import RedialModel

/// How namespaces share one engine, so that none can keep another from its own.
///
/// Attempts begin in turn between namespaces, and within each in turn between its targets: how many targets or calls one
/// has makes no difference to the others. As long as there is one namespace only, all of it costs a comparison; the first
/// call, or key, of another switches the bounds on, until its calls have ended and its keys are revoked.
///
/// ``EngineSettings/namespaceShare`` says how much of what is bounded one namespace may take. Of the attempts under way
/// the bound is a moving one (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998):
/// with a share of a half a namespace may have as many as are left free, so that one alone has half of all, two have a
/// third each, and something is free for whoever comes next, since attempts under way cannot be taken back. What
/// waits can be, or takes its time: there the bound is the plain share, which also tells nobody what others have.
extension Engine {
  /// Whether there is more than one: beside the default one, any that has calls which have not ended, or a key.
  var isShared: Bool { sharing > 0 }

  /// Takes over which namespaces there are keys of.
  mutating func know(_ namespaces: [Namespace]) {
    for place in self.namespaces.indices { self.namespaces[place].hasKey = false }
    for namespace in namespaces { self.namespaces[place(of: namespace)].hasKey = true }
    for place in self.namespaces.indices { noteSharing(place) }
  }

  /// Counts a namespace among those that share the engine, or no longer does.
  private mutating func noteSharing(_ place: Int) {
    let isSharing = place > 0 && (namespaces[place].hasKey || namespaces[place].unfinished > 0)
    guard isSharing != namespaces[place].isSharing else { return }
    namespaces[place].isSharing = isSharing
    sharing += isSharing ? 1 : -1
  }

  /// The place of a namespace, which is made if it is new.
  mutating func place(of namespace: Namespace) -> Int {
    if namespace.isDefault { return 0 }
    if let place = namespaceIndex[namespace] { return place }
    namespaceIndex[namespace] = namespaces.count
    namespaces.append(NamespaceState(namespace))
    return namespaces.count - 1
  }

  /// Takes over what the store knows of namespaces.
  mutating func recover(_ known: [(namespace: Namespace, unfinished: Int)], unfinished all: Int) {
    unfinished = all
    if known.isEmpty { namespaces[0].unfinished = all }
    for (namespace, count) in known { namespaces[place(of: namespace)].unfinished = count }
    for place in namespaces.indices { noteSharing(place) }
  }

  /// Counts calls of a namespace that have not ended, more or fewer.
  mutating func countUnfinished(_ change: Int, at place: Int) {
    unfinished += change
    namespaces[place].unfinished += change
    namespaces[place].drift += change
    noteSharing(place)
  }

  /// Takes over how many calls have not ended, as the store counted them when it was asked.
  mutating func recount(_ known: [(namespace: Namespace, unfinished: Int)]) {
    for place in namespaces.indices { namespaces[place].unfinished = namespaces[place].drift }
    for (namespace, count) in known { namespaces[place(of: namespace)].unfinished += count }
    unfinished = namespaces.reduce(0) { $0 + $1.unfinished }
    for place in namespaces.indices { noteSharing(place) }
  }

  /// What was counted in each namespace since this was last asked.
  mutating func takeTallies() -> [(namespace: Namespace, tally: CallTally)] {
    var tallies: [(namespace: Namespace, tally: CallTally)] = []
    for place in namespaces.indices where !namespaces[place].tally.isEmpty {
      tallies.append((namespaces[place].namespace, namespaces[place].tally))
      namespaces[place].tally = CallTally()
    }
    return tallies
  }

  /// Counts calls in the shards of others, more or fewer.
  mutating func countElsewhere(_ change: Int, at place: Int) {
    elsewhere += change
    namespaces[place].elsewhere += change
    namespaces[place].driftElsewhere += change
  }

  /// Takes over how many calls in the shards of others have not ended, as the store counted them when it was asked.
  mutating func recountElsewhere(_ known: [(namespace: Namespace, unfinished: Int)]) {
    for place in namespaces.indices { namespaces[place].elsewhere = namespaces[place].driftElsewhere }
    for (namespace, count) in known { namespaces[place(of: namespace)].elsewhere += count }
    elsewhere = namespaces.reduce(0) { $0 + $1.elsewhere }
  }

  /// The identity of a new call. Where there is more than one namespace, none can count by its own identities how many
  /// calls the others hand over.
  mutating func nextID() -> CallID {
    isShared ? ids.next(at: now, skipping: Int(random.next() & 7)) : ids.next(at: now)
  }

  // MARK: Turns

  /// Puts a target behind the others of its namespace, and the namespace, if it was not there, behind the others.
  mutating func appendToRotation(_ index: Int) {
    let place = targets[index].namespace
    namespaces[place].rotation.append(index)
    takeTurn(place)
  }

  /// Puts a namespace, if it was not there, behind the others.
  mutating func takeTurn(_ place: Int) {
    guard !namespaces[place].isInTurn else { return }
    namespaces[place].isInTurn = true
    turns.append(place)
  }

  /// Takes out the target that is next to be looked at. A namespace that has its share of the attempts under way, or
  /// whose targets all wait for the pool, keeps its place in the turn.
  mutating func nextInRotation() -> Int? {
    for _ in 0..<turns.count {
      guard let place = turns.popFirst() else { return nil }
      guard mayBegin(place) else {
        turns.append(place)
        continue
      }
      namespaces[place].isInTurn = false
      admitNewcomer(at: place)
      let index = namespaces[place].rotation.popFirst()
      if !namespaces[place].rotation.isEmpty || !namespaces[place].newcomers.isEmpty { takeTurn(place) }
      if let index { return index }
    }
    return nil
  }

  /// Whether a namespace may begin another attempt, as far as its share goes.
  func mayBegin(_ place: Int) -> Bool {
    guard isShared, settings.namespaceShare < 1 else { return true }
    let free = settings.maxInFlight - inFlight
    return Double(namespaces[place].inFlight) * (1 - settings.namespaceShare) < Double(free) * settings.namespaceShare
  }

  // MARK: Shares

  /// What one namespace may have of a bound.
  func namespaceShare(of bound: Int) -> Int {
    guard isShared, settings.namespaceShare < 1 else { return bound }
    return max(1, Int(min(Double(bound) * settings.namespaceShare, 9e18)))
  }

  /// Whether one more call of a namespace may wait in memory, as far as its share goes.
  func hasNamespaceRoom(_ place: Int) -> Bool {
    !isShared || namespaces[place].held - namespaces[place].inFlight < namespaceShare(of: settings.maxHeld)
  }

  /// Why a namespace can have no further call; nil when it can. One that has less than an equal part of the backlog is
  /// not refused for what others have.
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

  /// Why a namespace can have no call to a target that is not remembered; nil when it can. Calls go on to as many targets
  /// again as are remembered, since most can be forgotten soon; past that, a namespace that has more than its equal part
  /// makes do with those that it has.
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

  /// Why a namespace can have no further target set up; nil when it can.
  func refusalOfTarget(at place: Int) -> Problem? {
    let bound = namespaceShare(of: settings.maxTargets)
    guard namespaces[place].targets >= bound else { return nil }
    return Problem(
      status: 409, code: "tooManyTargets", title: "There are too many targets",
      detail: "\(bound) targets are remembered, and all of them are in use or have settings.")
  }
}
