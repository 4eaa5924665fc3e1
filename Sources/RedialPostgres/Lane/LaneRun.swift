internal import RedialCore
internal import RedialLanes
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// The state of a lane's thread: the works that were posted, the connection, and what is in flight on it.
///
/// Works are sent in the order in which they were posted, and their outcomes are reported in that order. What is to be
/// done after a failure, a conflict or a loss decides who posts them. The database makes no change unless the one
/// before was made (``CommitStatements/fence``).
struct LaneRun {
  /// Statements in flight, of one transaction.
  private struct Batch {
    /// Whether it is the oldest work; otherwise it sets damaged calls aside.
    var isWork: Bool
    var rows: [PostgresRows] = []
    var failure: PostgresFailure?
    var damaged: [DamagedCall] = []
  }

  /// How long an idle lane sleeps before it looks around.
  private static let longestSleep = Duration.seconds(30)
  /// The longest time between two attempts to connect.
  private static let longestPause = Duration.seconds(1)

  private let lane: PostgresLane
  /// The works without an outcome, oldest first; and how many of the first are in flight.
  private var works: [LaneJob] = []
  private var sent = 0
  /// The number of the last change that was reported as made.
  private var made: Int64 = 0
  /// Whether the connection was lost with works in flight, and the database has not said which of them were made.
  private var isInDoubt = false
  /// How often that has happened. Works from before are passed over: they are posted again.
  private var doubts = 0
  /// The last change that the database has made, as it has said; the answers of those after `made` are to be read again.
  private var known: Int64 = 0
  private var connection: PostgresConnection?
  /// The server process of the last connection.
  private var process: Int64?
  /// The number of the connection, by which the fence knows it.
  private var number: Int64 = 0
  private var batches: [Batch] = []
  /// A session that was being begun when the connection was lost, and the place of that work in the chain.
  private var joining: (id: Int64, sequence: Int64)?
  /// Why there is no session.
  private var sessionEnd = "This instance has no lease."
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
    while true {
      // Before the look: what is posted after that rings again.
      lane.bell.silence()
      guard let jobs = lane.take() else { return }
      works += jobs.filter { $0.trial.losses == doubts }
      step()
    }
  }

  private mutating func step() {
    do throws(PostgresFailure) {
      guard let connection = try connected() else { return }
      try send(on: connection)
      try receive(on: connection)
      // What had to wait for the answers can be sent now.
      guard self.connection != nil, !batches.isEmpty || works.isEmpty else { return }
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
    // What sets damaged calls aside is no work: works that read their answers themselves would read its answer.
    while batches.allSatisfy(\.isWork), sent < works.count {
      let (job, session) = (works[sent], session)
      if sent > 0, [job, works[sent - 1]].contains(where: { mustBeAlone($0, session, on: connection) }) { return }
      if job.isChange, job.trial.kind != .answer,
        job.sequence != (works[..<sent].last(where: \.isChange)?.sequence ?? made) + 1
      {
        // The one before has failed, which who has posted it did not know yet.
        guard sent == 0 else { return }
        end(.notMade(Self.consequence))
        continue
      }
      sent += 1
      try send(job, session, on: connection)
    }
  }

  /// Whether nothing may be in flight with a work: it is no batch of statements, or has its outcome at once.
  private func mustBeAlone(_ job: LaneJob, _ session: LeaseSession?, on connection: PostgresConnection) -> Bool {
    if case .lease = job.work { return true }
    return job.trial.kind == .answer || job.refusal != nil || job.isStale(on: connection.server)
      || job.isChange && session == nil
  }

  private mutating func send(
    _ job: LaneJob, _ session: LeaseSession?, on connection: PostgresConnection
  ) throws(PostgresFailure) {
    if job.trial.kind == .answer { return try answerAgain(job, on: connection) }
    if let refusal = job.refusal {
      // After a loss the server may not be whole again.
      guard job.trial.kind == .again else { return end(.notMade(refusal)) }
      throw PostgresFailure(isLost: true, state: "", message: refusal.message, query: nil)
    }
    if job.isStale(on: connection.server) {
      lane.needs.meet(connection.server)
      return end(
        .repeatable(StoreError(kind: .unavailable, message: "\(settings.place) was another server each time.")))
    }
    if case .lease(let request, let renewing) = job.work {
      return try lease(job, request, renewing, on: connection)
    }
    guard !job.isChange || session != nil else { return end(.notMade(lost(sessionEnd))) }
    var start: Timestamp?
    if case .claimDue = job.work { start = floor.begin(at: .now) }
    if let due = job.firstDue { floor.store(due: due) }
    for statement in job.statements(session: session?.id ?? 0, connection: number, start: start) {
      try connection.send(statement)
    }
    try connection.sync()
    batches.append(Batch(isWork: true))
  }

  /// Reports the outcome of the oldest work.
  private mutating func end(_ outcome: StoreOutcome) {
    let job = works.removeFirst()
    sent = max(0, sent - 1)
    if case .made = outcome, job.isChange {
      made = job.sequence
      if let session { lane.needs.ledgers.made(made, in: session.id) }
    }
    lane.report(outcome)
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
    guard let job = works.first else { return }
    guard let failure = batch.failure else {
      return try answer(job, Array(batch.rows.dropFirst(job.leading)), on: connection)
    }
    floor.forget()
    if job.isChange, job.sequence != made + 1 { return end(.notMade(Self.consequence)) }
    if failure.check == .dataKeys {
      // If they cannot be read now, the next try fails as this one did.
      try? lane.needs.renewKeys()
      return end(.repeatable(failure.error(at: settings.place)))
    }
    let canRevive = failure.check == .standing && job.revival != nil && job.trial.kind == .first
    if canRevive || failure.isConflict { return end(.repeatable(failure.error(at: settings.place))) }
    end(.notMade(error(of: failure, job)))
  }

  private func error(of failure: PostgresFailure, _ job: LaneJob) -> StoreError {
    var error = failure.error(at: settings.place)
    if failure.check == .standing { error.message += " A call to be changed is not there." }
    guard let writes = job.writes else { return error }
    do throws(StoreError) {
      if failure.isOfStoredCall, !writes.given.isEmpty {
        error.stored = try lane.needs.stored(writes.given)
        // The other one may have been rolled back since; then it works the next time.
        error.kind = error.stored.isEmpty ? .unavailable : .callStored
      }
      guard failure.check == .keys else { return error }
      error.taken = try lane.needs.taken(writes.keys)
      // It has expired or was removed since.
      if error.taken.isEmpty { error.kind = .unavailable }
      return error
    } catch {
      return error
    }
  }

  private mutating func answer(
    _ job: LaneJob, _ rows: [PostgresRows], on connection: PostgresConnection
  ) throws(PostgresFailure) {
    let (answer, damaged) = job.answer(rows)
    if case .fetched(let calls) = answer {
      for case .success(let call?) in calls where call.progress.state.isFinal { lane.needs.didShow(call.id) }
    }
    if case .claimDue(let time, _) = job.work, case .due(let claim) = answer {
      floor.end(next: claim.nextDue, claimed: time, at: .now)
    }
    end(.made(answer))
    if !damaged.isEmpty { try setAside(damaged, on: connection) }
  }

  // MARK: Damaged calls

  /// Ends calls of this instance that cannot be read, so that no claim finds them again.
  private mutating func setAside(_ damaged: [DamagedCall], on connection: PostgresConnection) throws(PostgresFailure) {
    var statement = PostgresStatement(ClaimQueries.setAside)
    // Of the others it is not known. They stay as they are until the next takeover.
    let damaged = damaged.filter { $0.cause == nil }
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
    _ job: LaneJob, _ request: LeaseRequest, _ renewing: Int64?, on connection: PostgresConnection
  ) throws(PostgresFailure) {
    let standing = lane.standing.withLock { $0 }
    if let renewing, standing.session?.id != renewing {
      return end(.notMade(lost("The lease to renew has ended.")))
    }
    do throws(LaneFailure) {
      let result = try exchange(
        request, standing, renewing: renewing != nil, job.sequence, isRepeated: false, on: connection)
      try didLease(result, request, on: connection)
    } catch {
      switch error {
      case .refused(let error): end(.notMade(error))
      case .failed(let failure) where failure.isLost: throw failure
      case .failed(let failure):
        joining = nil
        let error = failure.error(at: settings.place)
        end(failure.isConflict || failure.isRaceForInstance ? .repeatable(error) : .notMade(error))
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
    _ result: LeaseExchange.Result, _ request: LeaseRequest, on connection: PostgresConnection
  ) throws(LaneFailure) {
    if joining != nil { number = 0 }
    joining = nil
    floor.end(next: result.grant.state.nextDue, claimed: nil, at: .now)
    if result.hasNews { floor.forget() }
    let standing = PostgresLane.Standing(
      session: result.grant.session, shards: result.grant.shards, duration: request.duration)
    lane.standing.withLock { $0 = standing }
    sessionEnd = "This instance has no lease."
    end(.made(.leased(result.grant)))
    for (key, error) in result.damagedTargets { lane.needs.notices.post(.targetDamaged(key, error)) }
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
    guard isInDoubt || !works.isEmpty else {
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
      return found(made)
    }
    guard let session else { return found(made) }
    var (end, take, record, ask) = (
      PostgresStatement(LeaseQueries.endOwn), PostgresStatement(LeaseQueries.reconnect),
      PostgresStatement(LeaseQueries.recordProcess), PostgresStatement(LeaseQueries.lastMade)
    )
    end.add(session.id)
    take.add(session.id)
    record.add(session.id)
    ask.add(session.id)
    _ = try connection.run([end], within: limit)
    let taken = try connection.run([take], within: limit)[0]
    let last = try connection.run([PostgresStatement(LeaseQueries.lazily), record, ask], within: limit)[2].integer(0, 0)
    // Without a session, all that was not made is refused.
    if last < made {
      sessionEnd =
        "The database has lost commits that it had acknowledged: \(made) were made, and it knows \(last)."
      lane.standing.withLock { $0 = PostgresLane.Standing(previous: session) }
    } else if taken.count == 1 {
      number = taken.integer(0, 0)
    } else {
      // Its commits are on disk, and are reported as made.
      sessionEnd = "The lease has ended."
      lane.standing.withLock { $0 = PostgresLane.Standing() }
    }
    found(last)
  }

  /// Of the works in doubt, the changes up to this one were made.
  private mutating func found(_ last: Int64) {
    guard isInDoubt else { return }
    (isInDoubt, known) = (false, last)
    lane.report(.found(last: last))
  }

  /// Reports the answer of a work that was made when the connection was lost.
  private mutating func answerAgain(_ job: LaneJob, on connection: PostgresConnection) throws(PostgresFailure) {
    switch (job.work, session) {
    case (.lease(let request, _), _?):
      let standing = lane.standing.withLock { $0 }
      do throws(LaneFailure) {
        let result = try exchange(request, standing, renewing: true, job.sequence, isRepeated: true, on: connection)
        try didLease(result, request, on: connection)
      } catch {
        switch error {
        case .failed(let failure): throw failure
        case .refused(let error):
          // The lease is in the ledger. Its number can be used again in another session only.
          lane.standing.withLock { $0 = PostgresLane.Standing(previous: standing.session) }
          (known, sessionEnd) = (made, error.message)
          end(.notMade(lost(error.message)))
        }
      }
    case (.lease, nil):
      known = made
      end(.notMade(lost(sessionEnd)))
    // Other instances have the calls.
    case (.claimDue, nil): end(.made(.due(Claim(calls: [], nextDue: nil))))
    case (.claimQueued, nil): end(.made(.calls([])))
    default:
      var statements = job.repetition(largest: lane.needs.largest)
      for index in statements.indices {
        statements[index].fill(session: session?.id ?? 0, connection: number, sequence: job.sequence)
        statements[index].fill(start: nil)
      }
      let rows = statements.isEmpty ? [] : try connection.run(statements, within: settings.answerTimeout)
      try answer(job, rows, on: connection)
    }
  }

  /// The connection is lost, or could not be made.
  private mutating func lose(_ failure: PostgresFailure) {
    let error = failure.error(at: settings.place)
    connection = nil
    batches = []
    floor.forget()
    // Also if the answers of what was made are about to be asked for: the next server may know less.
    if sent > 0 || !isInDoubt && known > made {
      doubts += 1
      (isInDoubt, works, sent) = (true, [], 0)
      lane.report(.lost(error))
    }
    let since = unreachable ?? .now
    unreachable = since
    if !isInDoubt, ContinuousClock.now - since >= settings.patience {
      while !works.isEmpty { end(.notMade(error)) }
    }
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
