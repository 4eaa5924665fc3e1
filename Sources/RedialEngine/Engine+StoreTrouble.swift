internal import RedialCore
internal import RedialModel

/// What the engine does when the store fails: it keeps the writes of accepted calls and tries them again.
extension Engine {
  /// The store could not execute a request.
  mutating func storeFailed(_ request: StoreRequest, _ failure: StoreError) {
    if request.epoch < desk.leases.lostBelow { return drop(request) }
    if failure.kind == .leaseLost {
      loseLease(failure.message)
      return drop(request)
    }
    if request.epoch == desk.epoch { desk.trouble == nil ? enterTrouble(failure) : prolongTrouble(failure) }
    switch request.body {
    case .commit(let writes, let then): keep(writes, then)
    case .claimDue:
      desk.claims.fail(at: now)
    case .claimQueued(let key, _):
      guard let index = roster.place(of: key) else { break }
      endRefill(index)
      if desk.trouble?.isContended != true { lookAgain(index, at: now + settings.storeRetry) }
    case .fetch(let command):
      _ = desk.fetches.end(command.id)
      if desk.putOff(.command(command)) { break }
      refuse(command, desk.trouble?.refusal ?? Refusal(failure))
    case .findKey(let submission, _) where desk.trouble?.isContended == true: lookUpAgain(submission, failure)
    case .findKey(let submission, _):
      lookupFailed(submission, desk.trouble?.refusal ?? Refusal(failure))
    case .lease(let ask): desk.leases.notAnswered(ask)
    case .barrier:
      desk.completeTrouble()
    }
  }

  /// The store was lost, or is there again. What it was asked meanwhile waits: nothing of that is reported as failed
  /// before it is known to be. Requests that have not been sent are refused, because nobody knows how long it takes.
  mutating func storeInDoubt(_ message: String?) {
    desk.setInDoubt(message != nil)
    guard let message else { return }
    effects.actions.append(.notice(.storeFailed(message: message)))
    for event in desk.takeDeferred() { handle(event) }
  }

  private mutating func enterTrouble(_ failure: StoreError) {
    // The decisions of this step so far depend on what failed, so they must fail with it.
    flush()
    // It comes back after all requests of this epoch.
    request(.barrier)
    desk.enterTrouble(failure, retry: settings.storeRetry, at: now)
    guard !failure.isContention else { return }
    effects.actions.append(.notice(.storeFailed(message: failure.message)))
    // When the store works again, all targets are examined.
    for place in roster.places where roster.targets[place].hasDue { roster[place].hold(nil, at: now) }
  }

  private mutating func prolongTrouble(_ failure: StoreError) {
    guard let waiting = desk.prolongTrouble(failure, retry: settings.storeRetry, at: now) else { return }
    effects.actions.append(.notice(.storeFailed(message: failure.message)))
    for event in waiting { handle(event) }
  }

  /// Tries the store again when it is time. Until something is on disk, nothing has improved: decisions wait, and new
  /// calls are refused.
  mutating func retryStore() {
    guard let over = desk.trouble, over.isComplete, now >= over.until else { return }
    // Everything that this step adds depends on these writes, so they go first, as one commit.
    let kept = dropRefused(over.stuck.writes + over.later.writes).map { write -> StoreWrite in
      if case .insert(let record) = write, over.isStored(record.id) { return .update(record.id, record.progress, nil) }
      return write
    }
    // A store that is not shared may have made a commit that it reported as failed: refused calls must not be found
    // later. A call with a key stays where others could have found it, because one of them may have answered a
    // repetition with it; and so does one that others may have stored, because their client may have got a 202.
    let refused = (desk.trouble?.refused ?? []).subtracting(desk.leases.settings == nil ? [] : over.kept)
    let again = refused.sorted().map(StoreWrite.discard) + kept
    let then = over.stuck.then + over.later.then
    desk.beginRetry()
    // A refused call may have had a turn, which now goes to another call.
    if !over.refused.isEmpty { desk.claims.stored(due: now) }
    if !again.isEmpty || !then.isEmpty {
      request(.commit(again, then: then))
      if !over.isContended { effects.actions.append(.notice(.storeRetried(writes: again.count))) }
    }
    // If nothing was kept, such as after a failed claim, this proves that the store can be written.
    request(.barrier)
  }

  /// The store has executed all requests up to a barrier.
  mutating func storeWritten(_ asked: UInt64) {
    guard let over = desk.endTrouble(asked) else { return }
    let (writes, then) = (over.later.writes, over.later.then)
    if !writes.isEmpty || !then.isEmpty {
      // Before the decisions of this step, which depend on it.
      request(.commit(writes, then: then))
    }
    for index in roster.places { roster.enterRotation(index) }
    for event in over.deferred { handle(event) }
  }

  /// Keeps the failed writes, with two exceptions: calls that had not been accepted yet are refused, and attempts
  /// that had not been made yet are undone. If the only problem is that other instances were first with some keys or
  /// calls, only these calls are not accepted, and their clients get the calls of the other instances. A call that waits
  /// in the store for this engine is changed there.
  private mutating func keep(_ writes: [StoreWrite], _ then: [Action]) {
    guard let trouble = desk.trouble else { return }
    let (refusal, isContended) = (trouble.refusal, trouble.isContended)
    for case .reply(.submission(let reply, .accepted(let record))) in then {
      // It is on disk, whatever has failed.
      if desk.isStored(record.id) { continue }
      if let taken = trouble.taken[record.id], isContended {
        answer(reply, taken)
      } else if isContended, trouble.begun.contains(record.id) {
        effects.actions.append(.reply(.submission(reply, .accepted(Self.asStored(record)))))
      } else if isContended {
        continue
      } else {
        refuse(reply, refusal)
      }
      refuse(record)
    }
    let actions = then.filter { action in
      switch action {
      case .reply(.submission(let reply, .replayed(let id))) where isContended:
        guard let taken = trouble.taken[id] else { return true }
        answer(reply, taken)
        return false
      case .reply(.submission(_, .accepted(let record))):
        let isFirst = trouble.taken[record.id] == nil && !trouble.begun.contains(record.id)
        return desk.isStored(record.id) || isContended && isFirst
      // The submission that this repeats may just have been refused.
      case .reply(.submission(let reply, .replayed)):
        refuse(reply, refusal)
        return false
      case .reply(let reply):
        // The submission whose key was reused may just have been refused, too.
        guard let decided = reply.refusal, !isContended || decided.isKeyReused else { return true }
        refuse(reply, refusal)
        return false
      case .start: return false
      default: return true
      }
    }
    desk.stick(writes, then: actions)
    for case .start(let start) in then { takeBack(start.call.id) }
  }

  /// Answers a submitter with the call that another instance has accepted under its key.
  private mutating func answer(_ reply: ReplyToken<SubmissionReply>, _ taken: TakenKey) {
    let isSame = taken.isRepetition
    effects.actions.append(
      .reply(
        .submission(reply, isSame ? .replayed(taken.earlier.call) : .refused(.keyReused(taken.submitted.key.name)))))
  }

  /// Undoes the start of an attempt that has not been made. When the store works again, its deadline may have passed,
  /// or its target's breaker may be open, so it is decided again.
  mutating func takeBack(_ id: CallID) {
    guard let running = calls.place(of: id), case .running(let flight, let cancelledBy) = calls[at: running].phase
    else { return }
    let target = calls[at: running].target
    if let withdrawal = flight.withdrawal { roster[target].refund(withdrawal, at: now) }
    leaveRunning(id, wasMade: false)
    let spec = calls[at: running].record.spec
    endPaced(target, flight.paceTicket, .none, of: spec)
    recordBreaker(target, .ignored, flight.permit, of: id, spec)
    guard let place = calls.place(of: id) else { return }
    calls[at: place].record.progress.attempts -= 1
    calls[at: place].record.progress.state = .held
    // It still waits since then.
    calls[at: place].record.progress.due = flight.due
    calls[at: place].record.progress.waiting = flight.waiting
    if !cancelledBy.isEmpty {
      return finish(id, .cancelled, for: cancelledBy)
    }
    writes.append(.update(id, calls[at: place].record.progress, nil))
    becomeReady(id)
  }

  /// The writes that are not about refused calls, nor about webhooks that report their ends.
  private mutating func dropRefused(_ writes: [StoreWrite]) -> [StoreWrite] {
    var kept: [StoreWrite] = []
    for write in writes {
      switch write {
      case .insert(let record) where record.reportsEndOf.map { desk.hasRefused($0) } == true: refuse(record)
      case .insert(let record) where desk.hasRefused(record.id): break
      case .awaitTurn(let id, _, _) where desk.hasRefused(id): break
      case .key(let record) where desk.hasRefused(record.call): break
      case .retried(let id, _) where desk.hasRefused(id): break
      case .erase(let id, _) where desk.hasRefused(id): break
      case .update(let id, let progress, _) where desk.hasRefused(id):
        if progress.state.isFinal { roster.countUnfinished(1, at: desk.trouble?.place(of: id) ?? 0) }
      default: kept.append(write)
      }
    }
    return kept
  }

  /// Undoes the acceptance of a call.
  private mutating func refuse(_ record: CallRecord) {
    let id = record.id
    let place = roster.place(of: record.spec.namespace)
    guard desk.refuse(record, at: place) else { return }
    // A call that is not in memory was written into the store, or has ended since; dropping its end corrects that.
    // The count of a target's queue corrects itself with the next refill.
    if owns(record.spec.target) { roster.countUnfinished(-1, at: place) } else { roster.countElsewhere(-1, at: place) }
    guard let call = calls[id] else { return }
    if case .running(let flight, let cancelledBy) = call.phase {
      leaveRunning(id, wasMade: false)
      endPaced(call.target, flight.paceTicket, .none, of: record.spec)
      recordBreaker(call.target, .ignored, flight.permit, of: id, record.spec)
      for reply in cancelledBy { refuse(.command(reply, .done(nil)), .callNotFound(id)) }
    }
    release(id)
  }
}
