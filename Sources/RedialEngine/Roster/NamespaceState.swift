internal import RedialModel

/// A namespace in the engine's memory: its backlog, and its use of shared resources.
struct NamespaceState: Sendable {
  let namespace: Namespace
  /// Its unfinished calls, in memory and in the store.
  private(set) var unfinished = 0
  /// Its unfinished calls in the shards of others.
  private(set) var elsewhere = 0
  /// The changes of these two numbers since the store last counted.
  private var drift = 0
  private var driftElsewhere = 0
  /// How its calls ended and its attempts went since the last request for the counts.
  private(set) var tally = CallTally()
  /// What its calls occupy.
  var occupancy = Occupancy()
  /// Number of its remembered targets.
  private(set) var targets = 0
  /// Whether it has a valid API key.
  private(set) var hasKey = false
  /// Whether it counts among those that share the engine.
  private(set) var isSharing = false

  init(_ namespace: Namespace) {
    self.namespace = namespace
  }

  // MARK: Backlog

  /// Takes over the number of unfinished calls in the store.
  mutating func recover(unfinished count: Int) {
    unfinished = count
  }

  /// Changes the number of unfinished calls.
  mutating func countUnfinished(_ change: Int) {
    unfinished += change
    drift += change
  }

  /// Changes the number of unfinished calls in the shards of others.
  mutating func countElsewhere(_ change: Int) {
    elsewhere += change
    driftElsewhere += change
  }

  /// The store is about to count.
  mutating func beginRecount() {
    (drift, driftElsewhere) = (0, 0)
  }

  /// The store has counted. Only what has changed since is kept; ``addCounted(unfinished:elsewhere:)`` adds the rest.
  mutating func recount() {
    (unfinished, elsewhere) = (drift, driftElsewhere)
  }

  /// Adds what the store has counted.
  mutating func addCounted(unfinished: Int = 0, elsewhere: Int = 0) {
    self.unfinished += unfinished
    self.elsewhere += elsewhere
  }

  // MARK: The rest

  /// It has a valid API key, or none.
  mutating func setHasKey(_ hasKey: Bool) {
    self.hasKey = hasKey
  }

  /// It shares the engine, or does not. Returns the change in the number of those that do.
  mutating func setSharing(_ shares: Bool) -> Int {
    guard shares != isSharing else { return 0 }
    isSharing = shares
    return shares ? 1 : -1
  }

  /// Changes the number of its remembered targets.
  mutating func countTargets(_ change: Int) {
    targets += change
  }

  /// Counts the end of a call.
  mutating func countEnd(_ state: StoredState, isRetried: Bool, after time: Duration) {
    tally.countEnd(state, isRetried: isRetried, after: time)
  }

  /// Counts an attempt that its target has ended.
  mutating func countAttempt(_ duration: Duration, succeeded: Bool, ended: Bool) {
    tally.countAttempt(duration, succeeded: succeeded, ended: ended)
  }

  /// Returns the counts since the last request for them, and starts anew.
  mutating func takeTally() -> CallTally {
    defer { tally = CallTally() }
    return tally
  }
}
