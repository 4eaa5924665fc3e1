import Polling
import Dispatch
import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Testing

@testable import RedialPostgres

@Suite("The inspection of a store on PostgreSQL")
struct InspectionTests {
  let database = TestDatabase()

  var conformance: InspectionConformance {
    InspectionConformance(
      isAtRest: false, openStore: { AwaitedStore(try PostgresStore(database.settings, sharing: .alone)) },
      report: { try report(at: $0) }, execute: { try execute($0) })
  }

  private func soundStore() throws -> any CallStore { try conformance.soundStore() }

  private func inspection(
    _ limits: ServerInspection.Limits = ServerInspection.Limits(), longest: Duration = .seconds(60),
    patience: Duration = .milliseconds(300), at second: Int = 100
  ) throws -> PostgresInspection {
    try PostgresInspection(
      database.settings, limits: limits, longest: longest, patience: patience, clock: { Sample.time(second) })
  }

  private func report(at second: Int = 100, quick: Bool = false) throws -> StoreReport {
    try inspection(at: second).report(at: Sample.time(second), quick: quick)
  }

  private func execute(_ sql: String...) throws {
    let connection = try PostgresConnection(database.settings)
    try connection.execute(sql, purpose: "prepare the test", within: .seconds(60))
  }

  /// No instance is there any more.
  private func expireLeases() throws { try execute("UPDATE beats SET expires_at = \(Sample.time(1).microseconds)") }

  @Test("finds nothing wrong with a sound store, live or at rest, and changes nothing", arguments: [false, true])
  func clean(quick: Bool) throws {
    let store = try soundStore()
    let live = try report(quick: quick)
    #expect(live.isLive && live.isClean, "\(live.findings)")
    #expect(live.calls == SoundStore.count && live.place.contains("PostgreSQL database test"))
    #expect(live.findings.map(\.check) == StoreCheck.allCases)
    #expect(live.warnings.map(\.subject) == [.noStandby], "\(live.warnings)")
    store.close()
    try expireLeases()
    let contents = """
      SELECT md5(string_agg(query_to_xml('SELECT * FROM ' || oid::regclass, true, false, '')::text, '' ORDER BY relname))
      FROM pg_class WHERE relnamespace = 'redial'::regnamespace AND relkind = 'r'
      """
    let before = try database.rows(contents).text(0, 0)
    let rest = try report(at: 1_000_000, quick: quick)
    #expect(!rest.isLive && rest.isClean, "\(rest.findings)")
    #expect(
      rest.findings.map(\.check)
        == StoreCheck.allCases.filter { ![.overdue, .stuck, .expiredLeases, .unowned].contains($0) })
    #expect(try database.rows(contents).text(0, 0) == before)
  }

  @Test("finds late work only after a service had time for it")
  func late() throws { try conformance.late() }

  static let faults: [(String, StoreCheck)] = [
    ("UPDATE requests SET spec = '\\x7b00' WHERE id = ID", .damaged),
    ("UPDATE requests SET body = '\\x00', body_size = 9 WHERE id = ID", .damaged),
    ("UPDATE attempts SET outcome = 99 WHERE call_id = ID", .damaged),
    ("DELETE FROM done WHERE id = ID", .orphaned),
    ("DELETE FROM requests WHERE id = ID", .orphaned),
    ("UPDATE done SET target_id = 4711 WHERE id = ID", .orphaned),
    ("UPDATE done SET namespace = 4711 WHERE id = ID", .orphaned),
    ("INSERT INTO keys (key, call_id, fingerprint, created_at, expires_at) VALUES ('k', 5, '\\x01', 1, 2)", .orphaned),
    ("INSERT INTO labels (name, value, call_id) VALUES ('a', 'b', 5)", .orphaned),
    ("INSERT INTO retries (call_id, at, after_attempt) VALUES (\(Int64.max), 1, 1)", .orphaned),
    ("INSERT INTO attempts (call_id, number, started_at, duration, outcome) VALUES (5, 1, 1, 1, 1)", .orphaned),
    ("INSERT INTO requests (id, spec) VALUES (\(Int64.max), '\\x')", .orphaned),
    ("UPDATE done SET attempts = 1 WHERE id = ID", .miscounted),
    ("UPDATE done SET attempts = 3 WHERE id = ID", .miscounted),
    ("UPDATE done SET attempts_before = -1000 WHERE id = ID", .miscounted),
    ("UPDATE attempts SET duration = 2500000, sum = NULL WHERE number = 1 AND call_id = ID", .doublyLeased),
    ("UPDATE leases SET owner = 4711 WHERE shard = 7", .leases),
    ("DELETE FROM leases WHERE shard = 7", .leases),
    ("INSERT INTO sessions (id, instance, conn, version) VALUES (4711, 9, 0, '')", .leases),
    ("INSERT INTO beats (session, expires_at) VALUES (4711, \(Int64.max))", .leases),
    ("DELETE FROM beats", .leases),
    ("DELETE FROM control", .leases),
    ("UPDATE targets SET shard = 63 - shard", .leases),
    ("UPDATE done SET shard = 63 - shard WHERE id = ID", .leases),
    ("UPDATE leases SET owner = NULL", .unowned),
    ("DELETE FROM commits WHERE seq = (SELECT max(seq) - 3 FROM commits)", .ledger),
    ("DELETE FROM commits", .ledger),
    ("UPDATE done SET finished_at = NULL WHERE id = ID", .halfEnded),
    ("UPDATE done SET failure = 1 WHERE id = ID", .halfEnded),
    ("UPDATE done SET state = 0, finished_at = NULL WHERE id = ID", .halfEnded),
    ("UPDATE live SET state = 5 WHERE id = (SELECT min(id) FROM live)", .halfEnded),
    (
      "INSERT INTO live SELECT id, shard, namespace, kind, target_id, created_at, priority, callback, 0, 0, at, waiting, "
        + "attempts, interruptions, attempts_before, round_started_at, previous_wait, total_wait FROM done WHERE id = ID",
      .halfEnded
    ),
    ("UPDATE finished SET n = n + 1", .keptCounts),
    ("DELETE FROM finished", .keptCounts),
    ("DELETE FROM unfinished", .keptCounts),
    ("INSERT INTO unfinished VALUES ('{3}', '{0}', '{1}')", .keptCounts),
    ("DROP TABLE labels", .integrity),
  ]

  @Test("finds faults, with the calls", arguments: faults)
  func damaged(sql: String, check: StoreCheck) throws { try conformance.damaged(sql, check) }

  @Test("every check has a fault that it finds")
  func coverage() {
    let others: Set<StoreCheck> = [.overdue, .stuck, .turns, .orphanedWebhooks, .expiredLeases, .unreadable]
    #expect(Set(Self.faults.map(\.1)).union(others) == Set(StoreCheck.allCases))
  }

  static let orderFaults: [(String, Int)] = [
    ("UPDATE live SET state = 0, waiting = NULL WHERE id = ID", 21),
    ("DELETE FROM live WHERE id = ID", 21),
    (
      "WITH d AS (DELETE FROM live WHERE id = ID RETURNING *) "
        + "INSERT INTO done (id, shard, namespace, kind, target_id, created_at, priority, callback, state, at, attempts, "
        + "interruptions, attempts_before, round_started_at, previous_wait, total_wait, finished_at) SELECT id, shard, "
        + "namespace, kind, target_id, created_at, priority, callback, 7, at, attempts, interruptions, attempts_before, "
        + "round_started_at, previous_wait, total_wait, 5 FROM d", 21
    ),
    // One that waits for its turn, and one that runs with it.
    ("DELETE FROM turns WHERE call_id = ID", 21),
    ("DELETE FROM turns WHERE call_id = ID", 30),
    ("UPDATE live SET state = 3 WHERE id = ID", 0),
    // Those behind it wait for a turn that no call has.
    ("DELETE FROM turns WHERE call_id = (SELECT min(call_id) FROM turns)", 21),
    ("UPDATE turns SET has_turn = false WHERE call_id = ID", 20),
    ("UPDATE live SET state = 3 WHERE id = ID", 20),
    ("UPDATE live SET state = 2, waiting = 0 WHERE id = ID", 22),
    ("UPDATE turns SET key = 'other', has_turn = false WHERE call_id = ID", 30),
    ("UPDATE turns SET namespace = 9 WHERE call_id = ID", 30),
    ("UPDATE turns SET shard = 63 - shard WHERE call_id = ID", 30),
  ]

  @Test("finds ordered calls that are out of their order, and says which", arguments: orderFaults)
  func disorder(sql: String, number: Int) throws { try conformance.disorder(sql, of: number) }

  @Test("a free turn that the owner of the shard is going to give is not a finding")
  func offered() throws {
    let store = try soundStore()
    defer { store.close() }
    try execute("UPDATE turns SET has_turn = false, offered = true WHERE call_id = \(Sample.id(20).rawValue)")
    let examples = try report().findings.first { $0.check == .turns }?.examples ?? []
    #expect(!examples.contains { $0.contains("nobody has the turn") }, "\(examples)")
  }

  @Test("finds an expired lease that no instance has taken over, after others had time for it")
  func expiredLeases() throws {
    let store = try soundStore()
    defer { store.close() }
    try execute(
      "INSERT INTO sessions (id, instance, conn, version) VALUES (4711, 9, 0, '')",
      "INSERT INTO beats (session, expires_at) VALUES (4711, \(Sample.time(10).microseconds))",
      "INSERT INTO commits VALUES (4711, 0)", "UPDATE leases SET owner = 4711 WHERE shard < 3",
      "UPDATE beats SET expires_at = \(Sample.time(1000).microseconds) WHERE session <> 4711")
    #expect(try report(at: 70).isClean)
    let late = try report(at: 71)
    #expect(late.found == [.expiredLeases: 1])
    #expect(late.findings.flatMap(\.examples) == ["session 4711 with 3 shards"])
  }

  @Test("calls of an instance that is gone are no finding if another takes them over, or if none is there")
  func takenOver() throws {
    let store = try soundStore()
    defer { store.close() }
    let owner = try database.number("SELECT owner FROM leases LIMIT 1")
    try execute("UPDATE leases SET owner = NULL")
    let settings = database.settings
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.2) {
      let connection = try? PostgresConnection(settings)
      try? connection?.execute(
        ["UPDATE leases SET owner = \(owner)"], purpose: "take the shards over", within: .seconds(60))
    }
    #expect(try inspection(patience: .seconds(60)).report(at: Sample.time(100)).isClean)
    try execute("UPDATE leases SET owner = NULL")
    try expireLeases()
    #expect(try report().isClean)
  }

  @Test("finds a webhook whose call is missing, unless retention has removed it")
  func webhooks() throws {
    let store = AwaitedStore(try PostgresStore(database.settings, sharing: .alone, clock: { Sample.time(50) }))
    defer { store.close() }
    func orphanedWebhooks() throws -> Int? {
      try report().findings.first { $0.check == .orphanedWebhooks }?.count
    }
    try store.commit([.insert(SoundStore.webhook(2, of: 77, at: 0))])
    // No call that ended earlier is left.
    #expect(try orphanedWebhooks() == 0)
    for (number, second) in [(1, -100), (3, 1)] {
      var ended = Sample.call(number, .failed)
      ended.progress.finishedAt = Sample.time(second)
      try store.commit([.insert(ended)])
    }
    #expect(try orphanedWebhooks() == 1)
    // A client is about to change the older one, and retention keeps it.
    _ = try store.claim(Sample.id(1), in: .default)
    #expect(try orphanedWebhooks() == 0)
  }

  @Test("a check that takes too long is a warning, and the others are made")
  func timeout() throws {
    let store = try soundStore()
    defer { store.close() }
    let other = try PostgresConnection(database.settings)
    try other.execute(["BEGIN", "LOCK TABLE finished"], purpose: "prepare the test", within: .seconds(60))
    var unchecked: [String] = []
    // On a busy machine others may take as long.
    for longest in [Duration.milliseconds(200), .seconds(2), .seconds(20)] where unchecked.count != 2 {
      let report = try inspection(longest: longest).report(at: Sample.time(100))
      unchecked = report.warnings.filter { $0.subject == .unchecked }.map(\.text)
      if unchecked.count > 2, longest < .seconds(20) { continue }
      #expect(report.isLive && report.isClean && report.calls == SoundStore.count, "\(report.findings)")
    }
    #expect(unchecked.count == 2 && unchecked.last?.contains("count of calls that have ended") == true, "\(unchecked)")
  }

  @Test("warns of open transactions, dead rows, tables without autovacuum, clocks and old transaction numbers")
  func warnings() throws {
    try soundStore().close()
    func subjects(_ limits: ServerInspection.Limits, at second: Int = 100) throws -> [StoreWarning.Subject] {
      let report = try inspection(limits).report(at: Sample.time(second))
      #expect(report.isClean)
      return report.warnings.map(\.subject).filter { $0 != .noStandby }
    }
    var limits = ServerInspection.Limits()
    #expect(try subjects(limits) == [])
    limits.age = 1
    #expect(try subjects(limits) == [.wraparound])
    limits = ServerInspection.Limits(snapshot: .zero)
    let other = try PostgresConnection(database.settings)
    try other.execute(
      ["BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT 1 FROM live"], purpose: "prepare the test",
      within: .seconds(60))
    let report = try inspection(limits).report(at: Sample.time(100))
    let old = report.warnings.filter { $0.subject == .oldSnapshot }.map(\.text)
    #expect(old.contains { $0.contains("process \(other.process) of role postgres") }, "\(old)")
    try other.execute(["COMMIT"], purpose: "end it", within: .seconds(60))
    limits = ServerInspection.Limits()
    try execute("ALTER TABLE statistics SET (autovacuum_enabled = off)")
    #expect(try subjects(limits) == [.autovacuum])
    // The counts of a connection are there when it has ended.
    try execute(
      "INSERT INTO statistics SELECT 0, 0, n, 0, '{}' FROM generate_series(1, 1000) n", "DELETE FROM statistics")
    let dead = "SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'statistics'"
    try poll { try database.number(dead) >= 1000 }
    #expect(try subjects(limits) == [.autovacuum])
    limits = ServerInspection.Limits(deadRows: 1000)
    limits.unvacuumed = .seconds(86_400)
    #expect(try subjects(limits) == [.autovacuum], "it may have been vacuumed lately, for all that is known")
    limits.unvacuumed = .zero
    #expect(try subjects(limits) == [.deadRows, .autovacuum])
  }

  @Test("warns of commits that a failover has lost, for a week")
  func lostCommits() throws {
    try soundStore().close()
    let loss = LostCommits(made: 1436, found: 1205, at: Sample.time(0), server: 1)
    try execute("INSERT INTO settings VALUES ('lostCommits', '\(loss.text)')")
    func texts(at second: Int) throws -> [String] {
      try report(at: second).warnings.filter { $0.subject == .lostCommits }.map(\.text)
    }
    let found = try texts(at: 100)
    #expect(found.count == 1 && found[0].contains("had lost 231 commits"), "\(found)")
    #expect(found.first?.contains("1436 were made, and it had 1205") == true, "\(found)")
    #expect(try texts(at: 8 * 86_400) == [])
    try execute("UPDATE settings SET value = 'x' WHERE name = 'lostCommits'")
    #expect(try texts(at: 100) == [] && report().isClean)
  }

  @Test("warns when the clock of this machine is ahead or behind")
  func clocks() throws {
    try soundStore().close()
    for (second, words) in [(97, "behind"), (103, "ahead of")] {
      let report = try inspection(at: 100).report(at: Sample.time(second))
      let texts = report.warnings.filter { $0.subject == .clock }.map(\.text)
      #expect(texts.count == 1 && texts[0].contains(words), "\(texts)")
    }
  }

  @Test("warns of prepared transactions, and not of a missing standby if there is one")
  func preparedTransactions() throws {
    let cluster = Cluster(["max_prepared_transactions = 2"])
    defer { cluster.remove() }
    let database = TestDatabase(cluster)
    try PostgresStore(database.settings).close()
    let connection = try PostgresConnection(database.settings)
    for statement in ["BEGIN", "INSERT INTO settings VALUES ('a', 'b')", "PREPARE TRANSACTION 'forgotten'"] {
      try connection.execute([statement], purpose: "prepare the test", within: .seconds(60))
    }
    cluster.reload(["synchronous_standby_names = 'other'"])
    let unset = "SELECT count(*) FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting = ''"
    try poll { try database.number(unset) == 0 }
    let inspection = try PostgresInspection(
      database.settings, limits: ServerInspection.Limits(snapshot: .zero), clock: { Sample.time(1) })
    let warnings = try inspection.report(at: Sample.time(1)).warnings
    #expect(warnings.map(\.subject) == [.oldSnapshot], "\(warnings)")
    #expect(warnings.first?.text.contains("prepared transaction forgotten") == true)
  }

  @Test("fails without tables, and makes none; and for tables of another version")
  func refusals() throws {
    let none = #expect(throws: StoreError.self) { try PostgresInspection(database.settings) }
    #expect(none?.kind == .unavailable && none?.message.contains("no tables of Redial") == true)
    #expect(try database.number("SELECT count(*) FROM pg_namespace WHERE nspname = 'redial'") == 0)
    try PostgresStore(database.settings).close()
    try execute("UPDATE schema_version SET version = \(PostgresSchema.version + 1)")
    let newer = #expect(throws: StoreError.self) { try PostgresInspection(database.settings) }
    #expect(newer?.kind == .corrupt && newer?.message.contains("from a newer Redial") == true)
  }
}
