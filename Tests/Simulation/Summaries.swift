internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// The texts of a trace.
extension EngineEvent {
  var summary: String {
    switch self {
    case .recovered(let state): "recovered \(state.running.count) running, due \(state.nextDue?.text ?? "never")"
    case .submit(let descriptor, let reply):
      "submit \(reply.rawValue) to \(descriptor.spec.target), start \(descriptor.start), "
        + "attempts \(descriptor.spec.policy.maxAttempts), deadline \(descriptor.spec.policy.deadline)"
    case .targetCommand(let control): "\(control.kind) \(control.target)"
    case .command(let operation): "\(operation.kind) \(operation.id)"
    case .question: "question"
    case .attemptEnded(let id, let number, let result):
      "end of \(id) #\(number): \(result.outcome) \(result.status.map { "\($0)" } ?? "")"
    case .attemptTooLate(let id, let number): "end of \(id) #\(number): localFault "
    case .claimedDue(let claim):
      "due \(claim.calls.map(\.id)), next \(claim.nextDue?.text ?? "never")"
    case .claimedQueued(let target, let calls, let complete): "queued at \(target) \(calls.map(\.id)), \(complete)"
    case .fetched(let operation, let record):
      "fetched for \(operation.kind) \(operation.id) \(record.map { "\($0.progress.state)" } ?? "none")"
    case .fetchedDamaged(let operation, _, _): "damaged \(operation.id) for \(operation.kind)"
    case .foundKey(let submission, let record):
      "key \(submission.key.name) of \(submission.reply.rawValue) \(record.map { "\($0.call)" } ?? "unknown")"
    case .setAside(let count, let namespace): "\(count) of \(namespace) set aside"
    case .namespaces(let all): "there are \(all)"
    case .storeFailed(let request, _): "failure of \(request.summary)"
    case .storeWritten(let epoch): "written/\(epoch)"
    case .storeInDoubt(let message): message.map { "store in doubt: \($0)" } ?? "store known"
    case .room(let isShort): isShort ? "short of room" : "room"
    case .storeMisplaced(let isMisplaced): isMisplaced ? "store misplaced" : "store in place"
    case .keyMissing(let isMissing): isMissing ? "key missing" : "key found"
    case .privacies(let all): "privacies of \(all.keys.sorted())"
    case .subscriptions(let all): "subscriptions \(all.map(\.id))"
    case .announce(let announcement): "announce \(announcement.type)"
    case .change(let change): "change \(change.writes.count) documents"
    case .leased(let grant, _):
      "lease \(grant.session.id), \(grant.shards.size) shards, \(grant.gained.size) of them new, share \(grant.share)"
    case .changed: "changed"
    case .callsStored: "calls stored"
    case .leaseRenewed(let session, _): "lease \(session) renewed"
    case .drain: "drain"
    }
  }
}

extension Reply {
  /// The number of its token.
  var number: UInt64 {
    switch self {
    case .submission(let token, _): token.rawValue
    case .command(let token, _): token.rawValue
    case .targetCommand(let token, _): token.rawValue
    }
  }
}

extension StoreRequest {
  var summary: String {
    switch body {
    case .commit(let writes, let then):
      "commit/\(epoch) [\(writes.map(\.summary).joined(separator: ", "))] then "
        + "[\(then.map(\.summary).joined(separator: ", "))]"
    case .claimDue(let time, let limit): "due/\(epoch) before \(time.text), \(limit)"
    case .claimQueued(let target, let limit): "queued/\(epoch) at \(target), \(limit)"
    case .fetch(let operation): "fetch/\(epoch) \(operation.id)"
    case .findKey(let submission, _): "key/\(epoch) \(submission.key.name) of \(submission.reply.rawValue)"
    case .lease(let ask):
      "lease/\(epoch) \(ask.session.map { "\($0)" } ?? "new"), gives \(ask.request.giveBack.size) back"
    case .barrier: "barrier/\(epoch)"
    }
  }
}

extension StoreWrite {
  var summary: String {
    switch self {
    case .insert(let record): "+\(record.kind) \(record.id) \(record.progress.summary)"
    case .update(let id, let progress, _): "\(id) \(progress.summary)"
    case .key(let record): "key \(record.key.name) of \(record.call)"
    case .discard(let id): "-\(id)"
    case .target(let key, let record): "\(key) \(String(decoding: record.bytes, as: UTF8.self))"
    case .awaitTurn(let id, _, let key): "\(id) awaits its turn of \(key)"
    case .passTurn(let id): "\(id) passes its turn on"
    case .retried(let id, _): "\(id) retried"
    case .erase(let id, _): "\(id) erased"
    case .put(let document), .add(let document): "\(document.kind) \(document.id)"
    case .remove(let kind, let id): "-\(kind) \(id)"
    case .tallied(let minutes): "\(minutes.count) minutes tallied"
    }
  }
}

extension CallProgress {
  var summary: String {
    let words = [waiting.map { "\($0)" }, failure.map { "\($0)" }].compactMap { $0 }
    return "\(state) #\(attempts) due \(due.text) \(words.joined(separator: " "))"
  }
}

extension Action {
  var summary: String {
    switch self {
    case .reply(let reply):
      switch reply {
      case _ where reply.refusal != nil: "reply \(reply.number) refused \(reply.refusal?.problem.code.rawValue ?? "")"
      case .submission(let token, .accepted(let record)): "reply \(token.rawValue) accepted \(record.id)"
      case .submission(let token, .replayed(let id)): "reply \(token.rawValue) replayed \(id)"
      case .command(let token, _): "reply \(token.rawValue) done"
      case .targetCommand(let token, _): "reply \(token.rawValue) controlled"
      case .submission(let token, .refused): "reply \(token.rawValue) refused"
      }
    case .answer: "answer"
    case .start(let start): "start \(start.call.id) #\(start.number)"
    case .abort(let id): "abort \(id)"
    case .notice(let notice): "notice \(notice)"
    case .event(let event): "event \(event.type.rawValue) of \(event.target)"
    case .forward(let descriptor, let reply):
      "forwards \(descriptor.identity.map { "\($0.id)" } ?? "") for \(reply.rawValue)"
    case .tellOwners(let shards): "tells the owners of \(shards.size) shards"
    case .tookOver(let shards, let state): "took \(shards.size) shards over, \(state.running.count) running"
    case .drained: "drained"
    case .resign: "resigns"
    }
  }
}
