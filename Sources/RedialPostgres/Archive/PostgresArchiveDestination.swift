package import RedialCore
package import RedialModel
package import RedialStore

/// A database without instances that gets what an archive, or another store, has. No instance can join meanwhile.
package final class PostgresArchiveDestination: MigrationDestination {
  /// Keeps instances out, in one transaction that lasts until the end.
  private let lock: IdleDatabase
  private let writer: IdleDatabase
  private let works: CommitWorks
  private let settings: PostgresSettings

  /// Connects, and makes the tables if there are none.
  ///
  /// - Parameter isFilling: Whether it gets all of another store, and may be partly filled from an interrupted migration.
  /// - Throws: `inUse` if instances use it, or if it is itself only partly filled; `unavailable` if it cannot be reached;
  ///   `corrupt` if its tables are of another version.
  package init(_ settings: PostgresSettings, payloads: PayloadRule, isFilling: Bool = false) throws(StoreError) {
    try settings.check()
    self.settings = settings
    lock = try IdleDatabase(settings)
    try PostgresSchema.open(lock.connection, schema: settings.schema, forms: settings.forms)
    try lock.waitForLeases()
    try lock.expireSessions()
    try lock.beginToWait("begin the import")
    let isMarked = try lock.isMarked()
    guard isFilling || !isMarked else { throw MigrationMark.refusal(of: lock.place) }
    try lock.lockOut()
    writer = try IdleDatabase(settings)
    var payloads = payloads
    // All responses are wanted that the other store has.
    if isFilling { payloads.keptResponses = .max }
    try settings.vault.load(try StoredDataKeys.all(SideConnection(settings)))
    StoredDataKeys.prepare(settings)
    works = CommitWorks(numbers: NumberTable(settings), payloads: payloads)
  }

  package var place: String { lock.place }

  package func check(_ item: StoreItem) throws(StoreError) { try settings.vault.check(item) }

  package func known(_ ids: [CallID]) throws(StoreError) -> Set<CallID> {
    var find = PostgresStatement(ArchiveQueries.known)
    find.add(ids.map(\.rawValue))
    let rows = try writer.run([find])[0]
    return Set((0..<rows.count).map { CallID(rawValue: rows.integer($0, 0)) })
  }

  package func insert(_ calls: [ArchivedCall], at now: Timestamp) throws(StoreError) {
    try checkLock()
    var calls = calls
    let turns = try takeTurns(&calls)
    let replaced = try dropOutdatedKeys(of: &calls, at: now)
    let folded = FoldedWrites(calls.flatMap(\.writes))
    try StoredDataKeys.ensure(folded.sealed(by: settings.vault), works.numbers.side)
    let inserts = try works.statements(folded, [], shards: .all).statements(folded)
    _ = try writer.run(replaced + inserts + turns + Self.missingSubjects(of: calls))
  }

  package func insert(_ items: [StoreItem]) throws(StoreError) -> Int {
    try checkLock()
    let statements = try ItemStatements(items, works.numbers).statements
    return try writer.run(statements).reduce(0) { $0 + ($1.count == 1 ? Int($1.integer(0, 0)) : 0) }
  }

  /// Does nothing: whoever takes a shard over gives its turns that nobody has.
  package func finish() throws(StoreError) {}

  /// Lets instances join again.
  package func close() {
    try? lock.execute(["ROLLBACK"], purpose: "end the import")
    works.numbers.side.close()
  }

  /// Throws if the connection that keeps instances out is lost.
  private func checkLock() throws(StoreError) { _ = try lock.isMarked() }

  // MARK: A migration

  package func contents() throws(StoreError) -> any ArchiveSource {
    try PostgresExport(settings, state: nil, mayBeMarked: true)
  }

  package func mark() throws(StoreError) -> MigrationMark? {
    var find = PostgresStatement(ReadQueries.setting)
    find.add(text: MigrationMark.settingName)
    let rows = try writer.run([find])[0]
    return rows.count == 1 ? try MigrationMark(rows.text(0, 0), at: place) : nil
  }

  package func begin(_ mark: MigrationMark) throws(StoreError) {
    try checkLock()
    var first = PostgresStatement(ArchiveQueries.mark)
    first.add(text: MigrationMark.settingName)
    first.add(text: mark.text)
    _ = try writer.run([first])
  }

  package func end() throws(StoreError) {
    try checkLock()
    var remove = PostgresStatement(ArchiveQueries.removeMark)
    remove.add(text: MigrationMark.settingName)
    _ = try writer.run([remove])
  }

  /// Lets calls wait that find another call with their turn, and returns what stores the turns of all.
  private func takeTurns(_ calls: inout [ArchivedCall]) throws(StoreError) -> [PostgresStatement] {
    let ordered = calls.indices.compactMap { index in calls[index].orderingKey.map { (index, key: $0) } }
    guard !ordered.isEmpty else { return [] }
    let targets = ordered.map { calls[$0.0].record.spec.target }
    let numbers = try works.numbers.numbers(targets: Set(targets), namespaces: Set(targets.map(\.namespace)))
    let ids = targets.map { numbers.targets[$0] ?? 0 }
    var find = PostgresStatement(ArchiveQueries.holders)
    find.add(ids)
    find.add(texts: ordered.map(\.key))
    let rows = try writer.run([find])[0]
    var isTaken = Set((0..<rows.count).map { OrderedTurn(target: rows.integer($0, 0), key: rows.text($0, 1)) })
    var hasTurn: [Int64] = []
    for (place, (index, key)) in ordered.enumerated() {
      let goesOn = calls[index].goesOn && isTaken.insert(OrderedTurn(target: ids[place], key: key)).inserted
      if !goesOn { calls[index].awaitTurn() }
      hasTurn.append(goesOn ? 1 : 0)
    }
    var insert = PostgresStatement(ArchiveQueries.insertTurns)
    insert.add(ordered.map { calls[$0.0].record.id.rawValue })
    insert.add(ids)
    insert.add(texts: ordered.map(\.key))
    insert.add(targets.map { numbers.namespaces[$0.namespace] ?? 0 })
    insert.add(targets.map { Int64(ShardSet.shard(of: $0)) })
    insert.add(hasTurn)
    return [insert]
  }

  /// Drops keys that have expired, or that other calls keep longer, and returns what removes those of other calls that are
  /// replaced.
  private func dropOutdatedKeys(
    of calls: inout [ArchivedCall], at now: Timestamp
  ) throws(StoreError) -> [PostgresStatement] {
    let keyed = calls.indices.compactMap { index in calls[index].key.map { (index, key: $0) } }
    guard !keyed.isEmpty else { return [] }
    let names = keyed.map(\.key.key.name)
    var find = PostgresStatement(ClaimQueries.keys)
    find.add(texts: names.map(\.text))
    // Also those that have expired and were not removed yet.
    find.add(Int64.min)
    let known = KeyRows.records(of: names, try writer.run([find])[0])
    var replaced: [String] = []
    var longest: [IdempotencyName: Int] = [:]
    for ((index, key), known) in zip(keyed, known) {
      let isKept = known.map { $0.call != key.call && $0.expiresAt > now && $0.expiresAt >= key.expiresAt } ?? false
      guard key.expiresAt > now, !isKept else {
        calls[index].key = nil
        continue
      }
      if let other = longest[key.key.name], let rival = calls[other].key {
        calls[rival.expiresAt >= key.expiresAt ? index : other].key = nil
        if rival.expiresAt >= key.expiresAt { continue }
      }
      longest[key.key.name] = index
      if let known, known.call != key.call { replaced.append(key.key.name.text) }
    }
    guard !replaced.isEmpty else { return [] }
    var remove = PostgresStatement(ArchiveQueries.removeKeys)
    remove.add(texts: replaced)
    return [remove]
  }

  /// The calls that webhooks report which arrived without them count as removed by retention.
  private static func missingSubjects(of calls: [ArchivedCall]) -> [PostgresStatement] {
    let webhooks = calls.compactMap { call in call.record.unfinishedSubject.map { ($0, call.record.createdAt) } }
    guard !webhooks.isEmpty else { return [] }
    var record = PostgresStatement(ArchiveQueries.recordGone)
    record.add(webhooks.map(\.0.rawValue))
    record.add(webhooks.map(\.1.microseconds))
    return [record]
  }
}

/// The turn of an ordering key.
private struct OrderedTurn: Hashable {
  let target: Int64
  let key: String
}

private enum ArchiveQueries {
  static let mark = PostgresQuery(
    "archive_mark", "begin the migration", "INSERT INTO settings (name, value) VALUES ($1::text, $2::text)")

  static let removeMark = PostgresQuery(
    "archive_end", "end the migration", "DELETE FROM settings WHERE name = $1::text")

  static let known = PostgresQuery(
    "archive_known", "look for calls", "SELECT id FROM requests WHERE id = ANY($1::int8[])")

  static let holders = PostgresQuery(
    "archive_holders", "see whose turn it is",
    """
    SELECT t.target_id, t.key FROM unnest($1::int8[], $2::text[]) AS u (target_id, key)
      JOIN turns t ON \(Lookup.row("t.target_id", "u.target_id")) AND t.key = u.key AND t.has_turn
    """)

  /// They come before the calls that this store has accepted, as older ones do.
  static let insertTurns = PostgresQuery(
    "archive_turns", "store turns",
    """
    INSERT INTO turns (call_id, target_id, key, namespace, shard, has_turn, offered, place)
    SELECT u.call_id, u.target_id, u.key, u.namespace, u.shard, u.has_turn = 1, u.has_turn = 0, 0
    FROM unnest($1::int8[], $2::int8[], $3::text[], $4::int8[], $5::int8[], $6::int8[])
      AS u (call_id, target_id, key, namespace, shard, has_turn)
    """)

  static let removeKeys = PostgresQuery(
    "archive_keys", "replace idempotency keys", "DELETE FROM keys WHERE key = ANY($1::text[])")

  static let recordGone = PostgresQuery(
    "archive_gone", "note which calls are missing",
    """
    INSERT INTO settings AS s (name, value)
    SELECT '\(Retention.goneBy)', max(u.created_at)::text FROM unnest($1::int8[], $2::int8[]) AS u (id, created_at)
      WHERE \(Lookup.none("requests", "id", "u.id")) HAVING count(*) > 0
    ON CONFLICT (name) DO UPDATE SET value = greatest(s.value::int8, excluded.value::int8)::text
    """)
}
