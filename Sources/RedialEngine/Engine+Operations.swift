internal import RedialCore
internal import RedialModel

/// Commands of clients about calls.
extension Engine {
  /// Executes a command, or requests its call from the store.
  mutating func operate(_ operation: Operation) {
    if let trouble { return refuse(operation, trouble.problem) }
    guard leases.canWork else { return refuse(operation, Self.leaseLost) }
    guard let call = calls[operation.id], call.record.spec.namespace == operation.namespace else {
      return fetch(operation)
    }
    switch operation.kind {
    case .cancel: cancel(call, operation)
    case .retry: retryNow(call, operation)
    case .erase, .purge: refuse(operation, Self.notEnded(operation.id))
    }
  }

  private mutating func fetch(_ operation: Operation) {
    // After all decisions about the call until now.
    flush()
    fetches[operation.id, default: Fetches()].outstanding += 1
    effects.store.append(StoreRequest(.fetch(operation), epoch: epoch))
  }

  /// A fetch has been answered, or has failed. Returns true if its answer shows the call as it was before it last
  /// left memory.
  mutating func endFetch(of id: CallID) -> Bool {
    guard var fetch = fetches[id] else { return false }
    fetch.outstanding -= 1
    let isStale = fetch.stale > 0
    if isStale { fetch.stale -= 1 }
    fetches[id] = fetch.outstanding > 0 ? fetch : nil
    return isStale
  }

  /// The call that a command is about has arrived from the store.
  mutating func fetched(_ operation: Operation, _ record: CallRecord?) {
    let isStale = endFetch(of: operation.id)
    let isHere = calls[operation.id]?.record.spec.namespace == operation.namespace
    if isHere || isStale { return operate(operation) }
    guard let record else {
      return refuse(
        operation,
        Problem(
          status: 404, code: "callNotFound", title: "There is no such call",
          detail: "No call has the id \(operation.id); it may have been removed."))
    }
    guard owns(record.spec.target) else { return refuse(operation, Self.ownedElsewhere(record.spec.target)) }
    if let trouble {
      // The store has already marked it as held.
      if !record.progress.state.isFinal { adopt(record) }
      if putOff(.operate(operation)) { return }
      return refuse(operation, trouble.problem)
    }
    if !record.progress.state.isFinal {
      // It is not adopted, because that might put it back into the store, to be fetched again.
      hold(record, phase: .waiting)
      return operate(operation)
    }
    switch operation.kind {
    case .retry where record.spec.contentErasedAt != nil: refuse(operation, Self.contentErased(record.id))
    case .retry: runAgain(record, operation)
    case .erase: erase(record, operation)
    case .purge: purge(record, operation)
    case .cancel where record.progress.state == .cancelled: done(operation)
    case .cancel: refuse(operation, Self.alreadyEnded(record.id, record.progress.state))
    }
  }

  private mutating func cancel(_ call: ActiveCall, _ operation: Operation) {
    guard case .running(let permit, let cancelledBy) = call.phase else {
      finish(operation.id, .cancelled)
      return done(operation)
    }
    // The stamp stays: it is the same attempt.
    calls[operation.id]?.phase = .running(permit, cancelledBy: cancelledBy + [operation.reply])
    // After the attempt's start, which may still wait for its commit: an earlier abort would find nothing.
    afterCommit.append(.abort(operation.id))
  }

  /// A call that waits between attempts runs now; one that waits for its target continues to wait.
  private mutating func retryNow(_ call: ActiveCall, _ operation: Operation) {
    switch call.phase {
    case .running:
      refuse(
        operation,
        Problem(
          status: 409, code: "callRunning", title: "The call is running",
          detail: "An attempt of \(operation.id) is in flight; wait for its end, or cancel it."))
    case .ready:
      note(operation, of: call.record)
      done(operation)
    case .waiting where call.record.progress.waiting == .ordering:
      // It no longer waits for its time, but still for its turn.
      var record = call.record
      record.progress.roundStartedAt = min(record.progress.roundStartedAt, now)
      release(operation.id)
      awaitTurn(record)
      note(operation, of: record)
      done(operation)
    case .waiting:
      var record = call.record
      record.progress.due = now
      record.progress.waiting = nil
      if record.progress.attempts == record.progress.attemptsBefore {
        record.progress.roundStartedAt = min(record.progress.roundStartedAt, now)
      }
      calls[operation.id]?.record = record
      writes.append(.update(operation.id, record.progress, nil))
      becomeReady(operation.id)
      note(operation, of: record)
      done(operation)
    }
  }

  /// A call that has ended starts again, with all attempts and the whole deadline.
  private mutating func runAgain(_ ended: CallRecord, _ operation: Operation) {
    if isDraining {
      return refuse(
        operation,
        Problem(
          status: 503, code: "draining", title: "Redial is stopping",
          detail: "The call cannot be run again while the service stops; try again later.", retryAfter: 5))
    }
    // A call that runs again counts as one more unfinished call.
    if let problem = refusal(in: ended.spec.namespace) { return refuse(operation, problem) }
    var record = ended
    record.progress = CallProgress(
      state: .held, due: now, attempts: ended.progress.attempts, attemptsBefore: ended.progress.attempts,
      roundStartedAt: now)
    countUnfinished(1, at: place(of: record.spec.namespace))
    if record.spec.orderingKey != nil {
      awaitTurn(record)
    } else {
      writes.append(.update(record.id, record.progress, nil))
      hold(record, phase: .waiting)
      becomeReady(record.id)
    }
    note(operation, of: record)
    done(operation)
  }

  /// Records the manual retry.
  private mutating func note(_ operation: Operation, of record: CallRecord) {
    let retry = ManualRetry(at: now, afterAttempt: record.progress.attempts, attribution: operation.attribution)
    writes.append(.retried(record.id, retry))
    if record.spec.callback != nil { calls[record.id]?.record.retries.append(retry) }
  }

  mutating func done(_ operation: Operation) {
    afterCommit.append(.reply(operation.reply, .done(operation.id)))
  }

  mutating func refuse(_ operation: Operation, _ problem: Problem) {
    refuse(operation.reply, problem)
  }

  static func alreadyEnded(_ id: CallID, _ state: StoredState) -> Problem {
    Problem(
      status: 409, code: "callEnded", title: "The call has ended",
      detail: "\(id) has \(state.visible.rawValue) and cannot be cancelled any more.")
  }
}
