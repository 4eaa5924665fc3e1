internal import RedialModel

/// A namespace in the engine's memory: what it takes of what all share.
struct NamespaceState: Sendable {
  let namespace: Namespace
  /// Its calls that have not ended, here and in the store.
  var unfinished = 0
  /// By how much that has changed since the store was last asked for it.
  var drift = 0
  /// Its calls in the shards of others that have not ended, and by how much that has changed since.
  var elsewhere = 0
  var driftElsewhere = 0
  /// How its calls ended and attempts went since somebody last asked.
  var tally = CallTally()
  /// Its attempts under way.
  var inFlight = 0
  /// Those that its targets have borrowed; see Engine+Slots.
  var borrowed = 0
  /// Its calls in memory, those of attempts under way among them.
  var held = 0
  /// Its due calls in memory, the bytes of their bodies, and how many of its targets have one.
  var ready = 0
  var readyBytes = 0
  var busyTargets = 0
  /// Its targets that are remembered.
  var targets = 0
  /// Its targets that may have a call to start, each at most once, in turn.
  var rotation = Queue<Int>()
  /// Its targets that have nothing under way and wait for a slot of the pool, in turn.
  var newcomers = Queue<Int>()
  /// How many of them are in the rotation, since the pool had a slot for them.
  var admitted = 0
  /// Whether there is a key for it that is valid.
  var hasKey = false
  /// Whether it is counted among those that share the engine.
  var isSharing = false
  /// Whether it waits for its turn among the namespaces that have such a target.
  var isInTurn = false

  init(_ namespace: Namespace) {
    self.namespace = namespace
  }
}
