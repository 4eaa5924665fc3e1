internal import RedialCore
internal import RedialModel

/// A target in the engine's memory: its breaker, its queue, and what is under way.
struct TargetState: Sendable {
  /// A place in the queue; void when the call's stamp has moved on.
  struct Place: Sendable {
    var id: CallID
    var stamp: UInt32
  }

  let key: String
  var breaker: CircuitBreaker
  /// Due calls in memory, oldest first, void places included.
  var queue = Queue<Place>()
  /// Due calls in memory.
  var ready = 0
  /// Calls in memory, in any phase.
  var held = 0
  /// Attempts under way.
  var inFlight = 0
  /// Due calls in the store.
  var stored = 0
  /// How many of those were put there since a refill was asked for; nil when none is under way.
  var storedSinceRefill: Int?
  /// How many calls were asked for with the refill that is under way.
  var expected = 0
  /// When a timer will have it looked at again.
  var nextLook: Timestamp?
  /// Whether it is in the engine's rotation.
  var inRotation = false
  /// Whether its place is free.
  var isForgotten = false

  init(key: String, breaker: CircuitBreaker) {
    self.key = key
    self.breaker = breaker
  }

  /// Whether nothing would be lost by forgetting it.
  var isForgettable: Bool {
    held == 0 && stored == 0 && inFlight == 0 && !inRotation && breaker.state == .closed
      && breaker.consecutiveFailures == 0
  }

  func snapshot(at now: Timestamp) -> TargetSnapshot {
    var breaker = breaker
    breaker.advance(to: now)
    let state: TargetSnapshot.BreakerState
    var openUntil: Timestamp?
    var trips = 0
    switch breaker.state {
    case .closed: state = .closed
    case .open(let until, let count):
      state = .open
      openUntil = until
      trips = count
    case .halfOpen(let probing):
      state = .halfOpen
      trips = probing.trips
    case .forced(.open): state = .open
    case .forced: state = .closed
    }
    return TargetSnapshot(
      key: key, breaker: state, openUntil: openUntil, trips: trips,
      consecutiveFailures: breaker.consecutiveFailures, inFlight: inFlight, waiting: ready + stored)
  }
}
