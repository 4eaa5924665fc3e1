internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// The data that a store would have on disk, with the transactions of `SQLiteStore` but without a disk.
struct SimulatedStore {
  /// A call on disk.
  struct Row {
    var record: CallRecord
    var attempts: [AttemptRecord] = []
    /// How it waited before the attempt in flight began; nil if it began with the call.
    var waited: CallProgress?
    /// Why it was run again by submissions under its key: each reason names an end of the call.
    var reruns: [Timestamp: String] = [:]
  }

  /// Why a transaction is impossible: no correct sequence of the engine requests it.
  struct Nonsense: Error {
    var message: String
  }

  /// The sessions that share the store, and their shards; empty if one process has it for itself.
  var sessions: [Int64: Session] = [:]
  var owners = [Int64?](repeating: nil, count: ShardSet.count)
  var lastSession: Int64 = 0
  /// The last change that each session has made. It is kept when the session ends.
  var ledger: [Int64: Int64] = [:]
  /// The number of the server. It is not data: after a failover another server has a copy of the data.
  var server = 0
  /// The server at the last lease request, and until when nothing is taken from anybody because it was another one.
  var lastServer = 0
  var quietUntil = Timestamp.epoch

  private(set) var rows: [CallID: Row] = [:]
  private(set) var targets: [TargetKey: TargetRecord] = [:]
  /// What targets hide of their calls, as the documents say.
  private(set) var privacies: [TargetKey: TargetOverrides] = [:]
  private(set) var keys: [IdempotencyName: KeyRecord] = [:]
  /// Calls that have not ended and have an ordering key, and whether they have the turn.
  private(set) var turns: [CallID: (key: String, hasTurn: Bool)] = [:]
  /// A transaction whose commit failed, but which is on disk once the process has died, unless another has overwritten
  /// it: that is how the frames of a write-ahead log behave.
  private var limbo: (writes: [StoreWrite], session: Int64?)?
  /// Inserted by a commit that took effect but was reported as failed; these may be inserted again.
  private var ambiguous: Set<CallID> = []

  /// Makes all of the changes, or none.
  mutating func commit(_ writes: [StoreWrite], by session: Int64? = nil) throws(Nonsense) {
    var copy = self
    for write in writes { try copy.apply(write, by: session) }
    copy.limbo = nil
    self = copy
  }

  /// Makes all of the changes, although the engine gets another answer.
  mutating func commitUnnoticed(_ writes: [StoreWrite], by session: Int64?) throws(Nonsense) {
    try commit(writes, by: session)
    for case .insert(let record) in writes { ambiguous.insert(record.id) }
  }

  /// Makes the changes if the process dies before the next transaction.
  mutating func commitAtDeath(_ writes: [StoreWrite], by session: Int64?) {
    limbo = (writes, session)
  }

  /// What has held an attempt back since it was due is recorded with it, all of that time, unless it is short.
  private static func checkWaits(before attempt: AttemptRecord, of row: Row) throws(Nonsense) {
    guard let waited = row.waited, waited.attempts + 1 == attempt.number, attempt.outcome != .interrupted,
      row.record.spec.orderingKey == nil, waited.waiting != .retryBudget,
      // In its target's queue it has the time of its deadline.
      waited.due <= attempt.startedAt
    else { return }
    let held = attempt.decision?.held
    let sum = held?.parts.reduce(Duration.zero) { $0 + $1.time } ?? .zero
    let wait = attempt.startedAt - waited.due
    let isWhole = abs((sum - wait).inSeconds) < 0.001
    guard wait >= WaitTimes.least ? isWhole : held == nil else {
      throw Nonsense(
        message:
          "attempt \(attempt.number) of \(row.record.id) began \(wait.inSeconds) s after it was due, of which "
          + "\(sum.inSeconds) s are recorded")
    }
  }

  private mutating func apply(_ write: StoreWrite, by session: Int64?) throws(Nonsense) {
    try check(write, by: session)
    switch write {
    case .insert(let record):
      // After a commit that was reported as failed, an instance writes it again, but its owner already has it.
      if rows[record.id] != nil, !owns(record.spec.target, session) { return }
      if rows[record.id] != nil, !ambiguous.contains(record.id) {
        throw Nonsense(message: "\(record.id) was inserted twice")
      }
      let attempts = rows[record.id]?.attempts ?? []
      rows[record.id] = Row(record: record, attempts: attempts)
    case .update(let id, let progress, let attempt):
      guard var row = rows[id] else { throw Nonsense(message: "\(id) was updated, and there is no such call") }
      if progress.state == .running, row.record.progress.attempts < progress.attempts {
        row.waited = row.record.progress
      }
      row.record.progress = progress
      if let attempt {
        try Self.checkWaits(before: attempt, of: row)
        let known = row.attempts.firstIndex { $0.number == attempt.number }
        if let known, row.attempts[known] != attempt {
          throw Nonsense(message: "attempt \(attempt.number) of \(id) was recorded twice")
        }
        if known == nil { row.attempts.append(attempt) }
      }
      rows[id] = row
    case .key(let record): keys[record.key.name] = record
    // Counts for people; nothing in the engine depends on them.
    case .tallied: break
    case .discard(let id):
      if let row = rows[id], !owns(row.record.spec.target, session), !Self.isWaiting(row) { return }
      rows[id] = nil
      ambiguous.remove(id)
      keys = keys.filter { $0.value.call != id }
      try passTurn(id, by: session)
    case .target(let key, let record): targets[key] = record == TargetRecord() ? nil : record
    case .awaitTurn(let id, let target, let key):
      if turns[id] == nil { turns[id] = ("\(target) \(key)", false) }
      // Turns are given by the owner alone: of two others that look at the same time, both would find a free turn.
      guard owns(target, session) else { break }
      let holder = turns.first { $0.value.key == "\(target) \(key)" && $0.value.hasTurn }?.key
      if holder == id { schedule(id) }
      if holder == nil { try giveTurn("\(target) \(key)", by: session) }
    case .passTurn(let id): try passTurn(id, by: session)
    case .erase(let id, let spec):
      guard let row = rows[id], row.record.progress.state.isFinal else {
        throw Nonsense(message: "the content of \(id) was erased, and it has not ended")
      }
      let record = CallRecord(
        id: id, kind: row.record.kind, spec: spec, body: [], createdAt: row.record.createdAt,
        progress: row.record.progress)
      rows[id] = Row(record: record, attempts: row.attempts, reruns: row.reruns)
    case .retried(let id, let retry):
      guard rows[id] != nil else { throw Nonsense(message: "\(id) was retried, and there is no such call") }
      // Its time identifies a retry, so that a transaction that has succeeded unnoticed and is repeated adds nothing.
      if let reason = retry.attribution.reason { rows[id]?.reruns[retry.at] = reason }
    case .put(let document):
      guard document.kind == .targetPrivacy else { break }
      privacies[TargetKey(qualified: document.id)] = TargetOverrides(privacy: document)
    case .remove(.targetPrivacy, let id): privacies[TargetKey(qualified: id)] = nil
    // The engine does not request these.
    case .add, .remove: break
    }
  }

  private mutating func passTurn(_ id: CallID, by session: Int64?) throws(Nonsense) {
    guard let turn = turns.removeValue(forKey: id), turn.hasTurn else { return }
    try giveTurn(turn.key, by: session)
  }

  private mutating func giveTurn(_ key: String, by session: Int64?) throws(Nonsense) {
    guard let next = turns.filter({ $0.value.key == key }).keys.min() else { return }
    if let target = rows[next]?.record.spec.target, !owns(target, session) {
      throw Nonsense(message: "the turn of \(next) was given by session \(session ?? 0), and \(target) is not its own")
    }
    turns[next]?.hasTurn = true
    schedule(next)
  }

  /// Gives the free turns in a session's shards, which others have left.
  mutating func giveFreeTurns(by session: Int64) throws(Nonsense) {
    let own = turns.filter { id, _ in rows[id].map { owns($0.record.spec.target, session) } ?? false }.values
    let taken = Set(own.filter(\.hasTurn).map(\.key))
    for key in Set(own.map(\.key)).subtracting(taken).sorted() { try giveTurn(key, by: session) }
  }

  private mutating func schedule(_ id: CallID) {
    guard let start = rows[id]?.record.progress.roundStartedAt else { return }
    rows[id]?.record.progress.state = .scheduled
    rows[id]?.record.progress.due = start
    rows[id]?.record.progress.waiting = .startTime
  }

  // MARK: Claims

  mutating func claimDue(before time: Timestamp, limit: Int, by session: Int64? = nil) -> Claim {
    let due = waiting(for: session).filter { $0.record.progress.due <= time }
      .sorted { ($0.record.progress.due, $0.record.id) < ($1.record.progress.due, $1.record.id) }
    let calls = due.prefix(limit).map { hold($0.record.id) }
    return Claim(calls: calls, nextDue: nextDue(for: session))
  }

  mutating func claimQueued(target: TargetKey, limit: Int, by session: Int64? = nil) -> [CallRecord] {
    guard owns(target, session) else { return [] }
    let queued = rows.values.map(\.record).filter { Self.isQueued($0) && $0.spec.target == target }
    let order = queued.sorted { (-$0.spec.priority, $0.id) < (-$1.spec.priority, $1.id) }
    return order.prefix(limit).map { hold($0.id) }
  }

  /// Whether a call is in its target's queue; one that waits for its turn is not.
  private static func isQueued(_ call: CallRecord) -> Bool {
    call.progress.state == .queued && call.progress.waiting != .ordering
  }

  func find(key: IdempotencyName, at now: Timestamp) -> KeyRecord? {
    keys[key].flatMap { $0.expiresAt > now ? $0 : nil }
  }

  mutating func claim(_ id: CallID, in namespace: Namespace, by session: Int64? = nil) -> CallRecord? {
    guard let row = rows[id], row.record.spec.namespace == namespace else { return nil }
    guard owns(row.record.spec.target, session) else { return row.record }
    return row.record.progress.state.isFinal ? row.record : hold(id)
  }

  private mutating func hold(_ id: CallID) -> CallRecord {
    limbo = nil
    rows[id]?.record.progress.state = .held
    return loaded(id)
  }

  /// A call as it is read: with its attempts, if its webhook contains them.
  private func loaded(_ id: CallID) -> CallRecord {
    guard let row = rows[id] else { preconditionFailure("\(id) is not in the store") }
    var record = row.record
    guard record.spec.callback != nil else { return record }
    record.history = row.attempts.map { attempt in
      var attempt = attempt
      attempt.response = nil
      return attempt
    }
    return record
  }

  /// A process that has stopped gives everything back.
  mutating func resign(_ session: Int64) {
    limbo = nil
    releaseHeld(in: ShardSet(owners.indices.filter { owners[$0] == session }))
    end(session)
  }

  // MARK: Recovery

  /// Applies and returns what the last process had written without knowing that it took effect.
  mutating func replayLog(of session: Int64? = nil) throws(Nonsense) -> [StoreWrite] {
    guard let limbo, limbo.session == session else { return [] }
    try commit(limbo.writes, by: session)
    return limbo.writes
  }

  /// Takes over from a process that has died.
  mutating func recover(_ shards: ShardSet = .all, for session: Int64? = nil) -> RecoveredState {
    limbo = nil
    releaseHeld(in: shards)
    // These stay running on disk until the engine has written the results of their attempts: if it dies before, the
    // next one must find them again.
    let running = rows.values.filter {
      $0.record.progress.state == .running && shards.contains(target: $0.record.spec.target)
    }.map(\.record.id).sorted()
    let taken = running.map { id in
      var record = loaded(id)
      record.progress.state = .held
      return record
    }
    var queued: [TargetKey: Int] = [:]
    for row in rows.values where Self.isQueued(row.record) && shards.contains(target: row.record.spec.target) {
      queued[row.record.spec.target, default: 0] += 1
    }
    var spaces: [Namespace: Int] = [:]
    for row in rows.values where !row.record.progress.state.isFinal && owns(row.record.spec.target, session) {
      spaces[row.record.spec.namespace, default: 0] += 1
    }
    return RecoveredState(
      running: taken, nextDue: nextDue(for: session),
      queued: queued.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
      targets: targets.filter { shards.contains(target: $0.key) }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
      unfinished: unfinished(for: session), namespaces: spaces.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
      lastID: rows.keys.max() ?? CallID(rawValue: 0))
  }

  /// Puts the held calls of some shards back into the states from which they were claimed.
  mutating func releaseHeld(in shards: ShardSet) {
    guard !shards.isEmpty else { return }
    for (id, row) in rows where row.record.progress.state == .held && shards.contains(target: row.record.spec.target) {
      // A call from a target's queue returns there: its due time is its deadline, and as a scheduled call it would wait
      // for that.
      let waiting = row.record.progress.waiting
      rows[id]?.record.progress.state =
        waiting == .breaker || waiting == .concurrency || waiting == .ordering ? .queued : .scheduled
    }
  }

  func unfinished(for session: Int64?) -> Int {
    rows.values.count { !$0.record.progress.state.isFinal && owns($0.record.spec.target, session) }
  }

  var unfinished: Int { rows.values.count { !$0.record.progress.state.isFinal } }

  private static func isWaiting(_ row: Row) -> Bool {
    row.record.progress.state == .scheduled || row.record.progress.state == .queued
  }

  private func waiting(for session: Int64?) -> [Row] {
    rows.values.filter { Self.isWaiting($0) && owns($0.record.spec.target, session) }
  }

  private func nextDue(for session: Int64?) -> Timestamp? {
    waiting(for: session).map(\.record.progress.due).min()
  }
}
