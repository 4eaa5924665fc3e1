package import RedialCore
package import RedialModel
package import RedialStore
internal import Synchronization

extension PostgresStore {
  /// Maximum number of calls that a step removes.
  private static let batch: Int64 = 256
  /// How many samples of the size of calls are taken at once, at most: the first look needs several.
  private static let mostSamples = 10

  private static let ended = PostgresQuery(
    "ended", "find the calls that ended first",
    """
    SELECT id, finished_at FROM done WHERE finished_at <= $1::int8 AND \(unspared) ORDER BY finished_at LIMIT $2::int8
    """)
  private static let unspared = "coalesce(spared_until, 0) <= \(LeaseQueries.now("NULL"))"
  private static let ownsFirst = PostgresQuery(
    "owns_first", "see who removes old calls",
    "SELECT count(*) FROM leases WHERE shard = 0 AND owner = $1::int8")
  private static let removeRemains = CommitQueries.remains.map { remains in
    // Most calls have no attempts but a packed one, and nothing need be looked up for them.
    let some = remains.table == "attempts" ? " AND (d.past IS NULL OR d.attempts <> 1)" : ""
    return "of_\(remains.table) AS (DELETE FROM \(remains.table) t USING d WHERE t.\(remains.column) = d.id\(some))"
  }.joined(separator: ",\n      ")
  /// With what belongs to them: a call that a command has just brought back keeps it.
  private static let remove = PostgresQuery(
    "remove_ended", "remove old calls",
    """
    WITH d AS (DELETE FROM done WHERE id = ANY($1::int8[]) AND \(unspared) RETURNING id, kind, state, attempts, past),
      \(removeRemains)
    INSERT INTO finished (kind, state, n) SELECT kind, state, -count(*) FROM d GROUP BY kind, state
    """)
  private static let foldFinished = PostgresQuery(
    "fold_finished", "add up the counts of finished calls",
    """
    WITH d AS (DELETE FROM finished WHERE EXISTS (SELECT 1 FROM finished OFFSET 512) RETURNING kind, state, n)
    INSERT INTO finished (kind, state, n) SELECT kind, state, sum(n) FROM d GROUP BY kind, state HAVING sum(n) <> 0
    """)
  /// Of a session that has ended, the last row stays: its owner may still ask what was made.
  private static let forgetCommits = PostgresQuery(
    "forget_commits", "shorten the ledger",
    """
    DELETE FROM commits c WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = c.session)
      AND EXISTS (SELECT 1 FROM commits m WHERE m.session = c.session AND m.seq > c.seq)
    """)
  private static let forgetClaims = PostgresQuery(
    "forget_claims", "shorten the ledger",
    "DELETE FROM claims c WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = c.session)")

  /// Removes some of the calls that ended before the retention time, in one transaction. Only the owner of the first
  /// shard does, so that instances do not wait for each other.
  ///
  /// Beyond `retention.bytes` the calls that ended first are removed early (``SizeWatch``).
  ///
  /// It removes rows. Tables divided by day, of which the oldest is dropped, would save a fifth of the server's CPU for a
  /// call at full load (10.7 of about 45 us), but a commit of two calls would pay for it: with eight days its look-ups take
  /// 420 instead of 140 us, because each plan opens and locks the tables of all days.
  package func tidy(
    _ retention: Retention, at now: Timestamp, within budget: Duration
  ) throws(StoreError) -> TidyStep {
    let standing = lane.standing.withLock { $0 }
    // As of the last lease: the database knows better.
    guard let session = standing.session, standing.shards.contains(0) else { return TidyStep() }
    let shown = shown.current()
    var (first, find) = (PostgresStatement(Self.ownsFirst), PostgresStatement(Self.ended))
    first.add(session.id)
    let excess = try excess(over: retention.bytes)
    find.add(retention.horizon(at: now, bytes: excess > 0 ? .max : 0).microseconds)
    find.add(Self.batch + Int64(shown.count))
    let rows = try side.run([first, find])
    guard rows[0].integer(0, 0) == 1 else { return TidyStep() }
    let old = retention.horizon(at: now, bytes: 0).microseconds
    let ended = rows[1].map { row in (id: rows[1].integer(row, 0), end: rows[1].integer(row, 1)) }
      .filter { !shown.contains(CallID(rawValue: $0.id)) }.prefix(Int(Self.batch))
    // No more than necessary are removed early.
    let ids = (ended.filter { $0.end <= old } + ended.filter { $0.end > old }.prefix(excess)).map(\.id)
    var hold = PostgresStatement(LeaseQueries.hold)
    hold.add(session.id)
    if ids.isEmpty, let step = try erasePayloads(retention, at: now, session) { return step }
    guard !ids.isEmpty else {
      _ = try side.run([
        hold, PostgresStatement(Self.foldFinished), PostgresStatement(Self.forgetCommits),
        PostgresStatement(Self.forgetClaims),
      ])
      return TidyStep()
    }
    var remove = PostgresStatement(Self.remove)
    remove.add(ids)
    _ = try side.run([hold, remove])
    size.withLock { $0.didRemove(ids.count) }
    return TidyStep(removed: ids.count, isDone: false)
  }

  /// Erases the payloads of some of the calls that ended long enough ago, in one transaction; nil if there are none.
  private func erasePayloads(
    _ retention: Retention, at now: Timestamp, _ session: LeaseSession
  ) throws(StoreError) -> TidyStep? {
    guard let horizon = retention.payloadHorizon(at: now) else { return nil }
    var begin = PostgresStatement(PayloadQueries.begin)
    begin.add(text: PayloadPlace.start.text)
    var read = PostgresStatement(ReadQueries.setting)
    read.add(text: PayloadPlace.settingName)
    let stored = try side.run([begin, read])[1]
    let old = stored.count == 0 ? PayloadPlace.start.text : stored.text(0, 0)
    let place = PayloadPlace(old) ?? .start
    var find = PostgresStatement(PayloadQueries.next)
    find.add(place.end.microseconds)
    find.add(place.id.rawValue)
    find.add(horizon.microseconds)
    find.add(Self.batch)
    let rows = try side.run([find])[0]
    let found = rows.map { row in
      (id: rows.integer(row, 0), end: rows.integer(row, 1), isSpared: rows.integer(row, 2) != 0)
    }.prefix { !$0.isSpared }
    guard let last = found.last else { return nil }
    let ids = found.map(\.id)
    var records = PostgresStatement(ReadQueries.records)
    records.add(ids)
    let calls = try side.run([records])[0]
    var remains: [CallID: CallSpec] = [:]
    for row in 0..<calls.count {
      guard case .success(let call) = CallColumns.read(calls, row), call.spec.contentErasedAt == nil else { continue }
      remains[call.id] = call.spec.withoutPayloads(at: now)
    }
    let specs = found.compactMap { call in
      let id = CallID(rawValue: call.id)
      return remains[id].map { (id: id, spec: $0) }
    }
    var hold = PostgresStatement(LeaseQueries.hold)
    hold.add(session.id)
    let names = Set(specs.filter { vault.seals($0.spec) }.map(\.spec.namespace.name))
    try StoredDataKeys.using(names, side) { proof throws(StoreError) in
      var erase = PostgresStatement(PayloadQueries.erase)
      let left = specs.map { (id: $0.id, request: StoredRequest(erasedTo: $0.spec, of: $0.id, vault)) }
      erase.add(left.map(\.id.rawValue))
      erase.add(byteStrings: left.map(\.request.spec))
      erase.add(text: old)
      erase.add(text: PayloadPlace(end: Timestamp(microseconds: last.end), id: CallID(rawValue: last.id)).text)
      erase.add(left.map { $0.request.sums(of: $0.id).column })
      _ = try side.run([hold, erase] + proof)
    }
    return TidyStep(erased: specs.map { .erase($0.id, $0.spec) }, isDone: false)
  }

  /// How many calls have to go because the database is too large.
  private func excess(over limit: Int) throws(StoreError) -> Int {
    let now = ContinuousClock.now
    guard size.withLock({ $0.isDue(at: now) }) else { return size.withLock { $0.excess } }
    let rows = try side.run(UsageQueries.statements + [PostgresStatement(SizeQueries.unfinished)])
    let usage = UsageQueries.usage(rows)
    let ended = usage.finished.reduce(0) { $0 + $1.count }
    let calls = ended + Int(rows[2].integer(0, 0))
    guard usage.usedBytes > limit, ended > 0 else {
      size.withLock { $0.fits(at: now) }
      return 0
    }
    var take = PostgresStatement(SizeQueries.sample)
    take.add(Int64(SizeWatch.sample))
    for _ in 0..<Self.mostSamples {
      let sample = try side.run([take])[0]
      let isEnough = size.withLock {
        $0.add(bytes: Int(sample.integer(0, 1)), calls: Int(sample.integer(0, 0)))
        return !$0.needsSamples
      }
      if isEnough { break }
    }
    return size.withLock {
      $0.isOver(limit, of: calls, in: usage.usedBytes, at: now)
      return $0.excess
    }
  }
}
