internal import RedialCore
internal import RedialModel

/// The state while the store fails: new calls are refused, and the writes of accepted calls are kept and tried again.
/// The trouble ends only when these are on disk.
struct StoreTrouble: Sendable {
  /// When to try the store again.
  var until: Timestamp
  /// The answer to new calls meanwhile.
  var problem: Problem
  /// Whether all requests from before the failure have come back.
  var isComplete = false
  /// Whether the kept writes were requested again, with no result yet.
  var isRetrying = false
  /// The writes that came back, in order.
  var stuck = Backlog()
  /// Later decisions, which depend on them.
  var later = Backlog()
  /// Calls that were refused because their insert failed, and webhooks about them. Their other writes are dropped.
  var refused: Set<CallID> = []
  /// The places of their namespaces.
  var places: [CallID: Int] = [:]
  /// Calls that cannot be accepted, because other instances were first with their keys.
  var taken: [CallID: TakenKey] = [:]
  /// Whether that is the only problem: the store works, the other calls are accepted, and new calls wait for the
  /// moment that it takes to write them again.
  var isContended = false
  /// Events that have arrived meanwhile.
  var deferred: [EngineEvent] = []

  /// Writes, and the actions that follow their commit.
  struct Backlog: Sendable {
    var writes: [StoreWrite] = []
    var then: [Action] = []

    mutating func append(_ actions: [Action], _ more: [StoreWrite]) {
      writes += more
      then += actions
    }
  }
}

extension Engine {
  /// Whether new calls are refused, because the store fails or belongs to nobody.
  var isStoreFailing: Bool {
    trouble.map { !$0.isContended } ?? false || isShortOfRoom || isStoreMisplaced || !leases.canWork
  }

  /// Why no call is accepted while the store's files are not in their place.
  static let misplaced = Problem(
    status: 503, code: "storageUnavailable", title: "The store's files are not in their place",
    detail:
      "The call was not accepted: its files were removed or replaced, so that it would be lost. The log says more.",
    retryAfter: 10)

  /// The answer to new calls while the disk has only the reserve left.
  static let noRoom = Problem(
    status: 507, code: "storageFull", title: "The store has no room",
    detail:
      "The call was not accepted: the disk is full. The rest is reserved for accepted calls and for removing old ones. "
      + "Try again later.", retryAfter: 10)

  /// Keeps requests of clients for later, if they have to wait only for a moment.
  mutating func putOff(_ event: EngineEvent) -> Bool {
    guard trouble?.isContended == true else { return false }
    trouble?.deferred.append(event)
    return true
  }

  /// The store could not execute a request.
  mutating func storeFailed(_ request: StoreRequest, _ failure: StoreFailure) {
    if request.epoch < leases.lostBelow { return drop(request) }
    if failure.isLeaseLost {
      loseLease()
      return drop(request)
    }
    if request.epoch == epoch { trouble == nil ? enterTrouble(failure) : prolongTrouble(failure) }
    switch request.body {
    case .commit(let writes, let then): keep(writes, then)
    case .claimDue:
      storeNextDue = min(storeNextDue ?? now, endClaim() ?? now)
    case .claimQueued(let key, _):
      guard let index = targetIndex[key] else { break }
      _ = endRefill(index)
      if trouble?.isContended != true { lookAgain(index, at: now + settings.storeRetry) }
    case .fetch(let command):
      _ = endFetch(of: command.id)
      if putOff(.command(command)) { break }
      refuse(command, trouble?.problem ?? Self.problem(failure))
    case .findKey(let submission, _) where trouble?.isContended == true: lookUpAgain(submission)
    case .findKey(let submission, _):
      lookupFailed(submission, trouble?.problem ?? Self.problem(failure))
    case .lease(let ask): leaseNotAnswered(ask)
    case .barrier:
      trouble?.isComplete = true
    }
  }

  private mutating func enterTrouble(_ failure: StoreFailure) {
    // The decisions of this step so far depend on what failed, so they must fail with it.
    flush()
    // It comes back after all requests of this epoch.
    effects.store.append(StoreRequest(.barrier, epoch: epoch))
    epoch += 1
    forgetAcceptedKeys()
    var new = StoreTrouble(until: now + settings.storeRetry, problem: Self.problem(failure))
    if !failure.taken.isEmpty {
      // Nothing has to recover: without the calls that were too many, the rest can be written at once.
      new.until = now
      new.isContended = true
    }
    trouble = new
    note(failure.taken)
    if !new.isContended { effects.actions.append(.notice(.storeFailed(message: failure.message))) }
  }

  /// A repeated write has failed again, or a lookup or claim from the step that noticed the trouble. Later writes are
  /// still kept. The barrier that was requested after them shows when all of them have come back.
  private mutating func prolongTrouble(_ failure: StoreFailure) {
    epoch += 1
    trouble?.isRetrying = false
    note(failure.taken)
    guard failure.taken.isEmpty else { return }
    let until = now + settings.storeRetry
    trouble?.until = until
    trouble?.problem = Self.problem(failure)
    guard let waiting = trouble?.deferred, trouble?.isContended == true else { return }
    // There is more trouble than a key that another instance was first with.
    trouble?.isContended = false
    trouble?.deferred = []
    effects.actions.append(.notice(.storeFailed(message: failure.message)))
    for event in waiting { handle(event) }
  }

  private mutating func note(_ taken: [TakenKey]) {
    for key in taken { trouble?.taken[key.submitted.call] = key }
  }

  /// Tries the store again when it is time. Until something is on disk, nothing has improved: decisions wait, and new
  /// calls are refused.
  mutating func retryStore() {
    guard let over = trouble, over.isComplete, now >= over.until else { return }
    // Everything that this step adds depends on these writes, so they go first, as one commit.
    let kept = dropRefused(over.stuck.writes + over.later.writes)
    // A commit that was reported as failed may have happened anyway. Refused calls must not be found later.
    let refused = trouble?.refused ?? []
    let again = refused.sorted().map(StoreWrite.discard) + kept
    let then = over.stuck.then + over.later.then
    trouble = StoreTrouble(
      until: over.until, problem: over.problem, isRetrying: true, isContended: over.isContended,
      deferred: over.deferred)
    // A refused call may have had a turn, which now goes to another call.
    if !refused.isEmpty { stored(due: now) }
    if !again.isEmpty || !then.isEmpty {
      effects.store.append(StoreRequest(.commit(again, then: then), epoch: epoch))
      if !over.isContended { effects.actions.append(.notice(.storeRetried(writes: again.count))) }
    }
    // If nothing was kept, such as after a failed claim, this proves that the store can be written.
    effects.store.append(StoreRequest(.barrier, epoch: epoch))
  }

  /// The store has executed all requests up to a barrier.
  mutating func storeWritten(_ asked: UInt64) {
    guard let over = trouble, over.isRetrying, asked == epoch else { return }
    trouble = nil
    let (writes, then) = (over.later.writes, over.later.then)
    if !writes.isEmpty || !then.isEmpty {
      // Before the decisions of this step, which depend on it.
      effects.store.append(StoreRequest(.commit(writes, then: then), epoch: epoch))
    }
    for index in knownTargets { enterRotation(index) }
    for event in over.deferred { handle(event) }
  }

  /// Keeps the failed writes, with two exceptions: calls that had not been accepted yet are refused, and attempts
  /// that had not been made yet are undone. If the only problem is that other instances were first with some keys,
  /// only the calls under these keys are not accepted, and their clients get the calls of the other instances.
  private mutating func keep(_ writes: [StoreWrite], _ then: [Action]) {
    guard let trouble else { return }
    let (problem, isContended) = (trouble.problem, trouble.isContended)
    for case .reply(let reply, .accepted(let record)) in then {
      if let taken = trouble.taken[record.id], isContended {
        answer(reply, taken)
      } else if isContended {
        continue
      } else {
        refuse(reply, problem)
      }
      refuse(record)
    }
    let actions = then.filter { action in
      switch action {
      case .reply(let reply, .replayed(let id)) where isContended:
        guard let taken = trouble.taken[id] else { return true }
        answer(reply, taken)
        return false
      case .reply(_, .refused(let problem)) where isContended && problem.code != Self.keyReusedCode: return true
      // The submission that these repeat may just have been refused.
      case .reply(let reply, .replayed), .reply(let reply, .refused):
        refuse(reply, problem)
        return false
      case .reply(_, .accepted(let record)): return isContended && trouble.taken[record.id] == nil
      case .start: return false
      default: return true
      }
    }
    self.trouble?.stuck.append(actions, writes)
    for case .start(let start) in then { takeBack(start.call.id) }
  }

  /// Answers a submitter with the call that another instance has accepted under its key.
  private mutating func answer(_ reply: ReplyToken, _ taken: TakenKey) {
    let isSame = taken.isRepetition
    effects.actions.append(
      .reply(reply, isSame ? .replayed(taken.earlier.call) : .refused(Self.keyReused(taken.submitted.key))))
  }

  /// Undoes the start of an attempt that has not been made. When the store works again, its deadline may have passed,
  /// or its target's breaker may be open, so it is decided again.
  mutating func takeBack(_ id: CallID) {
    guard let running = calls[id], case .running(let permit, let cancelledBy) = running.phase else { return }
    refund(running)
    leaveRunning(id)
    guard var call = calls[id] else { return }
    recordBreaker(call.target, .ignored, permit)
    call.record.progress.attempts -= 1
    call.record.progress.state = .held
    calls[id] = call
    if !cancelledBy.isEmpty {
      for reply in cancelledBy { afterCommit.append(.reply(reply, .done(id))) }
      return finish(id, .cancelled)
    }
    writes.append(.update(id, call.record.progress, nil))
    becomeReady(id)
  }

  /// The writes that are not about refused calls. The insert of a webhook follows the end of its call.
  private mutating func dropRefused(_ writes: [StoreWrite]) -> [StoreWrite] {
    var kept: [StoreWrite] = []
    var endWasDropped = false
    for write in writes {
      switch write {
      case .insert(let record) where endWasDropped && Self.isAboutCall(record):
        refuse(record)
      case .insert(let record) where trouble?.refused.contains(record.id) == true: endWasDropped = false
      case .awaitTurn(let id, _, _) where trouble?.refused.contains(id) == true: endWasDropped = false
      case .key(let record) where trouble?.refused.contains(record.call) == true: endWasDropped = false
      case .retried(let id, _) where trouble?.refused.contains(id) == true: endWasDropped = false
      case .update(let id, let progress, _) where trouble?.refused.contains(id) == true:
        endWasDropped = progress.state.isFinal
        if endWasDropped { countUnfinished(1, at: trouble?.places[id] ?? 0) }
      default:
        endWasDropped = false
        kept.append(write)
      }
    }
    return kept
  }

  /// Undoes the acceptance of a call.
  private mutating func refuse(_ record: CallRecord) {
    let id = record.id
    guard trouble?.refused.insert(id).inserted == true else { return }
    let place = place(of: record.spec.namespace)
    trouble?.places[id] = place
    // A call that is not in memory was written into the store, or has ended since; dropping its end corrects that.
    // The count of a target's queue corrects itself with the next refill.
    if owns(record.spec.target) { countUnfinished(-1, at: place) } else { countElsewhere(-1, at: place) }
    guard let call = calls[id] else { return }
    if case .running(let permit, let cancelledBy) = call.phase {
      leaveRunning(id)
      recordBreaker(call.target, .ignored, permit)
      for reply in cancelledBy { effects.actions.append(.reply(reply, .done(id))) }
    }
    release(id)
  }

  private static func problem(_ failure: StoreFailure) -> Problem {
    failure.isFull
      ? Problem(
        status: 507, code: "storageFull", title: "The store has no room",
        detail: "The call was not accepted: the disk is full. Accepted calls are kept. Free space, then try again.",
        retryAfter: 10)
      : Problem(
        status: 503, code: "storageUnavailable", title: "The store cannot be written",
        detail: "The call was not accepted: it could not be written to disk. Accepted calls are kept. Try again.",
        retryAfter: 2)
  }
}
