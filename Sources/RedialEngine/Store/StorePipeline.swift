internal import RedialCore
package import RedialModel

/// The order in which requests go to a store and in which their results come back. It decides; whoever owns it sends
/// the jobs and reports what the store says of them.
///
/// Requests become jobs: commits that wait together are one job, so are look-ups that wait together, and every other
/// request is a job of its own. A store that answers later gets the next job before it has answered the last one, up
/// to a bound. Results are reported in the order of the requests.
///
/// Jobs that change the store form a chain: each depends on the one before, so a store must not make one if the one
/// before was not made. After a failure nothing is sent until all jobs in flight have an outcome. Requests of the
/// epoch that failed are never sent; see ``StoreRequest``.
///
/// A job is `waiting`, then `sent`. From there it ends, or is sent again: after a conflict with others, with all that
/// were sent behind it; or after the store was lost. Then it is `doubted` until the store says which changes it has
/// made. So nothing is ever reported as failed that may have been made.
package struct StorePipeline: Sendable {
  /// Maximum number of jobs that a store has at a time. With two, the store always has the next one when it has
  /// finished one; more would only make commits smaller.
  package static let mostInFlight = 2
  /// Maximum number of writes in one commit.
  package static let mostWrites = 2048
  /// Maximum number of look-ups in one job.
  package static let mostLookups = 1024
  /// Maximum number of calls that one job loads by their ids: those of a page of a bulk operation.
  static let mostFetches = 100
  /// How often a job is sent again because it has met others.
  static let mostRepetitions = 5
  /// How often a job is sent again because the store was lost: one that no store can take must not be sent without an
  /// end.
  static let mostLosses = 20

  /// What to do next.
  package enum Step: Sendable {
    /// Send this to the store, and report what it says with ``StorePipeline/heard(_:)``.
    case submit(Job, StoreWork, StoreTrial)
    case report(Report)
    /// Nothing, until a request or an outcome comes.
    case wait
  }

  /// The result of requests.
  package enum Report: Sendable {
    /// These changes are on disk; the actions may follow.
    case committed([StoreWrite], then: [Action])
    case events([EngineEvent])
  }

  private let bound: Int
  private let lookups: Int
  /// Requests that are in no job yet are those from `first` on.
  private var waiting: [StoreRequest] = []
  private var first = 0
  /// Jobs whose results were not reported yet, oldest first.
  private var inFlight: [Entry] = []
  private var jobs: UInt64 = 0
  /// The number of the last change in a job, and of the last one that was made.
  private var (sent, made): (Int64, Int64) = (0, 0)
  /// Requests of this epoch or an older one depend on changes that failed.
  private var failed: (epoch: UInt64, failure: StoreError)?
  /// Whether a job has failed and others that depend on it are still in flight.
  private var isBroken = false
  /// How often the store was lost.
  private var losses = 0
  /// Whether the store was lost with jobs in flight. Nothing is sent until it is found.
  private var isInDoubt = false
  /// Whether the store can be reached, if that is to be reported.
  private var news: EngineEvent?
  /// Whether changes have failed and none has been made since. The engine has them and will request them again, even
  /// for calls that have ended: these must still exist then, however long it takes.
  package private(set) var owesChanges = false
  /// How many requests have ever come, and how many of them have a result that was reported.
  package private(set) var (posted, concluded) = (0, 0)

  /// - Parameters:
  ///   - bound: Maximum number of jobs that the store has at a time.
  ///   - lookups: Maximum number of look-ups in one job.
  package init(inFlight bound: Int = Self.mostInFlight, lookups: Int = Self.mostLookups) {
    self.bound = max(1, bound)
    self.lookups = max(1, lookups)
  }

  // MARK: Requests

  /// Adds requests behind all others.
  package mutating func post(_ requests: [StoreRequest]) {
    posted += requests.count
    waiting += requests
  }

  /// Adds requests behind all others, and takes them out of an array, which gets memory for further ones. Nothing is
  /// copied if no request waits.
  package mutating func take(_ requests: inout [StoreRequest]) {
    posted += requests.count
    if waiting.isEmpty { swap(&waiting, &requests) } else { waiting += requests }
    requests.removeAll(keepingCapacity: true)
  }

  /// The jobs that the store has, oldest first.
  package var open: [Job] { inFlight.filter(\.isSent).map(\.job) }

  /// Whether the requests that wait depend on changes that failed, and everything older has failed already.
  var failsNext: Bool { inFlight.isEmpty && first < waiting.count && isVoid(waiting[first]) }

  /// The next step. Call it until it returns `wait`.
  package mutating func next() -> Step {
    if let event = news {
      news = nil
      return .report(.events([event]))
    }
    if let entry = inFlight.first, let result = result(of: entry) {
      inFlight.removeFirst()
      return .report(conclude(entry.job, result))
    }
    if inFlight.isEmpty, isBroken {
      isBroken = false
      sent = made
    }
    guard !isInDoubt, !inFlight.contains(where: \.isReturned) else { return .wait }
    // What was made is answered, whatever has failed before it.
    if let place = inFlight.firstIndex(where: { $0.isWaiting && (!isBroken || $0.kind == .answer) }) {
      return submit(place)
    }
    guard !isBroken, first < waiting.count else { return .wait }
    if isVoid(waiting[first]) { return failsNext ? .report(.events(failVoid())) : .wait }
    var open = 0
    for entry in inFlight where !entry.isOver { open += 1 }
    guard open < bound else { return .wait }
    let job = nextJob()
    // There is nothing to do for it, but to wait for its turn.
    inFlight.append(Entry(job: job, state: job.work == nil ? .ended(.success(.done)) : .waiting))
    return next()
  }

  private mutating func submit(_ place: Int) -> Step {
    let entry = inFlight[place]
    guard let work = entry.job.work else { return .wait }
    inFlight[place].state = .sent
    return .submit(entry.job, work, StoreTrial(entry.kind, losses: losses))
  }

  private mutating func nextJob() -> Job {
    jobs += 1
    defer { dropSent() }
    let request = waiting[first]
    switch request.body {
    case .commit(let writes, let then):
      let group = takeCommits()
      // The usual case is a single request, whose own arrays are used: they are large, and copying them would count
      // all references in them up and down.
      guard group.count > 1 else { return job(group, writes.isEmpty ? nil : .commit(writes), then: then) }
      let all = Self.joined(group)
      return job(group, all.writes.isEmpty ? nil : .commit(all.writes), then: all.then)
    case .findKey:
      let group = take(atMost: lookups) { $0.lookup }
      return job(
        group.requests,
        .find(group.values.map(\.submission.key.name), at: group.values.map(\.time).max() ?? .epoch))
    case .claimDue(let time, let limit): return job(takeOne(), .claimDue(before: time, limit: limit))
    case .claimQueued(let target, let limit): return job(takeOne(), .claimQueued(target: target, limit: limit))
    case .fetch:
      let group = take(atMost: Self.mostFetches) { $0.fetched }
      return job(group.requests, .fetch(group.values.map { CallAddress($0.id, in: $0.namespace) }))
    case .lease(let ask): return job(takeOne(), .lease(ask.request, renewing: ask.session))
    case .barrier: return job(takeOne(), .prove)
    }
  }

  private mutating func job(_ requests: [StoreRequest], _ work: StoreWork?, then: [Action] = []) -> Job {
    if work?.isChange == true { sent += 1 }
    return Job(number: jobs, sequence: sent, work: work, requests: requests, then: then)
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

  /// Takes those of the next requests that are of one kind.
  private mutating func take<Value>(
    atMost most: Int, _ value: (StoreRequest) -> Value?
  ) -> (requests: [StoreRequest], values: [Value]) {
    var (requests, values): ([StoreRequest], [Value]) = ([], [])
    while first < waiting.count, requests.count < most, let next = value(waiting[first]), !isVoid(waiting[first]) {
      requests.append(waiting[first])
      values.append(next)
      first += 1
    }
    return (requests, values)
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

  /// The store has said something of the jobs that it has.
  package mutating func heard(_ outcome: StoreOutcome) {
    switch outcome {
    case .made(let answer): end(.success(answer))
    case .notMade(let error): end(.failure(error))
    case .repeatable(let error):
      let place = oldest
      inFlight[place].repetitions += 1
      if inFlight[place].repetitions > Self.mostRepetitions { end(.failure(error)) } else { giveBack(place) }
    case .lost(let error):
      losses += 1
      for place in inFlight.indices where inFlight[place].isSent || inFlight[place].isReturned {
        inFlight[place].state = .doubted
      }
      isInDoubt = true
      news = .storeInDoubt(error.message)
    case .found(let last):
      for place in inFlight.indices { inFlight[place].resolve(through: last) }
      isInDoubt = false
      news = .storeInDoubt(nil)
    }
  }

  /// The place of the oldest job that the store has.
  private var oldest: Int {
    guard let place = inFlight.firstIndex(where: \.isSent) else {
      preconditionFailure("A store has reported more outcomes than it had jobs.")
    }
    return place
  }

  private mutating func end(_ result: Result<StoreAnswer, StoreError>) {
    let place = oldest
    // An answer to a look-up may lack what a job before it writes, and a change that depends on it was not made. One that
    // was made depends on nothing that is sent again.
    var isMade = false
    if case .success = result { isMade = inFlight[place].job.isChange }
    if !isMade, inFlight[..<place].contains(where: \.isReturned) { return giveBack(place) }
    inFlight[place].state = .ended(result)
    sendReturned()
  }

  /// A job is sent again, with all that were sent behind it.
  private mutating func giveBack(_ place: Int) {
    inFlight[place].state = .returned
    sendReturned()
  }

  /// Sends what has come back again, once all have.
  private mutating func sendReturned() {
    guard !inFlight.contains(where: \.isSent) else { return }
    for place in inFlight.indices where inFlight[place].isReturned { inFlight[place].sendAgain() }
  }

  /// The result of the oldest job, if it has one.
  private func result(of entry: Entry) -> Result<StoreAnswer, StoreError>? {
    switch entry.state {
    case .ended(let result): result
    // What was made is not reported as failed.
    case .waiting where entry.kind == .answer: nil
    case .waiting where isBroken: failed.map { .failure($0.failure) }
    case .waiting where entry.losses > Self.mostLosses: .failure(Self.lostTooOften)
    case .waiting, .sent, .returned, .doubted: nil
    }
  }

  private static let lostTooOften = StoreError(
    kind: .unavailable,
    message:
      "The connection to the store was lost \(mostLosses + 1) times with this work, and nothing was written. The log "
      + "of the server may say why.")

  private mutating func conclude(_ job: Job, _ result: Result<StoreAnswer, StoreError>) -> Report {
    switch result {
    case .success where !job.isChange && job.requests.contains(where: isVoid):
      // The store has nothing against it, but what it depends on has failed.
      return .events(fail(job.requests))
    case .success(let answer):
      if job.isChange {
        // A lease begins the chain anew, also behind a change that failed.
        precondition(job.sequence > made, "A change is reported before the one on which it depends.")
        made = job.sequence
      }
      concluded += job.requests.count
      guard case .commit? = job.requests.first?.body else { return .events(job.events(answer)) }
      if job.isChange { owesChanges = false }
      return .committed(job.writes, then: job.then)
    case .failure(let failure):
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
    concluded += requests.count
    for case .commit(let writes, _) in requests.lazy.map(\.body) where !writes.isEmpty { owesChanges = true }
    return requests.map { .storeFailed($0, failed.failure) }
  }
}
