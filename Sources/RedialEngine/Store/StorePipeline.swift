public import RedialModel

/// The order in which requests go to a store and in which their results come back. It decides; whoever owns it sends
/// the jobs and reports the results.
///
/// Requests become jobs: commits that wait together are one job, so are look-ups that wait together, and every other
/// request is a job of its own. A store that answers later gets the next job before it has answered the last one, up
/// to a bound. Results are reported in the order of the requests, whenever their outcomes are known.
///
/// Jobs that change the store form a chain: each depends on the one before, so a store must not make one if the one
/// before was not made. After a failure nothing is sent until all jobs in flight have an outcome. Requests of the
/// epoch that failed are never sent; see ``StoreRequest``.
///
/// A job whose outcome is unknown stays in flight until it is known. So nothing is ever reported as failed that may
/// have been made.
public struct StorePipeline: Sendable {
  /// Maximum number of jobs that a store has at a time. With two, the store always has the next one when it has
  /// finished one; more would only make commits smaller.
  public static let mostInFlight = 2
  /// Maximum number of writes in one commit.
  public static let mostWrites = 2048
  /// Maximum number of look-ups in one job.
  public static let mostLookups = 1024

  /// What a store is asked to do at once.
  public struct Job: Sendable {
    /// Counts the jobs.
    public let number: UInt64
    /// Its place in the chain of changes: one more than that of the change before it. A job that changes nothing has
    /// the number of the last change before it.
    public let sequence: Int64
    /// Whether it changes something. Look-ups do not, nor do commits without changes, which only wait for older ones.
    public let isChange: Bool
    /// The requests: several commits, several look-ups, or one request of another kind.
    public let requests: [StoreRequest]
    /// The changes of all commits, in order.
    public let writes: [StoreWrite]
    /// The actions that follow the commits, in order.
    public let then: [Action]
  }

  /// The outcome of a job.
  public enum Outcome: Sendable {
    /// It was made; these events report the result to the engine. A commit has none.
    case made([EngineEvent])
    /// It is certain that nothing of it was made, and that no job after it in the chain will be.
    case failed(StoreFailure)
  }

  /// What to do next.
  public enum Step: Sendable {
    /// Send this to the store, and report the outcome with ``StorePipeline/ended(_:_:)``.
    case submit(Job)
    /// Report this.
    case report(Result)
    /// Nothing, until a request or an outcome comes.
    case wait
  }

  /// The result of requests.
  public enum Result: Sendable {
    /// These changes are on disk; the actions may follow.
    case committed([StoreWrite], then: [Action])
    /// Events for the engine.
    case events([EngineEvent])
  }

  /// A job that was sent.
  private struct Entry: Sendable {
    let job: Job
    var outcome: Outcome?
  }

  private let bound: Int
  private let lookups: Int
  /// Requests that were not sent yet are those from `first` on.
  private var waiting: [StoreRequest] = []
  private var first = 0
  /// Jobs whose results were not reported yet, oldest first.
  private var inFlight: [Entry] = []
  private var jobs: UInt64 = 0
  /// The number of the last change that was sent, and of the last one that was made.
  private var (sent, made): (Int64, Int64) = (0, 0)
  /// Requests of this epoch or an older one depend on changes that failed.
  private var failed: (epoch: UInt64, failure: StoreFailure)?
  /// Whether a job has failed and others that depend on it are still in flight.
  private var isBroken = false
  /// Whether the store was lost with jobs in flight. Nothing is sent until the first of them has an outcome.
  public private(set) var isInDoubt = false
  /// Whether the store can be reached, if that is to be reported.
  private var news: EngineEvent?
  /// Whether changes have failed and none has been made since. The engine has them and will request them again, even
  /// for calls that have ended: these must still exist then, however long it takes.
  public private(set) var owesChanges = false
  /// How many requests have ever come, and how many of them have a result that was reported.
  public private(set) var (posted, settled) = (0, 0)

  /// - Parameters:
  ///   - bound: Maximum number of jobs that the store has at a time.
  ///   - lookups: Maximum number of look-ups in one job.
  public init(inFlight bound: Int = Self.mostInFlight, lookups: Int = Self.mostLookups) {
    self.bound = max(1, bound)
    self.lookups = max(1, lookups)
  }

  // MARK: Requests

  /// Adds requests behind all others.
  public mutating func post(_ requests: [StoreRequest]) {
    posted += requests.count
    waiting += requests
  }

  /// Adds requests behind all others, and takes them out of an array, which gets memory for further ones. Nothing is
  /// copied if no request waits.
  public mutating func take(_ requests: inout [StoreRequest]) {
    posted += requests.count
    if waiting.isEmpty { swap(&waiting, &requests) } else { waiting += requests }
    requests.removeAll(keepingCapacity: true)
  }

  /// The oldest job without an outcome.
  public var open: Job? { inFlight.first { $0.outcome == nil }?.job }

  /// The jobs without an outcome, oldest first.
  public var openJobs: [Job] { inFlight.filter { $0.outcome == nil }.map(\.job) }

  /// Whether the requests that wait depend on changes that failed, and everything older has failed already.
  var failsNext: Bool { inFlight.isEmpty && first < waiting.count && isVoid(waiting[first]) }

  /// The next step. Call it until it returns `wait`.
  public mutating func next() -> Step {
    if let event = news {
      news = nil
      return .report(.events([event]))
    }
    if let entry = inFlight.first, let outcome = entry.outcome {
      inFlight.removeFirst()
      return .report(settle(entry.job, outcome))
    }
    if inFlight.isEmpty, isBroken {
      isBroken = false
      sent = made
    }
    guard first < waiting.count, !isBroken, !isInDoubt else { return .wait }
    if isVoid(waiting[first]) { return failsNext ? .report(.events(failVoid())) : .wait }
    var open = 0
    for entry in inFlight where entry.outcome == nil { open += 1 }
    guard open < bound else { return .wait }
    let job = nextJob()
    inFlight.append(Entry(job: job))
    return .submit(job)
  }

  private mutating func nextJob() -> Job {
    jobs += 1
    defer { dropSent() }
    switch waiting[first].body {
    case .commit(let writes, let then):
      let group = takeCommits()
      // The usual case is a single request, whose own arrays are used: they are large, and copying them would count
      // all references in them up and down.
      guard group.count > 1 else { return job(group, writes, then, isChange: !writes.isEmpty) }
      let all = Self.joined(group)
      return job(group, all.writes, all.then, isChange: !all.writes.isEmpty)
    case .findKey: return job(takeLookups(), isChange: false)
    case .claimDue, .claimQueued, .fetch, .lease, .barrier: return job(takeOne(), isChange: true)
    }
  }

  private mutating func job(
    _ requests: [StoreRequest], _ writes: [StoreWrite] = [], _ then: [Action] = [], isChange: Bool
  ) -> Job {
    if isChange { sent += 1 }
    return Job(
      number: jobs, sequence: sent, isChange: isChange, requests: requests, writes: writes, then: then)
  }

  private mutating func takeOne() -> [StoreRequest] {
    defer { first += 1 }
    return [waiting[first]]
  }

  private mutating func takeCommits() -> [StoreRequest] {
    var group: [StoreRequest] = []
    var size = 0
    while first < waiting.count, case .commit(let writes, _) = waiting[first].body, !isVoid(waiting[first]) {
      if !group.isEmpty, size + writes.count > Self.mostWrites { break }
      group.append(waiting[first])
      size += writes.count
      first += 1
    }
    return group
  }

  private mutating func takeLookups() -> [StoreRequest] {
    var group: [StoreRequest] = []
    while first < waiting.count, group.count < lookups, case .findKey = waiting[first].body, !isVoid(waiting[first]) {
      group.append(waiting[first])
      first += 1
    }
    return group
  }

  private static func joined(_ group: [StoreRequest]) -> (writes: [StoreWrite], then: [Action]) {
    var writes: [StoreWrite] = []
    var then: [Action] = []
    var size = 0
    for case .commit(let more, _) in group.lazy.map(\.body) { size += more.count }
    writes.reserveCapacity(size)
    then.reserveCapacity(size)
    for case .commit(let more, let actions) in group.lazy.map(\.body) {
      writes += more
      then += actions
    }
    return (writes, then)
  }

  private mutating func dropSent() {
    guard first == waiting.count else { return }
    waiting.removeAll(keepingCapacity: true)
    first = 0
  }

  // MARK: Outcomes

  /// The outcome of a job is known.
  public mutating func ended(_ number: UInt64, _ outcome: Outcome) {
    guard let place = inFlight.firstIndex(where: { $0.job.number == number }) else { return }
    precondition(inFlight[place].outcome == nil, "A job has two outcomes.")
    inFlight[place].outcome = outcome
    if isInDoubt {
      isInDoubt = false
      news = .storeInDoubt(nil)
    }
  }

  /// The store was lost, and the outcomes of the jobs in flight are unknown. They become known later, in order. Without
  /// a job in flight nothing is in doubt.
  public mutating func doubted(_ message: String) {
    guard !isInDoubt, open != nil else { return }
    isInDoubt = true
    news = .storeInDoubt(message)
  }

  private mutating func settle(_ job: Job, _ outcome: Outcome) -> Result {
    switch outcome {
    case .made where !job.isChange && job.requests.contains(where: isVoid):
      // The store has nothing against it, but what it depends on has failed.
      return .events(fail(job.requests))
    case .made(let events):
      if job.isChange {
        // A lease begins the chain anew, also behind a change that failed.
        precondition(job.sequence > made, "A change is reported before the one on which it depends.")
        made = job.sequence
      }
      settled += job.requests.count
      guard case .commit? = job.requests.first?.body else { return .events(events) }
      if !job.writes.isEmpty { owesChanges = false }
      return .committed(job.writes, then: job.then)
    case .failed(let failure):
      isBroken = true
      if let last = job.requests.last, !isVoid(last) { failed = (last.epoch, failure) }
      return .events(fail(job.requests))
    }
  }

  /// Whether a request depends on changes that failed.
  private func isVoid(_ request: StoreRequest) -> Bool {
    guard let failed else { return false }
    return request.epoch <= failed.epoch
  }

  /// Fails the requests that wait and depend on changes that failed.
  private mutating func failVoid() -> [EngineEvent] {
    var void: [StoreRequest] = []
    while first < waiting.count, isVoid(waiting[first]) {
      void.append(waiting[first])
      first += 1
    }
    dropSent()
    return fail(void)
  }

  private mutating func fail(_ requests: [StoreRequest]) -> [EngineEvent] {
    guard let failed else { return [] }
    settled += requests.count
    for case .commit(let writes, _) in requests.lazy.map(\.body) where !writes.isEmpty { owesChanges = true }
    return requests.map { .storeFailed($0, failed.failure) }
  }
}
