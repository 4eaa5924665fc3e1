import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Testing

@testable import RedialPostgres

@Suite("The upgrade of tables of version 1")
struct UpgradeTests {
  let database = TestDatabase()

  /// What version 1 did not have, undone.
  private static let first = [
    "DROP VIEW calls", "ALTER TABLE live DROP COLUMN past", "ALTER TABLE done DROP COLUMN past",
    "ALTER TABLE turns DROP COLUMN place", "DROP INDEX done_failed", "ALTER TABLE live ALTER COLUMN failure TYPE int2",
    "ALTER TABLE done ALTER COLUMN failure TYPE int2",
    """
    ALTER TABLE targets DROP COLUMN record, ADD COLUMN breaker_until int8, ADD COLUMN breaker_trips int8,
      ADD COLUMN overrides bytea, ADD COLUMN paused bool NOT NULL DEFAULT false,
      ADD COLUMN tripped bool NOT NULL DEFAULT false, ADD COLUMN pace_delivered int8, ADD COLUMN pace_limited bool,
      ADD COLUMN pace_at int8
    """,
    "CREATE INDEX turns_awaited ON turns (target_id, key, call_id) WHERE NOT has_turn",
    "ALTER TABLE requests DROP COLUMN sums", "ALTER TABLE attempts DROP COLUMN sum, DROP COLUMN response_sum",
    "ALTER TABLE retries DROP COLUMN sum", "ALTER TABLE keys DROP COLUMN sum", "ALTER TABLE documents DROP COLUMN sum",
    "ALTER TABLE claims DROP COLUMN callbacks", "DROP TYPE new_call", "DROP TYPE call_progress",
    """
    CREATE VIEW calls AS
      SELECT id, shard, namespace, kind, target_id, created_at, priority, callback, state, at, waiting, attempts, interruptions,
        attempts_before, round_started_at, previous_wait, total_wait, finished_at, failure, last_outcome, last_status FROM live
      UNION ALL
      SELECT id, shard, namespace, kind, target_id, created_at, priority, callback, state, at, waiting, attempts, interruptions,
        attempts_before, round_started_at, previous_wait, total_wait, finished_at, failure, last_outcome, last_status FROM done
    """,
    """
    CREATE TABLE policies (name text COLLATE "C" NOT NULL, version int8 NOT NULL, created_at int8 NOT NULL, policy bytea,
      PRIMARY KEY (name, version))
    """,
    """
    CREATE TABLE operations (id int8 PRIMARY KEY, request bytea NOT NULL, created_at int8 NOT NULL, state int2 NOT NULL,
      finished_at int8, matched int8 NOT NULL, done int8 NOT NULL, skipped int8 NOT NULL, cursor int8,
      namespace text NOT NULL)
    """,
    "UPDATE schema_version SET version = 1",
  ]

  /// A store of version 1 with calls whose attempts are rows, and no instance.
  private func makeOldStore() throws -> [CallRecord] {
    let store = AwaitedStore(try PostgresStore(database.settings, sharing: .alone))
    var calls: [CallRecord] = []
    for (number, state) in [StoredState.succeeded, .failed, .scheduled].enumerated() {
      var call = Sample.call(number, state)
      call.progress.attempts = 1
      // In one commit with the call an attempt is a row.
      try store.commit([.insert(call), .update(call.id, call.progress, Sample.attempt(1))])
      calls.append(call)
    }
    store.close()
    let connection = try PostgresConnection(database.settings)
    try connection.execute(Self.first, purpose: "make tables of version 1", within: .seconds(60))
    _ = try database.rows("UPDATE beats SET expires_at = 0")
    _ = try database.rows(
      """
      UPDATE targets SET breaker_until = 1796083205000000, breaker_trips = 2, overrides = '{"maxInFlight":3}', paused = true,
        pace_delivered = 12345, pace_limited = true, pace_at = 1796083200000000
      """)
    _ = try database.rows("INSERT INTO policies VALUES ('p', 3, 5, '{\"maxAttempts\": 2}'), ('q', 4, 6, '')")
    _ = try database.rows(
      "INSERT INTO operations VALUES (9, '{\"action\":\"cancel\",\"all\":true}', 7, 1, NULL, 10, 5, 1, 77, 'acme')")
    #expect(try database.number("SELECT count(*) FROM attempts") == 3)
    return calls
  }

  /// All columns, views and types of a database.
  private static func tables(_ database: TestDatabase) throws -> [String] {
    let rows = try database.rows(
      """
      SELECT concat_ws(' ', c.relkind, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
        pg_get_viewdef(CASE WHEN c.relkind = 'v' THEN c.oid END)) AS line
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.relnamespace = 'redial'::regnamespace ORDER BY line
      """)
    return rows.map { rows.text($0, 0) }
  }

  @Test("makes the tables that a new store has, and keeps the calls and their attempts")
  func upgrade() throws {
    let calls = try makeOldStore()
    let connection = try PostgresConnection(database.settings)
    #expect(try PostgresSchema.open(connection, schema: "redial") == .upgraded(from: 1))
    let new = TestDatabase()
    try PostgresStore(new.settings).close()
    #expect(try Self.tables(database) == Self.tables(new))
    let store = AwaitedStore(try PostgresStore(database.settings, sharing: .alone))
    defer { store.close() }
    let reader = try PostgresReader(database.settings, connections: 1)
    #expect(try reader.policies().map(\.reference) == ["p@3", "q@4"])
    #expect(try reader.operations().map(\.cursor?.rawValue) == [77])
    for call in calls {
      #expect(try reader.call(call.id, allResponses: true)?.attempts == [Sample.attempt(1)])
    }
    let record = try store.recover(at: Sample.start).targets.first?.record
    #expect(record?.breaker == OpenBreaker(until: Timestamp(microseconds: 1_796_083_205_000_000), trips: 2))
    #expect(record?.controls.isPaused == true && record?.controls.overrides.maxInFlight == 3)
    #expect(
      record?.pace
        == SavedPace(delivered: 12.345, isLimited: true, at: Timestamp(microseconds: 1_796_083_200_000_000)))
    // The waiting one goes on and ends, and a new one is stored and ends.
    var old = try #require(try store.claimDue(before: Sample.time(1000), limit: 10).calls.first)
    old.progress.state = .succeeded
    old.progress.attempts = 2
    old.progress.finishedAt = Sample.time(9)
    try store.commit([.update(old.id, old.progress, Sample.attempt(2))])
    #expect(try reader.call(old.id, allResponses: true)?.attempts == [Sample.attempt(1), Sample.attempt(2)])
    var another = Sample.call(50, .running)
    try store.commit([.insert(another)])
    another.progress.state = .succeeded
    another.progress.attempts = 1
    another.progress.finishedAt = Sample.time(9)
    try store.commit([.update(another.id, another.progress, Sample.attempt(1))])
    #expect(try reader.call(another.id, allResponses: true)?.attempts == [Sample.attempt(1)])
    #expect(try database.number("SELECT count(*) FROM done WHERE past IS NOT NULL") == 1)
    #expect(try database.number("SELECT count(*) FROM attempts") == 4)
  }

  @Test("waits for no instance: while one uses the tables, they stay as they are")
  func inUse() throws {
    _ = try makeOldStore()
    _ = try database.rows("UPDATE beats SET expires_at = NULL")
    let refused = #expect(throws: StoreError.self) { try PostgresStore(database.settings) }
    #expect(
      refused?.kind == .inUse && refused?.message.contains("Stop all of them") == true, "\(String(describing: refused))"
    )
    #expect(try database.number("SELECT version::int8 FROM schema_version") == 1)
    _ = try database.rows("UPDATE beats SET expires_at = 0")
    try PostgresStore(database.settings).close()
    #expect(try database.number("SELECT version::int8 FROM schema_version") == PostgresSchema.version)
  }
}
