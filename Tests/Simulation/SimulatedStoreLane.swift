internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// The lane of the one writer, as the service has it: what queued up while the last transaction ran goes into the
/// next one, and what stands on something that failed fails too.
struct SimulatedStoreLane {
  /// What the writer does at a time.
  enum Job {
    case commit([StoreRequest])
    case other(StoreRequest)
  }

  /// What goes wrong with a job.
  enum Fault {
    /// Nothing happened.
    case before
    /// It happened, and nobody says so.
    case unnoticed
    /// It will have happened, if the process dies now.
    case atDeath
  }

  /// What came of a job.
  enum Outcome {
    case committed(then: [Action])
    case events([EngineEvent])
  }

  private var mailbox: [StoreRequest] = []
  private(set) var job: Job?
  private var failed: (epoch: UInt64, failure: StoreFailure)?

  mutating func post(_ requests: [StoreRequest]) {
    mailbox += requests
  }

  /// Begins the next job; nil when there is none, or one is under way.
  mutating func begin() -> Job? {
    guard job == nil, let first = mailbox.first else { return nil }
    var group: [StoreRequest] = []
    for request in mailbox {
      guard case .commit = request.body, !isVoid(request) else { break }
      group.append(request)
    }
    mailbox.removeFirst(max(1, group.count))
    job = group.isEmpty ? .other(first) : .commit(group)
    return job
  }

  /// Whether a job has no effect on the store.
  func isVoid(_ job: Job) -> Bool {
    if case .other(let request) = job { isVoid(request) } else { false }
  }

  private func isVoid(_ request: StoreRequest) -> Bool {
    if let failed { request.epoch <= failed.epoch } else { false }
  }

  /// Ends the job that is under way.
  mutating func end(on store: inout SimulatedStore, fault: Fault?, isFull: Bool = false) throws(SimulatedStore.Nonsense)
    -> Outcome
  {
    guard let job else { return .events([]) }
    self.job = nil
    switch job {
    case .commit(let group):
      let writes = Self.writes(group)
      if let fault, !writes.isEmpty {
        switch fault {
        case .before: break
        case .unnoticed: try store.commitUnnoticed(writes)
        case .atDeath: store.commitAtDeath(writes)
        }
        return fail(group, isFull: isFull)
      }
      if !writes.isEmpty { try store.commit(writes) }
      return .committed(
        then: group.flatMap { request -> [Action] in
          if case .commit(_, let then) = request.body { then } else { [] }
        })
    case .other(let request):
      if isVoid(request) { return .events(void([request])) }
      // A claim that fails is rolled back: the engine could not know of calls that it holds unnoticed.
      if fault != nil { return fail([request], isFull: isFull) }
      return .events(serve(request, store: &store))
    }
  }

  static func writes(_ group: [StoreRequest]) -> [StoreWrite] {
    group.flatMap { request -> [StoreWrite] in
      if case .commit(let writes, _) = request.body { writes } else { [] }
    }
  }

  private func serve(_ request: StoreRequest, store: inout SimulatedStore) -> [EngineEvent] {
    switch request.body {
    case .commit, .barrier: return []
    case .claimDue(let time, let limit):
      return [.claimedDue(store.claimDue(before: time, limit: limit))]
    case .claimQueued(let target, let limit):
      let calls = store.claimQueued(target: target, limit: limit)
      return [.claimedQueued(target: target, calls: calls, complete: calls.count < limit)]
    case .findKey(let submission, let time):
      return [.foundKey(submission, store.find(key: submission.key.text, at: time))]
    case .fetch(let operation):
      return [.fetched(operation, store.claim(operation.id, in: operation.namespace))]
    }
  }

  private mutating func fail(_ requests: [StoreRequest], isFull: Bool) -> Outcome {
    guard let last = requests.last else { return .events([]) }
    failed = (last.epoch, StoreFailure(isFull: isFull, message: "the simulated disk failed"))
    return .events(void(requests))
  }

  private func void(_ requests: [StoreRequest]) -> [EngineEvent] {
    guard let failed else { return [] }
    return requests.map { .storeFailed($0, failed.failure) }
  }
}
