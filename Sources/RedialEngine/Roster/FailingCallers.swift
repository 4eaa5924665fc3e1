internal import RedialCore
internal import RedialModel

/// Which callers of a target fail (``CallSpec/callers``), so that they hold no others: whose calls have failed since the
/// last success, in the outage that this may become, and after it.
///
/// In an outage the call that tells most is one of a caller that has not failed: when it gets through, the target is up.
/// What fails on is then a matter of its caller alone, for as long as others get through. Without failures nothing is
/// known and nothing is looked up.
struct FailingCallers: Sendable {
  private enum Standing: Sendable {
    /// It has failed since the last success. Leads to `down` when the breaker opens; a success of anybody forgets it.
    case failed
    /// It is being tried for the first time in an outage. Leads to `down`.
    case tried
    /// It has failed in an outage. Leads to `blamed`.
    case down
    /// It has failed after the outage, too, while others got through.
    case blamed
  }

  private var standings: [UInt64: Standing] = [:]
  /// How many attempts of each have failed, while it is known.
  private var failures: [UInt64: Int] = [:]
  /// Whose calls have succeeded in this outage, or since, and have not failed in it after that.
  private var working: Set<UInt64> = []
  /// Whether the outage ended by the success of a path that had not failed in it, and none that had works yet. Then
  /// nobody knows whether there was an outage of the target, or only of what fails on.
  private(set) var isUnproven = false
  /// Whether a call that is not blamed has failed since the last success.
  private var hasOtherFailure = false
  /// When a caller last failed that had failed in the outage, or in it.
  private var lastFailure = Timestamp.epoch

  /// How many callers are remembered; all others count as one, which has failed. Credentials and labels are remembered up
  /// to half of that, so that labels of which each call has its own leave room for paths.
  static let most = 128

  /// Whether nothing is known, so that all calls are alike.
  var isEmpty: Bool { standings.isEmpty }

  private func has(_ caller: UInt64, _ standing: Standing) -> Bool { standings[caller] == standing }

  /// Whether a caller has not failed in this outage, or has succeeded since.
  private func isUntainted(_ caller: UInt64, within most: Int) -> Bool {
    standings[caller] == nil && (standings.count < most || working.contains(caller))
  }

  /// Whether a call tells more about a target in an outage than one that has failed in it: by its path, its credential or a
  /// label it is of a kind that has not. Where nothing has failed, such as after a restart, all are alike.
  func isTelling(_ callers: @autoclosure () -> SlotHolders) -> Bool {
    guard !standings.isEmpty else { return false }
    let callers = callers()
    return isUntainted(callers.first, within: Self.most)
      || callers.others.contains { isUntainted($0, within: Self.most / 2) }
  }

  /// How little a call tells in an outage: how often callers of it have failed. A label that each call has another of does
  /// not make the calls of a dead path tell as much as the first of a path that has not failed.
  func doubt(_ callers: SlotHolders) -> Int {
    callers.others.reduce(failures[callers.first, default: 0]) { $0 + failures[$1, default: 0] }
  }

  /// Whether a call is of a kind that fails: by its path or, if that works for others, by a credential or a label.
  func fails(_ callers: @autoclosure () -> SlotHolders) -> Bool {
    guard !standings.isEmpty else { return false }
    let callers = callers()
    if let path = standings[callers.first] { return path != .failed }
    return working.contains(callers.first) && callers.others.contains { has($0, .blamed) }
  }

  // MARK: Ends of attempts

  /// A call is tried in an outage. Until that has ended, others of its kind tell no more.
  mutating func tried(_ callers: SlotHolders) { remember(callers, as: .tried) }

  /// The try has ended, and says nothing about the target.
  mutating func untried(_ callers: SlotHolders) {
    callers.forEach { if has($0, .tried) { forget($0) } }
  }

  /// An attempt has failed. Returns whether that is a matter of its caller alone, because the calls of others got through
  /// when it failed.
  ///
  /// - Parameter isDown: Whether the breaker is not closed.
  mutating func failed(_ callers: SlotHolders, isDown: Bool, at now: Timestamp) -> Bool {
    callers.forEach { if standings[$0] != nil { failures[$0, default: 0] += 1 } }
    if isDown {
      lastFailure = now
      callers.forEach { working.remove($0) }
      remember(callers, as: .down)
      return false
    }
    // Where the path works for others, it is what else the call has.
    let suspects = working.contains(callers.first) ? callers.others : [callers.first]
    if suspects.contains(where: { has($0, .blamed) }) {
      lastFailure = now
      return true
    }
    // The first failure after the outage still counts: it may begin the next.
    var isKnown = false
    for caller in suspects where has(caller, .down) || has(caller, .tried) {
      standings[caller] = .blamed
      isKnown = true
    }
    if isKnown { lastFailure = now } else { hasOtherFailure = true }
    remember(callers, as: .failed)
    return false
  }

  private mutating func remember(_ callers: SlotHolders, as standing: Standing) {
    add(callers.first, as: standing, within: Self.most)
    for caller in callers.others { add(caller, as: standing, within: Self.most / 2) }
  }

  private mutating func add(_ caller: UInt64, as standing: Standing, within most: Int) {
    switch standings[caller] {
    case nil:
      guard standings.count < most else { return }
      standings[caller] = standing
      if standing != .tried { failures[caller] = 1 }
    case .tried where standing == .down: standings[caller] = standing
    case .failed, .tried, .down, .blamed: break
    }
  }

  /// An attempt has succeeded. Returns whether its path had failed in the outage.
  mutating func succeeded(_ callers: SlotHolders, isDown: Bool, at now: Timestamp) -> Bool {
    // Without an outage a run of failures is over, and one that is long over does not matter.
    let hasPast = !working.isEmpty && now - lastFailure <= TargetState.recentMemory
    guard isDown || hasPast else {
      self = FailingCallers()
      return false
    }
    let wasDown = has(callers.first, .down) || has(callers.first, .blamed)
    callers.forEach { caller in
      forget(caller)
      if working.count < Self.most { working.insert(caller) }
    }
    if hasOtherFailure, !isDown { for (caller, standing) in standings where standing == .failed { forget(caller) } }
    hasOtherFailure = false
    if standings.isEmpty { self = FailingCallers() }
    return wasDown
  }

  private mutating func forget(_ caller: UInt64) {
    standings[caller] = nil
    failures[caller] = nil
  }

  // MARK: Outages

  /// The breaker has opened: those that have failed since the last success are down. Those that failed before stay blamed.
  mutating func beginOutage() {
    for (caller, standing) in standings where standing != .blamed { standings[caller] = .down }
    working = []
    isUnproven = false
    hasOtherFailure = false
  }

  /// The breaker has closed by a success.
  ///
  /// - Parameter wasDown: Whether its path had failed in the outage.
  mutating func endOutage(wasDown: Bool) {
    isUnproven = !wasDown && !standings.isEmpty
  }

  /// What failed in the outage works again: it was one of the target. Returns whether that was not known.
  mutating func prove() -> Bool {
    defer { isUnproven = false }
    return isUnproven
  }
}
