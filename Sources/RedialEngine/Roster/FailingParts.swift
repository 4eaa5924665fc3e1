internal import RedialCore
internal import RedialModel

/// What of a target fails again and again while the rest works, for people: paths, credentials and labels
/// (``CallSpec/callers``) of which no call has succeeded for many attempts.
struct FailingParts: Sendable {
  /// Failures in a row of one part.
  private struct Run: Sendable {
    let path: UInt64
    var part: FailingPart
    var failures = 0
    /// How many of them came after others had got through.
    var besideOthers = 0

    /// Whether it is a part that fails while the rest works.
    var isOne: Bool { failures >= FailingParts.least && besideOthers >= FailingParts.leastBesideOthers }
  }

  private var runs: [UInt64: Run] = [:]
  private var lastSuccess = Timestamp.epoch
  /// What this side fails with, and how often in a row.
  private var own: (part: FailingPart, failures: Int)?

  /// How many parts are watched.
  static let most = 16
  /// How many failures in a row make one, and how many of them after others had got through.
  static let least = 10
  static let leastBesideOthers = 2
  /// How many failures of this side in a row are shown.
  static let leastOwn = 3

  /// An attempt has failed on this side, which says nothing about the target.
  mutating func failedHere(_ call: CallID, _ cause: String, at now: Timestamp) {
    var (part, failures) = own ?? (FailingPart(.ownSide, since: now), 0)
    part.fail(call, cause, at: now)
    failures += 1
    own = (part, failures)
  }

  /// An attempt has failed.
  mutating func failed(_ spec: CallSpec, _ call: CallID, _ cause: @autoclosure () -> String, at now: Timestamp) {
    own = nil
    let callers = spec.callers
    var text: String?
    let known = isKnown(callers, at: now)
    callers.forEach { caller in
      if known, caller == callers.first { return }
      if runs[caller] == nil {
        guard hasRoom(), let mark = spec.mark(of: caller) else { return }
        runs[caller] = Run(path: callers.first, part: FailingPart(mark, since: now))
      }
      guard var run = runs[caller] else { return }
      run.failures += 1
      if lastSuccess >= run.part.since {
        run.besideOthers += 1
        text = text ?? cause()
        run.part.fail(call, text ?? "", at: now)
      }
      runs[caller] = run
    }
  }

  /// Whether a credential or a label of a call has failed since before its path did, which then is not blamed for it.
  private func isKnown(_ callers: SlotHolders, at now: Timestamp) -> Bool {
    let path = callers.first
    let pathFails = runs[path]?.part.since ?? now
    var known = false
    callers.forEach { caller in
      guard caller != path, let run = runs[caller] else { return }
      if run.isOne && run.part.since < pathFails { known = true }
    }
    return known
  }

  /// Whether one more can be watched. The one with the fewest failures makes room.
  private mutating func hasRoom() -> Bool {
    guard runs.count >= Self.most else { return true }
    guard
      // In an order that is the same in each process.
      let least = runs.min(by: {
        ($0.value.failures, $0.value.part.since, $0.key) < ($1.value.failures, $1.value.part.since, $1.key)
      }),
      least.value.failures < Self.least
    else { return false }
    runs[least.key] = nil
    return true
  }

  /// An attempt has succeeded.
  mutating func succeeded(_ spec: CallSpec, at now: Timestamp) {
    (lastSuccess, own) = (now, nil)
    if !runs.isEmpty { spec.callers.forEach { runs[$0] = nil } }
  }

  /// A call has ended.
  mutating func ended(_ call: CallID) {
    own?.part.end(call)
    guard !runs.isEmpty else { return }
    for caller in runs.keys { runs[caller]?.part.end(call) }
  }

  /// What fails while the rest works, what began first first. A path comes before what else its calls have, unless
  /// that has failed for longer.
  func shown(at now: Timestamp) -> [FailingPart] {
    if let own, own.failures >= Self.leastOwn, own.part.calls > 0 { return [own.part] }
    guard !runs.isEmpty, now - lastSuccess <= TargetState.recentMemory else { return [] }
    let failing = runs.filter { $0.value.isOne && $0.value.part.calls > 0 }
    let shown = failing.filter { key, run in
      guard key != run.path, let path = failing[run.path] else { return true }
      return run.part.since < path.part.since
    }
    .map(\.value.part)
    return Array(shown.sorted { ($0.since, $0.text) < ($1.since, $1.text) }.prefix(FailingPart.mostParts))
  }
}
