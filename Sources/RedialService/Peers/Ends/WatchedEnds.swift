internal import RedialCore
internal import RedialModel

/// Which calls of this instance others wait for, each by the sessions of those who do.
///
/// A wait of a client is short, so what nobody has ended for a while is forgotten: whoever still waits looks in the store.
struct WatchedEnds: Sendable {
  /// Maximum number of calls.
  static let most = 50_000
  /// For how long they are remembered, at least; at most for twice as long.
  static let memory = Duration.seconds(120)

  /// Those that were added since `agedAt`, and those that were before.
  private var (young, old): ([CallID: Set<Int64>], [CallID: Set<Int64>]) = ([:], [:])
  private var agedAt = Timestamp.epoch

  /// How many calls there are.
  var count: Int { young.count + old.count }

  /// Adds calls.
  ///
  /// - Returns: False if there is no room.
  mutating func add(_ calls: [CallID], for session: Int64, at now: Timestamp) -> Bool {
    age(at: now)
    guard count + calls.count <= Self.most else { return false }
    for call in calls { young[call, default: []].insert(session) }
    return true
  }

  /// What is young becomes old, and what is old is forgotten, when its time has come.
  private mutating func age(at now: Timestamp) {
    guard now - agedAt >= Self.memory else { return }
    (old, young, agedAt) = (now - agedAt >= Self.memory * 2 ? [:] : young, [:], now)
  }

  /// Calls have ended. Returns those that are waited for, with the sessions.
  mutating func ended(_ calls: some Sequence<CallID>, at now: Timestamp) -> [(call: CallID, session: Int64)] {
    age(at: now)
    var news: [(call: CallID, session: Int64)] = []
    for call in calls {
      let sessions = (young.removeValue(forKey: call) ?? []).union(old.removeValue(forKey: call) ?? [])
      news += sessions.map { (call, $0) }
    }
    return news
  }
}
