internal import RedialCore
internal import RedialLanes
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// The state of a lane's thread: the chain, the connection, and what is in flight on it.
struct LaneRun {
  /// Statements in flight, of one transaction.
  private struct Batch {
    /// Whether it is the oldest work of the chain; otherwise it sets damaged calls aside.
    var isWork: Bool
    var rows: [PostgresRows] = []
    var failure: PostgresFailure?
    var damaged: [DamagedCall] = []
  }

  /// Maximum number of works in flight, as `StorePipeline.mostInFlight`.
  private static let mostInFlight = 2
  /// How often a work is sent again after conflicts with other transactions.
  private static let mostRepetitions = 5
  /// How often a work is sent again after lost connections: one that the server cannot take must not be sent without an end.
  private static let mostLosses = 20
  /// How long an idle lane sleeps before it looks around.
  private static let longestSleep = Duration.seconds(30)
  /// The longest time between two attempts to connect.
  private static let longestPause = Duration.seconds(1)

  private let lane: PostgresLane
  private var chain = CommitChain<LaneJob>(inFlight: mostInFlight)
  private var connection: PostgresConnection?
  /// The server process of the last connection.
  private var process: Int64?
  /// The number of the connection, by which the fence knows it.
  private var number: Int64 = 0
  private var batches: [Batch] = []
  /// A session that was being begun when the connection was lost, and the place of that work in the chain.
  private var joining: (id: Int64, sequence: Int64)?
  /// How often the connection was lost since something was last made.
  private var losses = 0
  /// Since when the database cannot be reached.
  private var unreachable: ContinuousClock.Instant?
  /// From when on due calls are looked for.
  private var floor = ClaimFloor()
  /// When something last arrived, or was sent on an idle connection.
  private var active = ContinuousClock.now

  init(_ lane: PostgresLane) {
    self.lane = lane
  }

  private var settings: PostgresSettings { lane.settings }
  private var session: LeaseSession? { lane.standing.withLock { $0.session } }

  /// Makes all work until the lane is closed.
  mutating func untilClosed() {
    while let jobs = lane.take() {
      lane.bell.silence()
      // What was posted between the two lines rings no bell any more.
      for posted in jobs + (lane.take() ?? []) {
        let job = usable(posted)
        chain.submit(job, as: job.sequence, isChange: job.isChange, isAlone: job.isAlone)
      }
      step()
    }
  }

  /// A work that was posted, with the numbers of the server of the connection. Without a connection that comes later.
  private func usable(_ posted: LaneJob) -> LaneJob {
    guard let connection else { return posted }
    do throws(StoreError) {
      return try lane.current(posted, on: connection.server)
    } catch {
      return LaneJob(kind: .refused(error), sequence: posted.sequence)
    }
  }

  private mutating func step() {
    do throws(PostgresFailure) {
      guard let connection = try connected() else { return }
      try send(on: connection)
      try receive(on: connection)
      // What had to wait for the answers can be sent now.
      guard self.connection != nil, !batches.isEmpty || chain.links.isEmpty else { return }
      let deadline = batches.isEmpty ? ContinuousClock.now + Self.longestSleep : active + settings.answerTimeout
      let isAwake = try connection.wait(until: deadline, or: lane.bell.descriptor)
      if isAwake { try receive(on: connection) }
      if !isAwake, !batches.isEmpty {
        throw PostgresFailure(
          isLost: true, state: "", message: "no answer within \(settings.answerTimeout)", query: nil)
      }
    } catch {
      lose(error)
    }
  }

  // MARK: Sending

  private mutating func send(on connection: PostgresConnection) throws(PostgresFailure) {
    if batches.isEmpty { active = .now }
    // What sets damaged calls aside is no part of the chain: works that read their answers themselves would read its answer.
    while batches.allSatisfy(\.isWork) {
      switch chain.next() {
      case .wait: return
      case .refuse: lane.report(.notMade(Self.consequence))
      case .send(let link): try send(link, on: connection)
      case .answer(let link): try answerAgain(link.work, on: connection)
      }
    }
  }

  private mutating func send(
    _ link: CommitChain<LaneJob>.Link, on connection: PostgresConnection
  ) throws(PostgresFailure) {
    let job = link.work
    switch job.kind {
    case .refused(let error): return fail(error)
    case .nothing:
      _ = chain.didMake()
      return lane.report(.made(.done))
    case .lease(let request, let renewing): return try lease(link, request, renewing, on: connection)
    default: break
    }
    if link.repetitions > Self.mostLosses {
      // It is not in the ledger, or it would be answered.
      return fail(
        StoreError(
          kind: .unavailable,
          message:
            "The connection to \(settings.place) was lost \(link.repetitions) times with this work, and nothing was "
            + "written. The log of the server may say why."))
    }
    guard !job.isChange || session != nil else {
      // Nothing is in flight: without a session nothing was sent.
      return fail(lost("This instance has no lease."))
    }
    var start: Timestamp?
    if case .claimDue = job.kind { start = floor.begin(at: .now) }
    if let due = job.firstDue { floor.store(due: due) }
    for statement in job.statements(session: session?.id ?? 0, connection: number, start: start) {
      try connection.send(statement)
    }
    try connection.sync()
    batches.append(Batch(isWork: true))
  }

  // MARK: Receiving

  private mutating func receive(on connection: PostgresConnection) throws(PostgresFailure) {
    while !batches.isEmpty, let arrival = try connection.arrival() {
      active = .now
      switch arrival {
      case .rows(let rows): batches[0].rows.append(rows)
      case .failed(let failure): if batches[0].failure == nil { batches[0].failure = failure }
      case .skipped: break
      case .synced:
        let batch = batches.removeFirst()
        losses = 0
        if batch.isWork { try end(batch, on: connection) } else { didSetAside(batch) }
      }
    }
  }

  private mutating func end(_ batch: Batch, on connection: PostgresConnection) throws(PostgresFailure) {
    guard let failure = batch.failure else {
      guard let job = chain.didMake() else { return }
      return try answer(job, Array(batch.rows.dropFirst(job.leading)), on: connection)
    }
    floor.forget()
    guard let link = chain.oldest else { return }
    let canRevive = link.work.revival != nil && !link.work.isThorough
    if failure.check == .standing, canRevive { return chain.repeatOldest { $0.isThorough = true } }
    if failure.isConflict, link.repetitions < Self.mostRepetitions { return chain.repeatOldest() }
    fail(error(of: failure, link.work))
  }

  private func error(of failure: PostgresFailure, _ job: LaneJob) -> StoreError {
    var error = failure.error(at: settings.place)
    if failure.check == .standing { error.message += " A call to be changed is not there." }
    guard case .commit(let keys, let given) = job.kind else { return error }
    do throws(StoreError) {
      if failure.isOfStoredCall, !given.isEmpty {
        error.stored = try lane.needs.stored(given)
        // The other one may have been rolled back since; then it works the next time.
        error.kind = error.stored.isEmpty ? .unavailable : .callStored
      }
      guard failure.check == .keys else { return error }
      error.taken = try lane.needs.taken(keys)
      // It has expired or was removed since.
      if error.taken.isEmpty { error.kind = .unavailable }
      return error
    } catch {
      return error
    }
  }

  /// The oldest work has failed, and nothing of it was made.
  private mutating func fail(_ error: StoreError) {
    guard let (_, isConsequence) = chain.didFail() else { return }
    lane.report(.notMade(isConsequence ? Self.consequence : error))
  }

  private mutating func answer(
    _ job: LaneJob, _ rows: [PostgresRows], on connection: PostgresConnection
  ) throws(PostgresFailure) {
    var (answer, damaged) = job.answer(rows)
    if !damaged.isEmpty {
      if case .damaged(var error) = answer {
        error.damaged?.hasEnded = true
        answer = .damaged(error)
      }
      try setAside(damaged, on: connection)
    }
    if case .call(let call?) = answer, call.progress.state.isFinal { lane.needs.didShow(call.id) }
    if case .claimDue(let time) = job.kind, case .due(let claim) = answer {
      floor.end(next: claim.nextDue, claimed: time, at: .now)
    }
    lane.report(.made(answer))
  }

  // MARK: Damaged calls

  /// Ends calls of this instance that cannot be read, so that no claim finds them again.
  private mutating func setAside(_ damaged: [DamagedCall], on connection: PostgresConnection) throws(PostgresFailure) {
    var statement = PostgresStatement(ClaimQueries.setAside)
    statement.add(damaged.map(\.id.rawValue))
    statement.add(session?.id ?? 0)
    statement.add(lane.needs.now()?.microseconds)
    try connection.send(statement)
    try connection.sync()
    batches.append(Batch(isWork: false, damaged: damaged))
  }

  private func didSetAside(_ batch: Batch) {
    guard batch.failure == nil, let rows = batch.rows.first else { return }
    let ended = rows.map {
      (id: CallID(rawValue: rows.integer($0, 0)), namespace: Namespace(rows.text($0, 1)) ?? .default)
    }
    for call in batch.damaged where ended.contains(where: { $0.id == call.id }) {
      lane.needs.notices.post(.damaged(call.id, call.error))
    }
    if !ended.isEmpty { lane.needs.notices.post(.setAside(ended)) }
  }

  // MARK: Leases

  private mutating func lease(
    _ link: CommitChain<LaneJob>.Link, _ request: LeaseRequest, _ renewing: Int64?, on connection: PostgresConnection
  ) throws(PostgresFailure) {
    let standing = lane.standing.withLock { $0 }
    if let renewing, standing.session?.id != renewing { return fail(lost("The lease to renew has ended.")) }
    do throws(LaneFailure) {
      let result = try exchange(
        request, standing, renewing: renewing != nil, link.sequence, isRepeated: false, on: connection)
      _ = chain.didMake()
      try didLease(result, link.work, on: connection)
    } catch {
      switch error {
      case .refused(let error): fail(error)
      case .failed(let failure) where failure.isLost: throw failure
      case .failed(let failure):
        joining = nil
        if failure.isConflict || failure.isRaceForInstance, link.repetitions < Self.mostRepetitions {
          return chain.repeatOldest()
        }
        fail(failure.error(at: settings.place))
      }
    }
  }

  private mutating func exchange(
    _ request: LeaseRequest, _ standing: PostgresLane.Standing, renewing: Bool, _ sequence: Int64, isRepeated: Bool,
    on connection: PostgresConnection
  ) throws(LaneFailure) -> LeaseExchange.Result {
    let newID = renewing ? 0 : LeaseQueries.randomID()
    if !renewing { joining = (newID, sequence) }
    let exchange = LeaseExchange(
      patience: settings.answerTimeout, now: lane.needs.now(), largest: lane.needs.largest,
      introduction: lane.introduction.withLock { $0 })
    return try exchange.perform(
      LeaseExchange.Request(
        request: request, renewing: renewing ? standing.session : nil,
        previous: renewing ? nil : standing.session ?? standing.previous,
        newID: newID, connection: number, sequence: sequence, isRepeated: isRepeated,
        known: renewing ? standing.shards : .none, start: floor.begin(at: .now)), on: connection)
  }

  private mutating func didLease(
    _ result: LeaseExchange.Result, _ job: LaneJob, on connection: PostgresConnection
  ) throws(LaneFailure) {
    if joining != nil { number = 0 }
    joining = nil
    floor.end(next: result.grant.state.nextDue, claimed: nil, at: .now)
    if result.hasNews { floor.forget() }
    var standing = PostgresLane.Standing(session: result.grant.session, shards: result.grant.shards)
    if case .lease(let request, _) = job.kind { standing.duration = request.duration }
    lane.standing.withLock { $0 = standing }
    lane.report(.made(.leased(result.grant)))
    guard !result.damaged.isEmpty else { return }
    do throws(PostgresFailure) {
      try setAside(result.damaged, on: connection)
    } catch {
      throw .failed(error)
    }
  }

  // MARK: Connections

  /// The connection, which is made if there is work for it; nil if there is none.
  private mutating func connected() throws(PostgresFailure) -> PostgresConnection? {
    if let connection { return connection }
    guard !chain.links.isEmpty else {
      lane.bell.wait(Self.longestSleep)
      return nil
    }
    let new = try PostgresConnection(settings)
    if let process {
      // A process that waits for a lock does not notice that its client is gone.
      var stop = PostgresStatement(LeaseQueries.stop)
      stop.add(process)
      _ = try new.run([stop], within: settings.answerTimeout)
    }
    process = new.process
    try resolve(on: new)
    do throws(StoreError) {
      try chain.changeAll { [lane] job throws(StoreError) in try lane.current(job, on: new.server) }
    } catch {
      throw PostgresFailure(isLost: true, state: "", message: error.message, query: nil)
    }
    connection = new
    unreachable = nil
    // The server works. If this connection is lost as well, before anything is made on it, a short pause is enough.
    losses = min(losses, 1)
    return new
  }

  /// Asks the database which of the works in doubt were made.
  private mutating func resolve(on connection: PostgresConnection) throws(PostgresFailure) {
    let limit = settings.answerTimeout
    if let joining {
      var (prevent, end) = (PostgresStatement(LeaseQueries.preventJoin), PostgresStatement(LeaseQueries.end))
      prevent.add(joining.id)
      prevent.add(joining.sequence)
      end.add(joining.id)
      for statement in [prevent, end] { _ = try connection.run([statement], within: limit) }
      self.joining = nil
      return chain.resolved(through: chain.made)
    }
    guard let session else { return chain.resolved(through: chain.made) }
    var (end, take, note, ask) = (
      PostgresStatement(LeaseQueries.endOwn), PostgresStatement(LeaseQueries.reconnect),
      PostgresStatement(LeaseQueries.noteProcess), PostgresStatement(LeaseQueries.lastMade)
    )
    end.add(session.id)
    take.add(session.id)
    note.add(session.id)
    ask.add(session.id)
    _ = try connection.run([end], within: limit)
    let taken = try connection.run([take], within: limit)[0]
    let last = try connection.run([PostgresStatement(LeaseQueries.lazily), note, ask], within: limit)[2].integer(0, 0)
    guard last >= chain.made else {
      chain.connected()
      lane.standing.withLock { $0 = PostgresLane.Standing(previous: session) }
      return refuseAll(
        lost("The database has lost commits that it had acknowledged: \(chain.made) were made, and it knows \(last)."))
    }
    chain.resolved(through: last)
    if taken.count == 1 {
      number = taken.integer(0, 0)
    } else {
      // Its commits are on disk, and are reported as made. All that was not made is refused because there is no session.
      lane.standing.withLock { $0 = PostgresLane.Standing() }
    }
  }

  /// Reports a work that was made while the connection was lost. It is the oldest, and nothing is in flight.
  private mutating func answerAgain(_ job: LaneJob, on connection: PostgresConnection) throws(PostgresFailure) {
    switch (job.kind, session) {
    case (.lease(let request, _), _?):
      let standing = lane.standing.withLock { $0 }
      do throws(LaneFailure) {
        let result = try exchange(request, standing, renewing: true, job.sequence, isRepeated: true, on: connection)
        chain.didAnswer()
        try didLease(result, job, on: connection)
      } catch {
        switch error {
        case .failed(let failure): throw failure
        case .refused(let error):
          // The lease is in the ledger. Its number can be used again in another session only.
          chain.didForget()
          lane.standing.withLock { $0 = PostgresLane.Standing(previous: standing.session) }
          lane.report(.notMade(lost(error.message)))
        }
      }
    case (.lease, nil):
      chain.didForget()
      lane.report(.notMade(lost("The lease has ended.")))
    case (.claimDue, nil), (.claimQueued, nil):
      // Other instances have the calls.
      chain.didAnswer()
      let none =
        if case .claimDue = job.kind { StoreAnswer.due(Claim(calls: [], nextDue: nil)) } else { StoreAnswer.calls([]) }
      lane.report(.made(none))
    default:
      var statements = job.repetition(largest: lane.needs.largest)
      for index in statements.indices {
        statements[index].fill(session: session?.id ?? 0, connection: number, sequence: job.sequence)
        statements[index].fill(start: nil)
      }
      let rows = statements.isEmpty ? [] : try connection.run(statements, within: settings.answerTimeout)
      chain.didAnswer()
      try answer(job, rows, on: connection)
    }
  }

  private mutating func refuseAll(_ error: StoreError) {
    for _ in chain.refuseAll() { lane.report(.notMade(error)) }
  }

  /// The connection is lost, or could not be made.
  private mutating func lose(_ failure: PostgresFailure) {
    let error = failure.error(at: settings.place)
    connection = nil
    batches = []
    floor.forget()
    for _ in chain.lose() { lane.report(.unknown(error)) }
    let since = unreachable ?? .now
    unreachable = since
    if !chain.isInDoubt, ContinuousClock.now - since >= settings.patience { refuseAll(error) }
    losses += 1
    // The first time the connection was lost, and the server is most likely there.
    if losses > 1 { pause(Self.pause(before: losses)) }
  }

  /// The time before an attempt to connect: 10 ms before the second, twice as long before each other one, up to a second.
  static func pause(before attempt: Int) -> Duration {
    min(longestPause, .milliseconds(10) * (1 << min(max(0, attempt - 2), 10)))
  }

  /// Waits a moment, whatever is posted.
  private func pause(_ time: Duration) {
    let end = ContinuousClock.now + time * Double.random(in: 0.8...1)
    while ContinuousClock.now < end {
      lane.bell.silence()
      lane.bell.wait(end - .now)
    }
  }

  private func lost(_ reason: String) -> StoreError {
    StoreError(
      kind: .leaseLost,
      message: "\(reason) Nothing was written to \(settings.place). The instance joins again by itself.")
  }

  private static let consequence = StoreError(
    kind: .unavailable, message: "Nothing was written, because the commit before failed.")
}
