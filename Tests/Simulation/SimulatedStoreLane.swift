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
  /// Whether the connection is lost, and whether that was with jobs in flight.
  private(set) var isLost = false
  private var isInDoubt = false
  /// Whether a session was being begun then. It has no place in the ledger of the one before.
  private var wasJoining = false
  /// When the last job that was sent will be over.
  var busyUntil = Timestamp.epoch
  /// Answers of jobs that took effect after the connection was lost, and the jobs of which only the answer is wanted.
  private var answers: [UInt64: StoreAnswer] = [:]
  private var answering: Set<UInt64> = []
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
  var isIdle: Bool { pipeline.concluded == pipeline.posted }

  mutating func post(_ requests: [StoreRequest]) {
    pipeline.post(requests)
  }

  /// The next step of the pipeline.
  mutating func next(_ store: SimulatedStore) -> StorePipeline.Step {
    let step = pipeline.next()
    guard case .submit(let job, _, let trial) = step else { return step }
    if store.stands(session) { stood.insert(job.number) }
    if trial.kind == .answer { answering.insert(job.number) } else { answering.remove(job.number) }
    return step
  }

  // MARK: Execution

  /// Ends the oldest job in flight.
  mutating func end(
    _ job: Job, on store: inout SimulatedStore, at now: Timestamp, fault: Fault?, isFull: Bool
  ) throws(SimulatedStore.Nonsense) {
    let outcome: StoreOutcome
    if answering.remove(job.number) != nil {
      outcome = .made(answers.removeValue(forKey: job.number) ?? .done)
    } else if let fault, job.isCommit ? !job.writes.isEmpty : true,
      refusal(of: job, in: store) == nil || fault == .before
    {
      // A claim that fails is rolled back: the engine would not know of the calls that it holds.
      if job.isCommit {
        switch fault {
        case .before: break
        case .unnoticed: try store.commitUnnoticed(job.writes, by: session)
        case .atDeath: store.commitAtDeath(job.writes, by: session)
        }
      }
      outcome = .notMade(StoreError(kind: isFull ? .full : .unavailable, message: "the simulated disk failed"))
    } else {
      outcome = try perform(job, on: &store, at: now)
    }
    stood.remove(job.number)
    if case .made = outcome, job.isChange { told = job.sequence }
    pipeline.heard(outcome)
  }

  /// The oldest job has met another transaction, unless only its answer is wanted.
  mutating func repeatOldest(_ job: Job) -> Bool {
    guard !answering.contains(job.number) else { return false }
    pipeline.heard(.repeatable(StoreError(kind: .unavailable, message: "it conflicts with another")))
    return true
  }

  /// Executes a job, as far as the store does not refuse it.
  mutating func perform(
    _ job: Job, on store: inout SimulatedStore, at now: Timestamp
  ) throws(SimulatedStore.Nonsense) -> StoreOutcome {
    if let failure = refusal(of: job, in: store) { return .notMade(failure) }
    guard let work = job.work, let answer = try answer(work, job.sequence, on: &store, at: now) else {
      return .notMade(StoreError(kind: .leaseLost, message: "the lease is over"))
    }
    store.made(job, of: session)
    return .made(answer)
  }

  /// Does what a work wants; nil if it is for a lease that has ended.
  private mutating func answer(
    _ work: StoreWork, _ sequence: Int64, on store: inout SimulatedStore, at now: Timestamp
  ) throws(SimulatedStore.Nonsense) -> StoreAnswer? {
    switch work {
    case .commit(let writes):
      try store.commit(writes, by: session)
      return .done
    case .lease(let request, let renewing):
      guard let grant = try store.lease(request, renewing: renewing, instead: session, at: now) else { return nil }
      if session != grant.session.id {
        session = grant.session.id
        store.begin(grant.session.id, by: sequence)
        (connection, server, isBehind) = (0, store.server, false)
      }
      return .leased(grant)
    case .claimDue(let time, let limit): return .due(store.claimDue(before: time, limit: limit, by: session))
    case .claimQueued(let target, let limit):
      return .calls(store.claimQueued(target: target, limit: limit, by: session))
    case .fetch(let calls):
      return .fetched(calls.map { .success(store.claim($0.id, in: $0.namespace, by: session)) })
    case .find(let names, let time): return .keys(names.map { store.find(key: $0, at: time) })
    case .prove: return .done
    }
  }

  /// Why the store refuses a job although it works; nil if it does not.
  func refusal(of job: Job, in store: SimulatedStore) -> StoreError? {
    guard isShared else { return nil }
    if isBehind, !job.isJoining { return StoreError(kind: .leaseLost, message: Self.behind) }
    if isFenced(job, store) { return StoreError(kind: .leaseLost, message: "the lease is over") }
    if job.isJoining { return nil }
    if job.isChange, !store.isNext(job, of: session) {
      return StoreError(kind: .unavailable, message: "the change before it was not made")
    }
    // The store finds these first.
    let stored = store.stored(job.writes, by: session)
    if !stored.isEmpty { return StoreError(kind: .callStored, message: "calls are stored", stored: stored) }
    let taken = store.taken(job.writes)
    return taken.isEmpty ? nil : StoreError(kind: .keyTaken, message: "keys are taken", taken: taken)
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
    guard !pipeline.open.isEmpty else { return }
    isInDoubt = true
    // Nothing else is in flight with it.
    wasJoining = pipeline.open.first?.isJoining == true
    pipeline.heard(.lost(StoreError(kind: .unavailable, message: "the connection to the simulated store was lost")))
  }

  /// A job that the store still had when the connection was lost has taken effect.
  mutating func executed(_ job: Job, _ answer: StoreAnswer) {
    answers[job.number] = answer
  }

  /// The store is reached again, and the earlier connection is shut out. The ledger tells which jobs were made.
  mutating func resolve(by ledger: Int64, on store: SimulatedStore) {
    isLost = false
    server = store.server
    connection = session.flatMap { store.sessions[$0]?.connection } ?? 0
    isBehind = session != nil && ledger < told
    guard isInDoubt else { return }
    isInDoubt = false
    pipeline.heard(.found(last: wasJoining ? told : ledger))
  }
}

extension StorePipeline.Job {
  var isCommit: Bool { if case .commit? = work { true } else { false } }

  /// Whether it begins a session, and with it a chain.
  var isJoining: Bool { if case .lease(let ask)? = requests.first?.body { ask.session == nil } else { false } }
}
