/// What calls occupy: of one target, of one namespace, or of the whole engine. All three levels count in the same way.
///
/// A wrong count would let too many attempts start, or none any more, so nothing goes on with one.
struct Occupancy: Sendable, Equatable {
  /// Calls in memory, in any phase, and the bytes of their bodies.
  private(set) var held = 0
  private(set) var heldBytes = 0
  /// Due calls in memory, and the bytes of their bodies.
  private(set) var ready = 0
  private(set) var readyBytes = 0
  /// Attempts in flight, and the bytes of their bodies.
  private(set) var inFlight = 0
  private(set) var runningBytes = 0
  /// Attempts in flight on slots that are borrowed from the pool; see Roster+Slots.
  private(set) var borrowed = 0
  /// How many of its targets, and of its namespaces, have a due call in memory.
  private(set) var busyTargets = 0
  private(set) var busyNamespaces = 0

  /// Calls in memory that are not in flight, and the bytes of their bodies.
  var waiting: Int { held - inFlight }
  var waitingBytes: Int { heldBytes - runningBytes }

  /// A call comes into memory.
  mutating func hold(_ bytes: Int) {
    held += 1
    heldBytes += bytes
  }

  /// A call leaves memory.
  mutating func release(_ bytes: Int) {
    held -= 1
    heldBytes -= bytes
    precondition((held | heldBytes) >= 0, "A call leaves memory that is not in it.")
  }

  /// A call in memory becomes due. Returns whether it is the only due one here.
  mutating func becomeReady(_ bytes: Int) -> Bool {
    ready += 1
    readyBytes += bytes
    return ready == 1
  }

  /// A due call is started or leaves memory. Returns whether it was the last due one here.
  mutating func leaveReady(_ bytes: Int) -> Bool {
    ready -= 1
    readyBytes -= bytes
    precondition((ready | readyBytes) >= 0, "A call is due no more that was not due.")
    return ready == 0
  }

  /// Changes how many of the targets and of the namespaces have a due call.
  mutating func countBusy(targets: Int, namespaces: Int = 0) {
    busyTargets += targets
    busyNamespaces += namespaces
  }

  /// An attempt starts.
  mutating func start(_ bytes: Int) {
    inFlight += 1
    runningBytes += bytes
  }

  /// An attempt has ended.
  mutating func stop(_ bytes: Int) {
    inFlight -= 1
    runningBytes -= bytes
    precondition((inFlight | runningBytes) >= 0, "An attempt ends that has not begun.")
  }

  /// Changes how many slots are borrowed.
  mutating func borrow(_ change: Int) {
    borrowed += change
    precondition(borrowed >= 0, "A slot is given back that was not borrowed.")
  }
}
