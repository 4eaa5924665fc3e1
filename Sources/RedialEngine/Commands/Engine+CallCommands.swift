internal import RedialCore
internal import RedialModel

/// Commands of clients about calls.
extension Engine {
  /// Executes a command, or requests its call from the store.
  mutating func execute(_ command: CallCommand) {
    if hasDrained { return refuse(command, .draining) }
    if let trouble = desk.trouble { return refuse(command, trouble.refusal) }
    guard desk.leases.canWork else { return refuse(command, .leaseLost) }
    guard let call = calls[command.id], call.record.spec.namespace == command.namespace else {
      return fetch(command)
    }
    switch command.kind {
    case .cancel: cancel(call, command)
    case .retry where !command.isForEnded: retryNow(call, command)
    // Another command may just have run it again: whoever is refused reads the call, and must find it so.
    case .retry: afterCommit.append(.reply(.command(command.reply, .refused(.callNotEnded(command.id)))))
    case .erase, .purge: refuse(command, .callNotEnded(command.id))
    case .reclaim: refuse(command, .callInMemory(command.id))
    }
  }

  private mutating func fetch(_ command: CallCommand) {
    // After all decisions about the call until now.
    flush()
    desk.fetches.begin(command.id)
    request(.fetch(command))
  }

  /// The call that a command is about has arrived from the store.
  mutating func fetched(_ command: CallCommand, _ record: CallRecord?) {
    let isStale = desk.fetches.end(command.id)
    let isHere = calls[command.id]?.record.spec.namespace == command.namespace
    if isHere || isStale { return execute(command) }
    guard let record else {
      return refuse(command, .callNotFound(command.id))
    }
    guard owns(record.spec.target) else {
      effects.actions.append(.reply(.command(command.reply, .elsewhere(record.spec.target))))
      return
    }
    if !record.progress.state.isFinal { leaveQueue(record) }
    if let trouble = desk.trouble {
      // The store has already marked it as held.
      if !record.progress.state.isFinal { adopt(record) }
      if desk.putOff(.command(command)) { return }
      return refuse(command, trouble.refusal)
    }
    guard record.progress.state.isFinal else { return found(record, command) }
    if let refusal = command.refusal(ofEnded: record) { return refuse(command, refusal) }
    switch command.kind {
    case .retry where record.spec.contentErasedAt != nil: refuse(command, .contentErased(record.id))
    case .retry: runAgain(record, command)
    case .erase: erase(record, command)
    case .purge: purge(command)
    case .cancel where record.progress.state == .cancelled: unchanged(command, record)
    case .cancel, .reclaim: refuse(command, .callEnded(record.id, record.progress.state))
    }
  }

  /// The call that a command is about has arrived, has not ended, and is held by this engine from now on.
  private mutating func found(_ record: CallRecord, _ command: CallCommand) {
    guard desk.leases.canWork else {
      adopt(record)
      return refuse(command, .leaseLost)
    }
    switch command.kind {
    case .cancel,
      .retry where !command.isForEnded:
      // It is not adopted, because that might put it back into the store, to be fetched again.
      hold(record)
      execute(command)
    case .retry, .erase, .purge:
      putBack(record)
      refuse(command, .callNotEnded(record.id))
    case .reclaim:
      putBack(record)
      done(command, record)
    }
  }

  private mutating func cancel(_ call: ActiveCall, _ command: CallCommand) {
    keep(command.audit)
    guard call.isRunning, let place = calls.place(of: command.id) else {
      return finish(command.id, .cancelled, for: [command.reply])
    }
    calls[at: place].cancel(for: command.reply)
    // After the attempt's start, which may still wait for its commit: an earlier abort would find nothing.
    afterCommit.append(.abort(command.id))
  }

  /// A call that waits between attempts runs now; one that waits for its target continues to wait.
  private mutating func retryNow(_ call: ActiveCall, _ command: CallCommand) {
    switch call.phase {
    case .running: refuse(command, .callRunning(command.id))
    case .ready:
      recordManualRetry(command, of: call.record)
      done(command, call.record)
    case .waiting where call.record.progress.waiting == .ordering:
      // It no longer waits for its time, but still for its turn.
      var record = call.record
      record.progress.roundStartedAt = min(record.progress.roundStartedAt, now)
      release(command.id)
      awaitTurn(record)
      recordManualRetry(command, of: record)
      done(command, record)
    case .waiting:
      var record = call.record
      record.progress.due = now
      record.progress.waiting = nil
      if record.progress.attempts == record.progress.attemptsBefore {
        record.progress.roundStartedAt = min(record.progress.roundStartedAt, now)
      }
      if let place = calls.place(of: command.id) { calls[at: place].record = record }
      writes.append(.update(command.id, record.progress, nil))
      becomeReady(command.id)
      recordManualRetry(command, of: record)
      done(command, record)
    }
  }

  /// A call that has ended starts again, with all attempts and the whole deadline.
  private mutating func runAgain(_ ended: CallRecord, _ command: CallCommand) {
    if isDraining {
      return refuse(command, .draining)
    }
    // A call that runs again counts as one more unfinished call.
    if let refusal = refusal(in: ended.spec.namespace) { return refuse(command, refusal) }
    var record = ended
    let start = command.start(of: ended, at: now)
    record.progress = CallProgress(
      state: .held, due: start, attempts: ended.progress.attempts, attemptsBefore: ended.progress.attempts,
      roundStartedAt: start)
    record.progress.mayBeProcessing = ended.progress.mayBeProcessing
    roster.countUnfinished(1, at: roster.place(of: record.spec.namespace))
    if record.spec.orderingKey != nil {
      awaitTurn(record)
    } else if start > now {
      record.progress.state = .scheduled
      record.progress.waiting = .startTime
      writes.append(.update(record.id, record.progress, nil))
      desk.claims.stored(due: start)
      // Answers that the store has already sent show it as ended.
      desk.fetches.outdate(record.id)
    } else {
      writes.append(.update(record.id, record.progress, nil))
      hold(record)
      becomeReady(record.id)
    }
    recordManualRetry(command, of: record)
    done(command, record)
  }

  /// Records that a command has retried a call.
  private mutating func recordManualRetry(_ command: CallCommand, of record: CallRecord) {
    keep(command.audit)
    let retry = ManualRetry(at: now, afterAttempt: record.progress.attempts, attribution: command.attribution)
    writes.append(.retried(record.id, retry))
    if record.spec.callback != nil, let place = calls.place(of: record.id) {
      calls[at: place].record.retries.append(retry)
    }
  }

  /// Writes the record of a request with what it changes: a crash leaves both or neither.
  mutating func keep(_ audit: StoredDocument?) {
    if let audit { writes.append(.put(audit)) }
  }

  /// Answers a command once it is on disk.
  ///
  /// - Parameter record: The call as the command has left it; nil if it was removed.
  mutating func done(_ command: CallCommand, _ record: CallRecord?) { done([command.reply], record) }

  mutating func done(_ replies: [ReplyToken<CallCommand.Reply>], _ record: CallRecord?) {
    for reply in replies { afterCommit.append(.reply(.command(reply, .done(record)))) }
  }

  /// Answers a command whose call is already as it wants it.
  mutating func unchanged(_ command: CallCommand, _ record: CallRecord) {
    afterCommit.append(.reply(.command(command.reply, .unchanged(record))))
  }

  mutating func refuse(_ command: CallCommand, _ refusal: Refusal) {
    effects.actions.append(.reply(.command(command.reply, .refused(refusal))))
  }
}
