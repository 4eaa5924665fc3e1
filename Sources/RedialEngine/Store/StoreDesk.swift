internal import RedialCore
internal import RedialModel

/// The engine's side of the store: what it has requested, what it knows of the store's health, and which part of the
/// store belongs to it.
struct StoreDesk: Sendable {
  /// Requests of one epoch fail together; see ``StoreRequest``.
  private(set) var epoch: UInt64 = 0
  /// Set while the store fails.
  private(set) var trouble: StoreTrouble?
  /// Whether the disk has only the reserve for accepted calls left. New calls are then refused.
  private(set) var isShortOfRoom = false
  /// Whether the store's files are not where they were.
  private(set) var isMisplaced = false
  /// Whether there are calls that this engine cannot read, so that others have to run what it has.
  var lacksKey = false
  /// Whether the store was lost, and the outcomes of requests are unknown. New calls are then refused: they would
  /// have to wait for the store.
  private(set) var isInDoubt = false
  /// Requests of this step that follow its writes, so that the store sees those too.
  private var later: [StoreRequest.Body] = []
  /// Loading calls.
  var claims = Claims()
  /// Calls that other instances have forwarded.
  var forwarded = ForwardedCalls()
  /// Calls that commands are about.
  var fetches = Fetches()
  /// Idempotency keys.
  var keys = KeyLookups()
  /// The part of the store that belongs to this engine.
  var leases: LeaseTable

  init(_ leases: LeaseSettings?) {
    self.leases = LeaseTable(leases)
  }

  /// Forgets everything except the lease, the answers that the store still has to send, and whether they are in
  /// doubt.
  mutating func startOver() {
    fetches.outdateAll()
    keys.outdateAll()
    epoch += 1
    (trouble, isShortOfRoom, isMisplaced, later, claims) = (nil, false, false, [], Claims())
  }

  // MARK: Health

  /// Whether decisions can be written.
  var canDecide: Bool { trouble == nil && leases.canWork }

  /// Whether new calls are refused, because the store fails or belongs to nobody.
  var isFailing: Bool {
    trouble.map { !$0.isContended } ?? false || isShortOfRoom || isMisplaced || isInDoubt || !leases.canWork
  }

  /// Why nothing can be accepted now; nil if the store is well.
  var refusal: Refusal? {
    if isInDoubt { return .storeUnreachable }
    if let trouble { return trouble.refusal }
    if isShortOfRoom { return .noRoom }
    if isMisplaced { return .storeMisplaced }
    if lacksKey { return .keyMissing }
    return leases.canWork ? nil : .leaseLost
  }

  /// The disk has only the reserve left, or has room again.
  mutating func setShortOfRoom(_ isShort: Bool) {
    isShortOfRoom = isShort
  }

  /// The store's files were removed, or are back in their place.
  mutating func setMisplaced(_ isMisplaced: Bool) {
    self.isMisplaced = isMisplaced
  }

  /// The store was lost, or the outcomes of all requests are known again.
  mutating func setInDoubt(_ isInDoubt: Bool) {
    self.isInDoubt = isInDoubt
  }

  // MARK: Requests

  /// Requests this after the writes of this step.
  mutating func requestLater(_ body: StoreRequest.Body) {
    later.append(body)
  }

  /// Takes out the requests that follow the writes of this step.
  mutating func takeLater() -> [StoreRequest] {
    guard !later.isEmpty else { return [] }
    defer { later = [] }
    return later.map { StoreRequest($0, epoch: epoch) }
  }

  /// Lookups that have not reached the store.
  var unsentLookups: [KeyedSubmission] {
    later.compactMap { if case .findKey(let submission, _) = $0 { submission } else { nil } }
  }

  // MARK: Trouble

  /// Keeps the request of a client for later, if it has to wait only for a moment.
  mutating func putOff(_ event: @autoclosure () -> EngineEvent) -> Bool {
    guard trouble?.isContended == true, !isInDoubt else { return false }
    trouble?.putOff(event())
    return true
  }

  /// Returns what was put off, and forgets it.
  mutating func takeDeferred() -> [EngineEvent] { trouble?.takeDeferred() ?? [] }

  /// Keeps this step's writes until the store works. Returns false if it works.
  mutating func keep(_ writes: [StoreWrite], then actions: [Action]) -> Bool {
    guard trouble != nil else { return false }
    trouble?.keepLater(writes, then: actions)
    return true
  }

  /// The store has failed.
  mutating func enterTrouble(_ failure: StoreError, retry: Duration, at now: Timestamp) {
    epoch += 1
    keys.forgetAccepted()
    trouble = StoreTrouble(failure, retry: retry, at: now)
  }

  /// The store has failed again. Returns the requests of clients that can no longer wait; nil if they go on waiting.
  mutating func prolongTrouble(_ failure: StoreError, retry: Duration, at now: Timestamp) -> [EngineEvent]? {
    epoch += 1
    return trouble?.prolong(failure, retry: retry, at: now)
  }

  /// Whether a call was refused because its insert failed.
  func hasRefused(_ id: CallID) -> Bool { trouble?.hasRefused(id) ?? false }

  /// The store has come to a barrier, and has failed there.
  mutating func completeTrouble() {
    trouble?.complete()
  }

  /// Keeps writes that have come back, with the actions that followed their commit.
  mutating func stick(_ writes: [StoreWrite], then actions: [Action]) {
    trouble?.stick(writes, then: actions)
  }

  /// Whether a call that is to be inserted is in the store already, and waits there for this engine.
  mutating func isStored(_ id: CallID) -> Bool {
    if claims.takeFound(id) { trouble?.markStored(id) }
    return trouble?.isStored(id) ?? false
  }

  /// A call is refused. Returns whether that is new.
  mutating func refuse(_ call: CallRecord, at place: Int) -> Bool { trouble?.refuse(call, at: place) ?? false }

  /// The kept writes are requested again.
  mutating func beginRetry() {
    trouble?.beginRetry()
  }

  /// The store has reached a barrier of this epoch. Returns the trouble if that ends it.
  mutating func endTrouble(_ asked: UInt64) -> StoreTrouble? {
    guard let over = trouble, over.isRetrying, asked == epoch else { return nil }
    trouble = nil
    return over
  }
}
