package import RedialCore
package import RedialModel
internal import RedialStore
internal import Synchronization

extension PostgresStore {
  /// Takes over what is in this session's shards: for a process that has the database for itself. A shared store does
  /// this with each lease.
  package func recover(at now: Timestamp) throws(StoreError) -> RecoveredState {
    let standing = lane.standing.withLock { $0 }
    guard let session = standing.session else {
      throw StoreError(kind: .leaseLost, message: "This instance of \(side.settings.place) has no lease. Request one.")
    }
    let shards = standing.shards.shards.map { Int64($0) }
    var (hold, release) = (PostgresStatement(LeaseQueries.hold), PostgresStatement(LeaseQueries.releaseHeld))
    var turns = PostgresStatement(TurnQueries.grantFree)
    hold.add(session.id)
    release.add(shards)
    turns.add(session.id)
    turns.add(shards)
    let reading = Takeover.statements(
      session: session.id, gained: standing.shards, at: now, largest: payloads.streamBodiesAbove)
    let rows = try side.run([hold, release, turns] + reading)
    let found = try Takeover(Array(rows.dropFirst(3)), place: side.settings.place)
    guard !found.damaged.isEmpty else {
      for (key, error) in found.damagedTargets { notices.post(.targetDamaged(key, error)) }
      return found.state
    }
    try setAside(found.damaged, session, at: now)
    // The state counts only the calls that are unfinished after it.
    return try recover(at: now)
  }

  private func setAside(
    _ damaged: [DamagedCall], _ session: LeaseSession, at now: Timestamp
  ) throws(StoreError) {
    var statement = PostgresStatement(ClaimQueries.setAside)
    if let cause = damaged.lazy.compactMap(\.cause).first { throw cause }
    statement.add(damaged.map(\.id.rawValue))
    statement.add(session.id)
    statement.add(now.microseconds)
    _ = try side.run([statement])
    for call in damaged { notices.post(.damaged(call.id, call.error)) }
  }

  /// Gives the session and all shards back, unless an attempt is in flight: the next owner must see that it was.
  package func resign(at now: Timestamp) throws(StoreError) {
    let standing = lane.standing.withLock { $0 }
    guard let session = standing.session else { return }
    var running = PostgresStatement(Self.anyRunning)
    running.add(session.id)
    let isRunning = try side.run([running])[0].integer(0, 0) > 0
    var (hold, release) = (PostgresStatement(LeaseQueries.hold), PostgresStatement(LeaseQueries.releaseHeld))
    hold.add(session.id)
    release.add(standing.shards.shards.map { Int64($0) })
    var end = PostgresStatement(LeaseQueries.end)
    end.add(session.id)
    guard !isRunning else { return }
    // The others need not wait for their next heartbeat.
    _ = try side.run([hold, release, end, PostgresStatement(HeartbeatQueries.tellAll)])
    lane.standing.withLock { $0 = PostgresLane.Standing() }
  }

  private static let anyRunning = PostgresQuery(
    "any_running", "look for running calls",
    """
    SELECT count(*) FROM live WHERE shard IN (SELECT shard FROM leases WHERE owner = $1::int8)
      AND \(StoredPlace.condition(.running))
    """)
}
