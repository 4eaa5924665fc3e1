internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// The lane of the only writer: the pipeline of the service, and a connection to the store. On a store that is not
/// shared, each job is over before the next begins, as with SQLite.
struct SimulatedStoreLane {
  typealias Job = StorePipeline.Job

  /// The fault of a job.
  enum Fault {
    /// It had no effect.
    case before
    /// It took effect, but is reported as failed: only without a ledger, on a store that is not shared.
    case unnoticed
    /// It takes effect if the process dies now; the same.
    case atDeath
  }

  let isShared: Bool
  private(set) var pipeline: StorePipeline
  /// The session of the instance; nil if it has the store for itself, or no session.
  private(set) var session: Int64?
  /// The number of the connection, by which the store knows whether it is the last one of its session.
  private(set) var connection = 0
  /// Whether the connection is lost. The outcomes of the jobs in flight are unknown.
  private(set) var isLost = false
  /// When the last job that was sent will be over.
  var busyUntil = Timestamp.epoch
  /// Answers of jobs that took effect after the connection was lost.
  private var answers: [UInt64: [EngineEvent]] = [:]
  /// Jobs that were sent while the session stood.
  private var stood: Set<UInt64> = []
  /// The server to which it is connected.
  private(set) var server = 0
  /// The number of the last change which the store has reported as made.
  private(set) var told: Int64 = 0
  /// Whether the store has lost changes which it had reported as made. The session is then of no use any more.
  private(set) var isBehind = false

  init(isShared: Bool) {
    self.isShared = isShared
    // Look-ups are grouped only where seeds need not keep their meaning.
    pipeline = StorePipeline(inFlight: isShared ? StorePipeline.mostInFlight : 1, lookups: isShared ? 8 : 1)
  }

  /// Whether everything has been served.
  var isIdle: Bool { pipeline.settled == pipeline.posted }

  mutating func post(_ requests: [StoreRequest]) {
    pipeline.post(requests)
  }

  /// The next step of the pipeline.
  mutating func next(_ store: SimulatedStore) -> StorePipeline.Step {
    let step = pipeline.next()
    if case .submit(let job) = step, store.stands(session) { stood.insert(job.number) }
    return step
  }

  // MARK: Execution

  /// Ends the oldest job in flight.
  mutating func end(
    _ job: Job, on store: inout SimulatedStore, at now: Timestamp, fault: Fault?, isFull: Bool
  ) throws(SimulatedStore.Nonsense) {
    let outcome: StorePipeline.Outcome
    if let fault, job.isCommit ? !job.writes.isEmpty : true, refusal(of: job, in: store) == nil || fault == .before {
      // A claim that fails is rolled back: the engine would not know of the calls that it holds.
      if job.isCommit {
        switch fault {
        case .before: break
        case .unnoticed: try store.commitUnnoticed(job.writes, by: session)
        case .atDeath: store.commitAtDeath(job.writes, by: session)
        }
      }
      outcome = .failed(StoreFailure(isFull: isFull, message: "the simulated disk failed"))
    } else {
      outcome = try perform(job, on: &store, at: now)
    }
    stood.remove(job.number)
    if case .made = outcome, job.isChange { told = job.sequence }
    pipeline.ended(job.number, outcome)
  }

  /// Executes a job, as far as the store does not refuse it.
  mutating func perform(
    _ job: Job, on store: inout SimulatedStore, at now: Timestamp
  ) throws(SimulatedStore.Nonsense) -> StorePipeline.Outcome {
    if let failure = refusal(of: job, in: store) { return .failed(failure) }
    guard let request = job.requests.first else { return .made([]) }
    switch request.body {
    case .commit:
      if !job.writes.isEmpty { try store.commit(job.writes, by: session) }
    case .lease(let ask):
      guard let grant = try store.lease(ask.request, renewing: ask.session, instead: session, at: now) else {
        return .failed(StoreFailure(isFull: false, isLeaseLost: true, message: "the lease is over"))
      }
      if session != grant.session.id {
        session = grant.session.id
        store.begin(grant.session.id, by: job.sequence)
        (connection, server, isBehind) = (0, store.server, false)
      }
      store.made(job, of: session)
      return .made([.leased(grant, ask)])
    default: break
    }
    store.made(job, of: session)
    return .made(job.requests.flatMap { answer($0, store: &store) })
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

  /// Why the store refuses a job although it works; nil if it does not.
  func refusal(of job: Job, in store: SimulatedStore) -> StoreFailure? {
    guard isShared, !job.isEmpty else { return nil }
    if isBehind, !job.isJoining { return StoreFailure(isFull: false, isLeaseLost: true, message: Self.behind) }
    if isFenced(job, store) { return StoreFailure(isFull: false, isLeaseLost: true, message: "the lease is over") }
    if job.isJoining { return nil }
    if job.isChange, !store.isNext(job, of: session) {
      return StoreFailure(isFull: false, message: "the change before it was not made")
    }
    // The store finds these first.
    let stored = store.stored(job.writes, by: session)
    if !stored.isEmpty { return StoreFailure(isFull: false, stored: stored, message: "calls are stored") }
    let taken = store.taken(job.writes)
    return taken.isEmpty ? nil : StoreFailure(isFull: false, taken: taken, message: "keys are taken")
  }

  /// Whether other instances have taken over the shards, so that the store refuses the session's requests.
  private func isFenced(_ job: Job, _ store: SimulatedStore) -> Bool {
    if case .lease(let ask)? = job.requests.first?.body {
      return ask.session != nil && (ask.session != session || !store.stands(session))
    }
    guard session != nil else { return true }
    // Whoever has looked before the commit has not looked at all: the session may have ended since.
    return !store.stands(session)
  }

  // MARK: Lost connections

  /// Why a session ends that the store knows.
  static let behind = "the store has lost changes that it had reported as made"

  /// Whether a store does not have all changes which it, or the one before it, has reported as made.
  func hasLost(_ store: SimulatedStore) -> Bool { session != nil && told > store.lastChange(of: session) }

  /// The connection is lost.
  mutating func lose() {
    isLost = true
    pipeline.doubted("the connection to the simulated store was lost")
  }

  /// A job that the store still had when the connection was lost has taken effect.
  mutating func executed(_ job: Job, _ outcome: StorePipeline.Outcome) {
    if case .made(let events) = outcome { answers[job.number] = events }
  }

  /// The store is reached again, and the earlier connection is shut out. The ledger tells which jobs were made; those
  /// that change nothing, or begin a session, are done again.
  mutating func resolve(
    by ledger: Int64, on store: inout SimulatedStore, at now: Timestamp
  ) throws(SimulatedStore.Nonsense) {
    isLost = false
    server = store.server
    connection = session.flatMap { store.sessions[$0]?.connection } ?? 0
    isBehind = session != nil && ledger < told
    for job in pipeline.openJobs {
      var outcome: StorePipeline.Outcome
      if job.isEmpty {
        outcome = .made([])
      } else if !job.isChange || job.isJoining {
        outcome = try perform(job, on: &store, at: now)
      } else if job.sequence <= ledger {
        outcome = .made(answers[job.number] ?? [])
      } else {
        outcome = .failed(
          StoreFailure(
            isFull: false, isLeaseLost: isBehind || isFenced(job, store),
            message: isBehind ? Self.behind : "the commit was not made, as the ledger says"))
      }
      if case .made = outcome, job.isChange { told = job.sequence }
      pipeline.ended(job.number, outcome)
    }
    answers = [:]
  }
}

extension StorePipeline.Job {
  var isCommit: Bool { if case .commit? = requests.first?.body { true } else { false } }

  /// Whether a store has nothing to do for it.
  var isEmpty: Bool { isCommit && writes.isEmpty }

  /// Whether it begins a session, and with it a chain.
  var isJoining: Bool { if case .lease(let ask)? = requests.first?.body { ask.session == nil } else { false } }
}
