internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// The lane of the only writer, as in the service: requests that arrived during the last transaction form the next one,
/// and those that depend on a failed one fail too.
struct SimulatedStoreLane {
  /// A unit of work for the writer.
  enum Job {
    case commit([StoreRequest])
    case other(StoreRequest)
  }

  /// The fault of a job.
  enum Fault {
    /// It had no effect.
    case before
    /// It took effect, but is not reported.
    case unnoticed
    /// It takes effect if the process dies now.
    case atDeath
  }

  /// The result of a job.
  enum Outcome {
    case committed(then: [Action])
    case events([EngineEvent])
  }

  private var mailbox: [StoreRequest] = []
  private(set) var job: Job?
  private var failed: (epoch: UInt64, failure: StoreFailure)?
  /// The session of the instance; nil if it has the store for itself, or no session.
  private(set) var session: Int64?
  var isShared = false

  /// Whether everything has been served.
  var isIdle: Bool { job == nil && mailbox.isEmpty }

  mutating func post(_ requests: [StoreRequest]) {
    mailbox += requests
  }

  /// Begins the next job; nil if there is none, or one is running.
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

  /// Ends the running job.
  mutating func end(
    on store: inout SimulatedStore, at now: Timestamp, fault: Fault?, isFull: Bool = false
  ) throws(SimulatedStore.Nonsense) -> Outcome {
    guard let job else { return .events([]) }
    self.job = nil
    if fault == nil || fault == .unnoticed, isFenced(job, store) {
      if case .commit(let group) = job { return fail(group, isFull: false, isLeaseLost: true) }
      if case .other(let request) = job { return fail([request], isFull: false, isLeaseLost: true) }
    }
    switch job {
    case .commit(let group):
      let writes = Self.writes(group)
      if isShared, fault != .before {
        let taken = store.taken(writes)
        if !taken.isEmpty { return fail(group, isFull: false, taken: taken) }
      }
      if let fault, !writes.isEmpty {
        switch fault {
        case .before: break
        case .unnoticed: try store.commitUnnoticed(writes, by: session)
        case .atDeath: store.commitAtDeath(writes, by: session)
        }
        return fail(group, isFull: isFull)
      }
      if !writes.isEmpty { try store.commit(writes, by: session) }
      return .committed(
        then: group.flatMap { request -> [Action] in
          if case .commit(_, let then) = request.body { then } else { [] }
        })
    case .other(let request):
      if isVoid(request) { return .events(void([request])) }
      // A claim that fails is rolled back: the engine would not know of the calls that it holds.
      if fault != nil { return fail([request], isFull: isFull) }
      return serve(request, store: &store, at: now)
    }
  }

  static func writes(_ group: [StoreRequest]) -> [StoreWrite] {
    group.flatMap { request -> [StoreWrite] in
      if case .commit(let writes, _) = request.body { writes } else { [] }
    }
  }

  /// Whether other instances have taken over the shards, so that the store refuses its requests.
  func isFenced(_ job: Job, _ store: SimulatedStore) -> Bool {
    guard isShared, !isVoid(job) else { return false }
    switch job {
    case .commit(let group): return !Self.writes(group).isEmpty && (session == nil || !store.stands(session))
    case .other(let request):
      switch request.body {
      case .lease(let ask): return ask.session != nil && (ask.session != session || !store.stands(session))
      default: return session == nil || !store.stands(session)
      }
    }
  }

  /// Whether the store refuses a job although it works.
  func isRefused(_ job: Job, _ store: SimulatedStore) -> Bool {
    guard isShared, !isVoid(job) else { return false }
    if case .commit(let group) = job, !store.taken(Self.writes(group)).isEmpty { return true }
    return isFenced(job, store)
  }

  private mutating func serve(_ request: StoreRequest, store: inout SimulatedStore, at now: Timestamp) -> Outcome {
    if case .lease(let ask) = request.body {
      guard let grant = store.lease(ask.request, renewing: ask.session, instead: session, at: now) else {
        return fail([request], isFull: false, isLeaseLost: true)
      }
      session = grant.session.id
      return .events([.leased(grant, ask)])
    }
    return .events(answer(request, store: &store))
  }

  private func answer(_ request: StoreRequest, store: inout SimulatedStore) -> [EngineEvent] {
    switch request.body {
    case .commit, .lease: return []
    case .barrier: return [.storeWritten(epoch: request.epoch)]
    case .claimDue(let time, let limit):
      return [.claimedDue(store.claimDue(before: time, limit: limit, by: session))]
    case .claimQueued(let target, let limit):
      let calls = store.claimQueued(target: target, limit: limit, by: session)
      return [.claimedQueued(target: target, calls: calls, complete: calls.count < limit)]
    case .findKey(let submission, let time):
      return [.foundKey(submission, store.find(key: submission.key.name, at: time))]
    case .fetch(let operation):
      return [.fetched(operation, store.claim(operation.id, in: operation.namespace, by: session))]
    }
  }

  private mutating func fail(
    _ requests: [StoreRequest], isFull: Bool, isLeaseLost: Bool = false, taken: [TakenKey] = []
  )
    -> Outcome
  {
    guard let last = requests.last else { return .events([]) }
    failed = (
      last.epoch,
      StoreFailure(
        isFull: isFull, isLeaseLost: isLeaseLost, taken: taken, message: "the simulated disk failed")
    )
    return .events(void(requests))
  }

  private func void(_ requests: [StoreRequest]) -> [EngineEvent] {
    guard let failed else { return [] }
    return requests.map { .storeFailed($0, failed.failure) }
  }
}
