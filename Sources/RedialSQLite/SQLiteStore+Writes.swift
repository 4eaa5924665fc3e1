internal import RedialStore
package import RedialModel

extension SQLiteStore {
  /// Makes all of the changes, in order, or none of them.
  package func commit(_ writes: [StoreWrite]) throws(StoreError) {
    if writes.isEmpty { return }
    try transaction { () throws(StoreError) in try commitWithin(writes) }
  }

  /// Makes all of the changes, within a transaction.
  func commitWithin(_ writes: [StoreWrite]) throws(StoreError) {
    if eviction.erasedTo != nil { try eviction.notice(writes) }
    // By their places: to go through the writes, or to pass one on, copies it.
    for place in writes.indices {
      if try !logs(writes, place) { try apply(writes[place]) }
    }
  }

  // MARK: The log

  /// Writes a change to the log, if it can be there. Otherwise the call is not in the log any more, and the change belongs
  /// into the tables. Within a transaction.
  private func logs(_ writes: [StoreWrite], _ place: Int) throws(StoreError) -> Bool {
    switch writes[place] {
    case .insert(let call):
      // A call that is there already is an error, which the tables report. Of a sensitive one no copies are made.
      guard try isNew(call.id), !call.spec.isSensitive, !call.progress.state.isFinal,
        CallLog.takes(call.progress.state), log.hasRoom,
        call.content.size <= calls.largestLogged, case let new = try prepared(call),
        new.request.spec.count <= CallLog.largestPart
      else {
        try log.fold([call.id], into: calls)
        return false
      }
      log.insert(new)
      return true
    case .update(let id, let progress, let attempt):
      if CallLog.takes(progress.state), log.hasRoom, attempt.map(calls.batching.canWait) != false {
        let known = log.call(id)
        let stored = known == nil ? try calls.kindInMemory(id) : nil
        var logged: LoggedAttempt?
        if let attempt { logged = LoggedAttempt(try calls.stored(attempt, of: id)) }
        if known != nil || stored != nil, (logged == nil) == (attempt == nil), try isNew(attempt, of: id, known) {
          log.update(id, known, stored: stored, progress, logged)
          return true
        }
      }
      try log.fold([id], into: calls)
      return false
    case .key(let record):
      guard let known = log.call(record.call), known.new != nil else { return false }
      log.set(record, of: known)
      return true
    case .discard(let id), .awaitTurn(let id, _, _), .passTurn(let id), .retried(let id, _):
      try log.fold([id], into: calls)
      return false
    case .erase(let id, let spec) where spec.isSensitive:
      // The log never had its payloads.
      try log.fold([id], into: calls)
      return false
    case .erase:
      // The log has copies of what is erased.
      try log.empty(into: calls)
      return false
    case .target, .put, .add, .remove, .tallied: return false
    }
  }

  /// Whether there is no such call yet.
  private func isNew(_ id: CallID) throws(StoreError) -> Bool {
    if id > log.highest { return true }
    if log.call(id) != nil { return false }
    return try !calls.contains(id)
  }

  /// Whether the call has no such attempt yet. Otherwise the tables report an error.
  private func isNew(
    _ attempt: AttemptRecord?, of id: CallID, _ known: LoggedCalls.Call?
  ) throws(StoreError) -> Bool {
    guard let attempt else { return true }
    if let last = known?.attempts.last { return attempt.number > last.number }
    if known?.new != nil { return true }
    return try !calls.hasAttempt(attempt.number, of: id)
  }

  // MARK: The tables

  /// Prepares a call to insert.
  private func prepared(_ call: CallRecord) throws(StoreError) -> NewCall {
    NewCall(
      call: call, targetID: try targets.intern(call.spec.target),
      namespace: try namespaces.intern(call.spec.namespace), request: try calls.request(of: call))
  }

  /// Makes a change, within a transaction.
  func apply(_ write: StoreWrite) throws(StoreError) {
    switch write {
    case .insert(let call):
      log.raiseHighest(to: call.id)
      try calls.insert([try prepared(call)])
    case .update(let id, let progress, let attempt):
      try calls.update(id, progress)
      if let attempt { try calls.insert(attempt, of: id) }
    case .key(let record):
      try calls.insert(record)
    case .discard(let id):
      try calls.remove(id)
      try turns.pass(id)
    case .target(let key, let record):
      try targets.set(record, of: key)
    case .awaitTurn(let id, let target, let key):
      try turns.enter(
        id, targetID: try targets.intern(target),
        namespace: try namespaces.intern(target.namespace), key: key)
    case .passTurn(let id):
      try turns.pass(id)
    case .retried(let id, let retry):
      try calls.insert(retry, of: id)
    case .erase(let id, let spec):
      try calls.erase(id, leaving: spec)
    case .put(let document):
      try service.documents.put(document, isNew: false)
    case .add(let document):
      try service.documents.put(document, isNew: true)
    case .remove(let kind, let id):
      try service.documents.remove(kind, id)
    case .tallied(let minutes):
      for one in minutes {
        try service.add(one.tally, at: one.minute, namespace: try namespaces.intern(one.namespace))
      }
    }
  }
}
