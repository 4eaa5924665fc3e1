internal import RedialCore
internal import RedialModel

/// The state while the store fails: new calls are refused, and the writes of accepted calls are kept and tried again.
/// The trouble ends only when these are on disk.
struct StoreTrouble: Sendable {
  /// Writes, and the actions that follow their commit.
  struct Backlog: Sendable {
    fileprivate(set) var writes: [StoreWrite] = []
    fileprivate(set) var then: [Action] = []

    fileprivate mutating func append(_ actions: [Action], _ more: [StoreWrite]) {
      writes += more
      then += actions
    }
  }

  /// When to try the store again.
  private(set) var until: Timestamp
  /// The answer to new calls meanwhile.
  private(set) var refusal: Refusal
  /// Whether all requests from before the failure have come back.
  private(set) var isComplete = false
  /// Whether the kept writes were requested again, with no result yet.
  private(set) var isRetrying = false
  /// The writes that came back, in order.
  private(set) var stuck = Backlog()
  /// Later decisions, which depend on them.
  private(set) var later = Backlog()
  /// Calls that were refused because their insert failed, and webhooks about them. Their other writes are dropped.
  private(set) var refused: Set<CallID> = []
  /// Calls whose keys were among the writes that came back, and those that other instances may have stored.
  private(set) var kept: Set<CallID> = []
  /// The places of their namespaces.
  private var places: [CallID: Int] = [:]
  /// Calls that cannot be accepted, because other instances were first with their keys.
  private(set) var taken: [CallID: TakenKey] = [:]
  /// Calls that other instances have stored first, and that have begun since: they are not this engine's any more.
  private(set) var begun: Set<CallID> = []
  /// Those that wait in the store: they are changed there, and not inserted.
  private var stored: Set<CallID> = []
  /// Whether these are the only problem: the store works, the other calls are accepted, and new calls wait for the
  /// moment that it takes to write them again.
  private(set) var isContended = false
  /// Events that have arrived meanwhile.
  private(set) var deferred: [EngineEvent] = []

  /// The store has failed.
  init(_ failure: StoreError, retry: Duration, at now: Timestamp) {
    // If others were first, nothing has to recover: without those calls the rest can be written at once.
    isContended = failure.isContention
    until = isContended ? now : now + retry
    refusal = Refusal(failure)
    learn(from: failure)
  }

  /// Whether a call is in the store and waits there for this engine.
  func isStored(_ id: CallID) -> Bool { stored.contains(id) }

  /// A call is in the store and waits there for this engine.
  mutating func markStored(_ id: CallID) {
    stored.insert(id)
  }

  /// Whether a call was refused.
  func hasRefused(_ id: CallID) -> Bool { refused.contains(id) }

  /// The place of the namespace of a call that was refused.
  func place(of id: CallID) -> Int? { places[id] }

  /// Keeps an event until the trouble is over.
  mutating func putOff(_ event: EngineEvent) {
    deferred.append(event)
  }

  /// Returns the events that were kept, and forgets them.
  mutating func takeDeferred() -> [EngineEvent] {
    defer { deferred = [] }
    return deferred
  }

  /// Keeps decisions that depend on what failed.
  mutating func keepLater(_ writes: [StoreWrite], then actions: [Action]) {
    later.append(actions, writes)
  }

  /// Keeps writes that have come back.
  mutating func stick(_ writes: [StoreWrite], then actions: [Action]) {
    stuck.append(actions, writes)
    for case .key(let record) in writes { kept.insert(record.call) }
  }

  /// All requests from before the failure have come back.
  mutating func complete() {
    isComplete = true
  }

  /// A call is refused. Returns whether that is new.
  mutating func refuse(_ call: CallRecord, at place: Int) -> Bool {
    guard refused.insert(call.id).inserted else { return false }
    places[call.id] = place
    if call.mayBeStored { kept.insert(call.id) }
    return true
  }

  /// A repeated write has failed again, or a lookup or claim from the step that noticed the trouble. Later writes are
  /// still kept. The barrier that was requested after them shows when all of them have come back.
  ///
  /// - Returns: The deferred events if there is more trouble now than what other instances were first with.
  mutating func prolong(_ failure: StoreError, retry: Duration, at now: Timestamp) -> [EngineEvent]? {
    isRetrying = false
    learn(from: failure)
    guard !failure.isContention else { return nil }
    until = now + retry
    refusal = Refusal(failure)
    guard isContended else { return nil }
    isContended = false
    return takeDeferred()
  }

  /// The kept writes are requested again. What follows is kept anew.
  mutating func beginRetry() {
    isComplete = false
    isRetrying = true
    (stuck, later) = (Backlog(), Backlog())
    (refused, kept, places, taken, begun) = ([], [], [:], [:], [])
  }

  private mutating func learn(from failure: StoreError) {
    for key in failure.taken { taken[key.submitted.call] = key }
    stored.formUnion(failure.stored.waiting)
    begun.formUnion(failure.stored.begun)
  }
}
