internal import RedialCore
internal import RedialModel
internal import RedialStore

/// Why work on a connection ended without a result.
enum LaneFailure: Error {
  /// A statement or the connection failed.
  case failed(PostgresFailure)
  case refused(StoreError)
}

/// Begins and renews sessions, and divides the shards, in transactions of several steps.
struct LeaseExchange {
  /// How long a step may wait for its answer.
  let patience: Duration
  /// The time of the clock; nil for that of the database.
  let now: Timestamp?
  /// The maximum size of a body that is read with its call.
  let largest: Int
  /// How a new session is shown to the others.
  let introduction: PostgresLane.Introduction

  /// What a lease request has changed.
  struct Result {
    var grant: LeaseGrant
    var damaged: [DamagedCall]
    var damagedTargets: [(TargetKey, StoreError)]
    /// Whether calls may be due that nobody has looked for: of shards that it has gained, or that have got their turn.
    var hasNews: Bool
  }

  /// A request, and what the instance has.
  struct Request {
    var request: LeaseRequest
    /// The session to renew; nil for a new one.
    var renewing: LeaseSession?
    /// The session that a new one ends.
    var previous: LeaseSession?
    /// The id of a new session.
    var newID: Int64
    /// The number of the connection.
    var connection: Int64
    /// The place of the work in the chain.
    var sequence: Int64
    /// Whether it was made before and its answer was lost, so that it is in the ledger already.
    var isRepeated: Bool
    /// The shards that the instance knows to be its own.
    var known: ShardSet
    /// From which due time on it looks for the next due call; nil for all.
    var start: Timestamp?
  }

  func perform(_ request: Request, on connection: PostgresConnection) throws(LaneFailure) -> Result {
    let locks = try request.renewing.map { session throws(LaneFailure) in
      try renew(request, session, on: connection)
    }
    _ = try run([PostgresStatement(LeaseQueries.begin), PostgresStatement(LeaseQueries.limit)], on: connection)
    do {
      let result = try inTransaction(request, locks: locks ?? true, on: connection)
      _ = try run([PostgresStatement(LeaseQueries.commit)], on: connection)
      return result
    } catch {
      if case .failed(let failure) = error, failure.isLost { throw error }
      _ = try run([PostgresStatement(LeaseQueries.rollBack)], on: connection)
      throw error
    }
  }

  /// Renews the lease. Returns whether the request changes more than the session's own rows.
  private func renew(
    _ request: Request, _ session: LeaseSession, on connection: PostgresConnection
  ) throws(LaneFailure) -> Bool {
    var (renewal, probe) = (PostgresStatement(LeaseQueries.renew), PostgresStatement(LeaseQueries.probe))
    renewal.add(session.id)
    renewal.add(now?.microseconds)
    renewal.add(request.request.duration.wholeMicroseconds)
    probe.add(session.id)
    probe.add(now?.microseconds)
    let row = try run([PostgresStatement(LeaseQueries.lazily), renewal, probe], on: connection)[2]
    let (expired, free) = (row.integer(0, 0), row.integer(0, 1))
    if expired > 0 {
      // Not behind the lock: whoever is stalled may have it.
      var terminate = PostgresStatement(LeaseQueries.terminate)
      terminate.add(now?.microseconds)
      _ = try run([terminate], on: connection)
    }
    let share = (ShardSet.count + Int(max(1, row.integer(0, 3))) - 1) / Int(max(1, row.integer(0, 3)))
    let takes = request.request.takesShards && free > 0 && row.integer(0, 2) < share
    return expired > 0 || takes || !request.request.giveBack.isEmpty
  }

  private func inTransaction(
    _ request: Request, locks: Bool, on connection: PostgresConnection
  ) throws(LaneFailure) -> Result {
    let divides = locks ? try mayDivide(request, on: connection) : false
    if divides {
      var expire = PostgresStatement(LeaseQueries.expire)
      expire.add(now?.microseconds)
      _ = try run([expire], on: connection)
    }
    let session = try began(request, on: connection)
    var owners = try shards(of: session, on: connection)
    let back = owners.own.intersection(request.request.giveBack)
    let division = ShardDivision(
      among: owners.sessions, owned: owners.own.subtracting(back).size, free: owners.free,
      takesShards: request.request.takesShards && divides)
    if !back.isEmpty { try change(back, by: LeaseQueries.give, session, on: connection) }
    if !division.gained.isEmpty { try change(division.gained, by: LeaseQueries.take, session, on: connection) }
    owners.own = owners.own.subtracting(back).union(division.gained)
    // What the instance does not know yet: what it has gained now, or before an answer was lost.
    let gained = owners.own.subtracting(request.known.subtracting(back))
    let hasNews = try release(back.union(gained), gained: gained, session, on: connection) || !gained.isEmpty
    let rows = try run(
      Takeover.statements(
        session: session.id, gained: gained, at: now, from: hasNews ? nil : request.start, largest: largest),
      on: connection)
    do throws(StoreError) {
      let found = try Takeover(rows, place: connection.place)
      let grant = LeaseGrant(
        session: session, shards: owners.own, gained: gained, share: division.share, state: found.state,
        elsewhere: found.elsewhere)
      return Result(
        grant: grant, damaged: found.damaged, damagedTargets: found.damagedTargets, hasNews: hasNews)
    } catch {
      throw .refused(error)
    }
  }

  /// Locks the division of shards. Returns false if another instance divides them, or if nobody may.
  private func mayDivide(_ request: Request, on connection: PostgresConnection) throws(LaneFailure) -> Bool {
    guard try run([PostgresStatement(LeaseQueries.tryLock)], on: connection)[0].count == 1 else { return false }
    var quiet = PostgresStatement(LeaseQueries.quiet)
    quiet.add(now?.microseconds)
    quiet.add(request.request.duration.wholeMicroseconds)
    return try run([quiet], on: connection)[0].integer(0, 0) == 0
  }

  /// Begins the session, or makes sure that it stands.
  private func began(_ request: Request, on connection: PostgresConnection) throws(LaneFailure) -> LeaseSession {
    if let session = request.renewing {
      if !request.isRepeated {
        var fence = CommitStatements.fence
        fence.fill(session: session.id, connection: request.connection, sequence: request.sequence)
        _ = try run([fence], on: connection)
      }
      return session
    }
    var statements: [PostgresStatement] = []
    if let previous = request.previous {
      var end = PostgresStatement(LeaseQueries.end)
      end.add(previous.id)
      statements.append(end)
    }
    var join = PostgresStatement(LeaseQueries.join)
    join.add(request.newID)
    join.add(now?.microseconds)
    join.add(request.request.duration.wholeMicroseconds)
    join.add(request.sequence)
    join.add(text: introduction.address)
    join.add(text: introduction.version)
    guard let rows = try run(statements + [join], on: connection).last, rows.count == 1 else {
      throw .refused(MigrationMark.refusal(of: connection.place))
    }
    return LeaseSession(id: request.newID, instance: Int(rows.integer(0, 0)))
  }

  /// The shards of a session, those without an owner, and the number of sessions.
  private func shards(
    of session: LeaseSession, on connection: PostgresConnection
  ) throws(LaneFailure) -> (own: ShardSet, free: ShardSet, sessions: Int) {
    let rows = try run([PostgresStatement(LeaseQueries.shards)], on: connection)[0]
    let all = rows.map { row in (shard: Int(rows.integer(row, 0)), owner: rows.integer(row, 1)) }
    return (
      ShardSet(all.filter { $0.owner == session.id }.map(\.shard)),
      ShardSet(all.filter { $0.owner == 0 }.map(\.shard)), rows.count == 0 ? 1 : Int(rows.integer(0, 2))
    )
  }

  private func change(
    _ shards: ShardSet, by query: PostgresQuery, _ session: LeaseSession, on connection: PostgresConnection
  ) throws(LaneFailure) {
    var statement = PostgresStatement(query)
    statement.add(session.id)
    statement.add(shards.shards.map { Int64($0) })
    _ = try run([statement], on: connection)
  }

  /// Frees calls that nobody has in memory any more, and gives turns that nobody has. Returns whether it has given some.
  private func release(
    _ shards: ShardSet, gained: ShardSet, _ session: LeaseSession, on connection: PostgresConnection
  ) throws(LaneFailure) -> Bool {
    var statements: [PostgresStatement] = []
    if !shards.isEmpty {
      var held = PostgresStatement(LeaseQueries.releaseHeld)
      held.add(shards.shards.map { Int64($0) })
      statements.append(held)
    }
    var turns = PostgresStatement(TurnQueries.grantFree)
    turns.add(session.id)
    turns.add(gained.shards.map { Int64($0) })
    let rows = try run(statements + [turns, PostgresStatement(UnfinishedCounts.fold)], on: connection)
    return rows[statements.count].count > 0
  }

  private func run(
    _ statements: [PostgresStatement], on connection: PostgresConnection
  ) throws(LaneFailure) -> [PostgresRows] {
    do throws(PostgresFailure) {
      return try connection.run(statements, within: patience)
    } catch {
      throw .failed(error)
    }
  }
}
