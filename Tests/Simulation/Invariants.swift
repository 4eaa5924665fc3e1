internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// The invariants (docs/guarantees.md), checked against what clients, targets and the disk saw.
struct Invariants {
  /// The state of a call as seen from outside the engine.
  struct Story {
    var isAcknowledged = false
    var cancelWasAsked = false
    var retriesAsked = 0
    /// How often it left an end.
    var rounds = 0
    /// Its exchanges, by the number of attempts before their round.
    var starts: [Int: Int] = [:]
    var lastNumber = 0
    /// The instances that have an attempt of it in flight.
    var inFlight: Set<Int> = []
    var hasSucceeded = false
    /// Crashes while an attempt of it was in flight.
    var crashes = 0
    /// Whether it ends the process whenever an attempt of it ends.
    var isLethal = false
    /// Processes of this round that it has ended, while nothing else was in flight.
    var kills = 0
    /// It must not start before this time.
    var notBefore = Timestamp.epoch
    var wasAbortedInVain = false
    /// Its target asked for a pause until then.
    var wasSentAwayForGood = false
  }

  let settings: EngineSettings
  var stories: [CallID: Story] = [:]
  /// The call that clients know, by key.
  private var acknowledged: [IdempotencyName: CallID] = [:]
  /// Submissions that this process, or its clients, know to be refused.
  private var refusedNow: [Int: Set<Int>] = [:]
  /// Several instances share the store.
  var isShared = false
  /// The maximum difference of the instances' clocks: a call that one has postponed, another begins by its own clock.
  var clockSpread = Duration.zero
  /// Nothing crashes, and the store does not fail.
  var isFairWeather = false
  private let verdict = Verdict()

  /// Separate, so that a message may contain the details.
  private final class Verdict {
    var violation: String?
  }

  init(settings: EngineSettings) {
    self.settings = settings
  }

  /// The first violation.
  var violation: String? { verdict.violation }

  func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition, violation == nil { verdict.violation = message() }
  }

  // MARK: Clients

  mutating func asked(_ operation: CallCommand) {
    switch operation.kind {
    case .cancel: stories[operation.id, default: Story()].cancelWasAsked = true
    case .retry:
      stories[operation.id, default: Story()].retriesAsked += 1
      // It may run at once now.
      stories[operation.id]?.notBefore = .epoch
    case .erase, .purge, .reclaim: break
    }
  }

  mutating func accepted(_ record: CallRecord, in store: SimulatedStore) {
    require(store.rows[record.id] != nil, "\(record.id) was acknowledged before it was on disk")
    stories[record.id, default: Story()].isAcknowledged = true
  }

  /// A submission under a key was accepted: no other may have been. Another instance may have answered a repetition
  /// with the same call while the outcome of its commit was in doubt.
  mutating func accepted(_ id: CallID, under key: IdempotencyKey) {
    let earlier = acknowledged[key.name]
    require(
      earlier == nil || isShared && earlier == id, "\(key.name) gave \(earlier?.description ?? "") and \(id)")
    acknowledged[key.name] = id
  }

  /// A submission was found to be a repetition.
  mutating func replayed(_ id: CallID, under key: IdempotencyKey, in store: SimulatedStore) {
    require(store.rows[id] != nil, "\(id) was replayed under \(key.name) and is not on disk")
    require(store.keys[key.name]?.key == key, "\(id) was replayed for something else under \(key.name)")
    require(
      acknowledged[key.name] ?? id == id, "\(key.name) gave \(acknowledged[key.name]?.description ?? "") and \(id)")
    acknowledged[key.name] = id
    stories[id, default: Story()].isAcknowledged = true
  }

  func reused(_ key: IdempotencyKey, in store: SimulatedStore) {
    require(
      store.keys[key.name].map { $0.key != key } == true,
      "\(key.name) is said to be used for something else, and is not")
  }

  func done(_ operation: CallCommand, in store: SimulatedStore) {
    guard operation.kind == .cancel, stories[operation.id]?.retriesAsked == 0 else { return }
    let state = store.rows[operation.id]?.record.progress.state
    require(state == .cancelled, "\(operation.id) is cancelled, its client was told; on disk it is \(name(state))")
  }

  func refused(_ operation: CallCommand, _ problem: Problem, in store: SimulatedStore) {
    guard problem.code == .callEnded, stories[operation.id]?.retriesAsked == 0 else { return }
    let state = store.rows[operation.id]?.record.progress.state
    require(state?.isFinal == true, "\(operation.id) has ended, its client was told; on disk it is \(name(state))")
  }

  /// A submission was refused: its client may submit it elsewhere.
  mutating func refused(submission number: Int, _ problem: Problem, by instance: Int) {
    // An instance that lost its lease does not know the result, and says so.
    if problem.code != .leaseLost { refusedNow[instance, default: []].insert(number) }
    guard problem.status == 503 || problem.status == 507 else { return }
    require((problem.retryAfter ?? 0) > 0, "a client was refused with \(problem.status) and not told when to come back")
  }

  /// The store works: a refused call is not on disk. A process that dies before it has a store again cannot ensure
  /// that if the store is its own; on a shared store nothing is refused before it is known.
  func checkRefused(_ store: SimulatedStore, by instance: Int) {
    guard let refusedNow = refusedNow[instance], !refusedNow.isEmpty else { return }
    for (id, row) in store.rows.sorted(by: { $0.key < $1.key }) where row.record.kind == .call {
      let number = Int(String(decoding: row.record.body.prefix { $0 != 0x20 }, as: UTF8.self))
      require(number.map(refusedNow.contains) != true, "\(id) was refused to its client and is on disk")
    }
  }

  // MARK: Targets

  mutating func started(
    _ start: AttemptStart, by instance: Int, at now: Timestamp, store: SimulatedStore, network: SimulatedNetwork
  ) {
    let id = start.call.id
    let policy = start.call.spec.policy
    let decided = start.call.progress.due
    var story = stories[id] ?? Story()
    let progress = store.rows[id]?.record.progress
    require(
      progress?.state == .running && progress?.attempts == start.number,
      "attempt \(start.number) of \(id) began and was not counted on disk")
    require(!story.inFlight.contains(instance), "attempts of \(id) overlap")
    require(start.number > story.lastNumber, "attempt \(start.number) of \(id) came after \(story.lastNumber)")
    require(
      decided + clockSpread >= story.notBefore,
      "attempt \(start.number) of \(id) began \(story.notBefore - decided) before its time")
    require(decided < start.call.deadline, "attempt \(start.number) of \(id) began after its deadline")
    require(
      now < start.call.deadline + World.longestQueue,
      "attempt \(start.number) of \(id) went out \(now - start.call.deadline) after its deadline")
    require(
      start.timeout <= policy.attemptTimeout && start.timeout <= start.call.deadline - decided,
      "attempt \(start.number) of \(id) may take longer than its policy allows")
    checkAlone(start, store: store, network: network)
    require(!story.wasAbortedInVain || story.retriesAsked > 0, "the abort of \(id) overtook its start")
    let round = start.call.progress.attemptsBefore
    story.starts[round, default: 0] += 1
    let made = story.starts[round] ?? 0
    require(
      made <= policy.maxAttempts + min(story.crashes, settings.maxInterruptions),
      "\(id) was tried \(made) times, \(policy.maxAttempts) allowed and \(story.crashes) interrupted")
    story.lastNumber = start.number
    story.inFlight.insert(instance)
    stories[id] = story
    checkOrder(start.call, store: store, network: network)
    let inFlight = network.exchanges.values.filter { $0.start.call.id != id }
    require(inFlight.count < settings.maxInFlight, "more than \(settings.maxInFlight) attempts are in flight")
  }

  /// Calls of one target with one ordering key run one at a time; those without a manual retry, in order.
  private func checkOrder(_ call: CallRecord, store: SimulatedStore, network: SimulatedNetwork) {
    guard let key = call.spec.orderingKey else { return }
    func isKin(_ other: CallRecord) -> Bool {
      other.id != call.id && other.spec.orderingKey == key && other.spec.target == call.spec.target
    }
    let twin = network.exchanges.values.first { isKin($0.start.call) }
    require(
      twin == nil, "\(call.id) was started while \(twin?.start.call.id.description ?? "") of its key is in flight")
    if isShared {
      // Instances whose clocks differ do not number calls in the order of their commits.
      return require(store.turns[call.id]?.hasTurn == true, "\(call.id) was started and it is not its turn")
    }
    guard stories[call.id]?.retriesAsked ?? 0 == 0 else { return }
    let earlier = store.rows.values.map(\.record).first { other in
      isKin(other) && other.id < call.id && !other.progress.state.isFinal && stories[other.id]?.retriesAsked ?? 0 == 0
    }
    require(earlier == nil, "\(call.id) was started before \(earlier?.id.description ?? "") of its key has ended")
  }

  mutating func ended(
    _ result: AttemptResult, _ call: CallRecord, by instance: Int, at now: Timestamp, isOwner: Bool
  ) {
    stories[call.id]?.inFlight.remove(instance)
    // Nobody will write its result.
    guard isOwner else { return }
    if let status = result.status, (200...299).contains(status) { stories[call.id]?.hasSucceeded = true }
    let policy = call.spec.policy
    var wait = policy.backoff.range(beforeRetry: 0)?.lowerBound ?? .zero
    if let field = result.response?.head.first("retry-after") {
      wait = max(wait, RetryAfter.parse(field, at: now) ?? .zero)
    }
    stories[call.id]?.notBefore = now + wait
    if now + wait >= call.deadline { stories[call.id]?.wasSentAwayForGood = true }
  }

  /// An abort found nothing: correct if it was for an attempt that was decided but has not begun.
  mutating func abortedInVain(_ id: CallID, decidedOn number: Int) {
    if number > stories[id]?.lastNumber ?? 0 { stories[id]?.wasAbortedInVain = true }
  }

  // MARK: The disk

  /// The store has lost its last changes: what clients and targets saw of these no longer counts.
  mutating func wentBack(from before: SimulatedStore, to after: SimulatedStore) {
    acknowledged = acknowledged.filter { after.keys[$0.key]?.call == $0.value }
    for id in stories.keys.sorted() {
      guard var story = stories[id] else { continue }
      guard let row = after.rows[id] else {
        stories[id] = Story()
        stories[id]?.inFlight = story.inFlight
        continue
      }
      let progress = row.record.progress
      guard before.rows[id]?.record.progress != progress else { continue }
      story.lastNumber = progress.attempts
      story.starts = story.starts.filter { $0.key <= progress.attemptsBefore }
      let round = progress.attemptsBefore
      story.starts[round] = min(story.starts[round] ?? 0, progress.attempts - round)
      (story.rounds, story.notBefore, story.wasAbortedInVain, story.kills) = (0, .epoch, false, 0)
      stories[id] = story
    }
  }

  mutating func crashed(_ instance: Int) {
    for id in stories.keys { stories[id]?.inFlight.remove(instance) }
    forgetRefused(instance)
  }

  /// An instance forgets calls that it refused.
  mutating func forgetRefused(_ instance: Int) {
    refusedNow[instance] = nil
  }

  mutating func recovered(_ state: RecoveredState) {
    for record in state.running {
      stories[record.id, default: Story()].crashes += 1
      // A pause that its target asked for is not remembered.
      stories[record.id]?.notBefore = .epoch
    }
  }

  /// A transaction has taken effect.
  mutating func committed(_ before: SimulatedStore, _ after: SimulatedStore, _ writes: [StoreWrite]) {
    checkDocuments(writes, after)
    var told: [CallID: Int] = [:]
    var touched: [CallID] = []
    for write in writes {
      switch write {
      case .insert(let record):
        touched.append(record.id)
        if record.kind == .webhook, before.rows[record.id] == nil, let id = Self.subject(of: record) {
          told[id, default: 0] += 1
        }
      case .update(let id, _, _): touched.append(id)
      case .discard(let id):
        require(stories[id]?.isAcknowledged != true, "\(id) was acknowledged, and then removed")
      case .erase(let id, let spec):
        // The store refuses it before the end; a sensitive call is erased with it.
        require(
          spec.isSensitive || before.rows[id]?.record.progress.state.isFinal == true,
          "the content of \(id) was erased, and it had not ended")
      case .retried(let id, _):
        let reruns = Array((after.rows[id]?.reruns ?? [:]).values)
        require(Set(reruns).count == reruns.count, "\(id) was run again twice after one end: \(reruns)")
      case .key, .target, .awaitTurn, .passTurn, .put, .add, .remove, .tallied: break
      }
    }
    for id in told.keys.sorted() {
      require(after.rows[id] != nil, "a webhook reports the end of \(id), and there is no such call")
    }
    for id in Set(touched).sorted() {
      guard let new = after.rows[id] else { continue }
      check(id, from: before.rows[id]?.record.progress, to: new, webhooks: told[id] ?? 0)
    }
  }

  private mutating func check(
    _ id: CallID, from old: CallProgress?, to row: SimulatedStore.Row, webhooks: Int
  ) {
    let new = row.record.progress
    if let old, old.state.isFinal, new != old {
      stories[id, default: Story()].rounds += 1
      let story = stories[id] ?? Story()
      require(
        story.rounds <= story.retriesAsked, "\(id) had ended as \(name(old.state)) and became \(name(new.state))")
      stories[id]?.hasSucceeded = false
      stories[id]?.kills = 0
    }
    // One that was held when its owner left is found at once; storing what was forwarded once more changes nothing.
    require(
      new == old || new.state != .queued || new.due == row.record.deadline,
      "\(id) waits in a queue and is not found when its time is up")
    let ended = new.state.isFinal && new != old
    let expected = ended ? Self.webhooks(of: row.record) : 0
    require(
      webhooks == expected, "\(id) became \(name(new.state)) and \(webhooks) webhooks tell of it, not \(expected)")
    if ended { checkEnd(row) }
  }

  private static func webhooks(of record: CallRecord) -> Int {
    guard record.kind == .call, let callback = record.spec.callback else { return 0 }
    let event: EventType
    switch record.progress.state {
    case .succeeded: event = .callSucceeded
    case .failed: event = record.progress.failure == .tripped ? .callTripped : .callFailed
    default: return 0
    }
    return callback.events.contains(event) ? 1 : 0
  }

  /// The call that a webhook reports.
  private static func subject(of webhook: CallRecord) -> CallID? {
    let text = String(decoding: webhook.body, as: UTF8.self)
    guard let mark = text.firstRange(of: "\"call_") else { return nil }
    return CallID(text[mark.lowerBound...].dropFirst().prefix(18))
  }

  private func name(_ state: StoredState?) -> String { state.map { "\($0)" } ?? "unknown" }
}
