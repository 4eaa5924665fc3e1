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
  }

  private var runs: [UInt64: Run] = [:]
  private var lastSuccess = Timestamp.epoch

  /// How many parts are watched.
  static let most = 16
  /// How many failures in a row make one, and how many of them after others had got through.
  static let least = 10
  static let leastBesideOthers = 2

  /// An attempt has failed.
  mutating func failed(_ spec: CallSpec, _ call: CallID, _ cause: @autoclosure () -> String, at now: Timestamp) {
    let callers = spec.callers
    var text: String?
    callers.forEach { caller in
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

  /// Whether one more can be watched. The one with the fewest failures makes room.
  private mutating func hasRoom() -> Bool {
    guard runs.count >= Self.most else { return true }
    guard
      let least = runs.min(by: { ($0.value.failures, $0.value.part.since) < ($1.value.failures, $1.value.part.since) }),
      least.value.failures < Self.least
    else { return false }
    runs[least.key] = nil
    return true
  }

  /// An attempt has succeeded.
  mutating func succeeded(_ spec: CallSpec, at now: Timestamp) {
    lastSuccess = now
    if !runs.isEmpty { spec.callers.forEach { runs[$0] = nil } }
  }

  /// A call has ended.
  mutating func ended(_ call: CallID) {
    guard !runs.isEmpty else { return }
    for caller in runs.keys { runs[caller]?.part.end(call) }
  }

  /// What fails while the rest works, what began first first. A path comes before what else its calls have.
  func shown(at now: Timestamp) -> [FailingPart] {
    guard !runs.isEmpty, now - lastSuccess <= TargetState.recentMemory else { return [] }
    let failing = runs.filter {
      $0.value.failures >= Self.least && $0.value.besideOthers >= Self.leastBesideOthers && $0.value.part.calls > 0
    }
    let shown = failing.filter { $0.key == $0.value.path || failing[$0.value.path] == nil }.map(\.value.part)
    return Array(shown.sorted { ($0.since, $0.text) < ($1.since, $1.text) }.prefix(FailingPart.mostParts))
  }
}
