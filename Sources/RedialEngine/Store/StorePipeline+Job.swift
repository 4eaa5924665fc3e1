internal import RedialCore
internal import RedialModel

/// The jobs of a pipeline.
extension StorePipeline {
  /// What a store is asked to do at once.
  package struct Job: Sendable {
    /// Counts the jobs.
    let number: UInt64
    /// Its place in the chain of changes: one more than that of the change before it. A job that changes nothing has
    /// the number of the last change before it.
    package let sequence: Int64
    /// What the store has to do; nil for a commit without changes, which only waits for older ones.
    let work: StoreWork?
    /// The requests: several commits, several look-ups, or one request of another kind.
    let requests: [StoreRequest]
    /// The actions that follow the commits, in order.
    let then: [Action]

    /// Whether it changes something.
    var isChange: Bool { work?.isChange ?? false }
    /// The changes of all commits, in order.
    var writes: [StoreWrite] { if case .commit(let writes)? = work { writes } else { [] } }

    /// The events that report an answer to the engine.
    func events(_ answer: StoreAnswer) -> [EngineEvent] {
      guard let request = requests.first else { return [] }
      switch (request.body, answer) {
      case (.barrier, _): return [.storeWritten(epoch: request.epoch)]
      case (_, .due(let claim)): return [.claimedDue(claim)]
      case (.claimQueued(let target, let limit), .calls(let calls)):
        return [.claimedQueued(target: target, calls: calls, complete: calls.count < limit)]
      case (.fetch, .fetched(let calls)):
        return zip(requests.compactMap(\.fetched), calls).map { command, call in
          switch call {
          case .success(let call): return .fetched(command, call)
          // Not a failure of the store: only the client that requested the call gets an error.
          case .failure(let error):
            let problem = error.callDamaged ?? .callDamaged(CallRemains(id: command.id), error.message)
            return .fetchedDamaged(command, hasEnded: error.damaged?.hasEnded ?? false, problem)
          }
        }
      case (.findKey, .keys(let records)):
        return zip(requests.compactMap(\.lookup), records).map { .foundKey($0.submission, $1) }
      case (.lease(let ask), .leased(let grant)): return [.leased(grant, ask)]
      default: return []
      }
    }
  }

  /// A job without a result that was reported.
  struct Entry: Sendable {
    enum State: Sendable {
      /// It is not with the store.
      case waiting
      case sent
      /// The store has not made it, and it is sent again once all behind it have come back.
      case returned
      /// The store had it when it was lost.
      case doubted
      /// Its outcome.
      case ended(Result<StoreAnswer, StoreError>)
    }

    let job: Job
    var state: State
    var kind = StoreTrial.Kind.first
    var repetitions = 0
    var losses = 0

    var isSent: Bool { if case .sent = state { true } else { false } }
    var isWaiting: Bool { if case .waiting = state { true } else { false } }
    var isReturned: Bool { if case .returned = state { true } else { false } }
    var isOver: Bool { if case .ended = state { true } else { false } }

    /// The store is found again, and has made the changes up to this one.
    mutating func resolve(through last: Int64) {
      guard case .doubted = state else { return }
      state = .waiting
      if job.isChange, job.sequence <= last {
        kind = .answer
      } else {
        kind = .again
        losses += 1
      }
    }

    /// It has come back, and waits to be sent again.
    mutating func sendAgain() {
      state = .waiting
      if kind == .first { kind = .again }
    }
  }
}

extension StoreRequest {
  /// The command whose call it loads.
  var fetched: CallCommand? {
    if case .fetch(let command) = body { command } else { nil }
  }

  /// The key that it looks up.
  var lookup: (submission: KeyedSubmission, time: Timestamp)? {
    if case .findKey(let submission, let time) = body { (submission, time) } else { nil }
  }
}
