internal import RedialModel

/// A namespace in the engine's memory: its use of shared resources.
struct NamespaceState: Sendable {
  let namespace: Namespace
  /// Its unfinished calls, in memory and in the store.
  var unfinished = 0
  /// The change of that number since the store last counted.
  var drift = 0
  /// Its unfinished calls in the shards of others, and the change of that number since the store last counted.
  var elsewhere = 0
  var driftElsewhere = 0
  /// How its calls ended and its attempts went since the last request for the counts.
  var tally = CallTally()
  /// Its attempts in flight.
  var inFlight = 0
  /// Those that its targets have borrowed; see Engine+Slots.
  var borrowed = 0
  /// Its calls in memory, those with attempts in flight included.
  var held = 0
  /// Its due calls in memory, the bytes of their bodies, and how many of its targets have one.
  var ready = 0
  var readyBytes = 0
  var busyTargets = 0
  /// Number of its remembered targets.
  var targets = 0
  /// The rotation of its targets that may have a call to start; each is in it at most once.
  var rotation = Queue<Int>()
  /// Its targets without an attempt in flight that wait for a slot of the pool, in order.
  var newcomers = Queue<Int>()
  /// How many of them are in the rotation because the pool had a slot for them.
  var admitted = 0
  /// Whether it has a valid API key.
  var hasKey = false
  /// Whether it counts among those that share the engine.
  var isSharing = false
  /// Whether it is in the rotation of namespaces.
  var isInRotation = false

  init(_ namespace: Namespace) {
    self.namespace = namespace
  }
}
