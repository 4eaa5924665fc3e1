import Dispatch
import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Synchronization
import Testing

@testable import RedialPostgres

@Suite("A server and its database")
struct ServerTests {
  let database = TestDatabase()

  /// The error with which a store does not open.
  private func refusal(_ settings: PostgresSettings) -> StoreError? {
    do throws(StoreError) {
      try PostgresStore(settings).close()
      return nil
    } catch {
      return error
    }
  }

  /// The settings of the test's database for a role.
  private func settings(for role: String) -> PostgresSettings {
    PostgresSettings(database.settings.location.replacing("postgres@", with: "\(role)@"))
  }

  @Test("five instances that start at once in an empty database make its tables once")
  func simultaneousStart() throws {
    let settings = database.settings
    let errors = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 5) { _ in
      do {
        try PostgresStore(settings).close()
      } catch {
        errors.withLock { $0.append("\(error)") }
      }
    }
    #expect(errors.withLock { $0 } == [])
    #expect(try database.number("SELECT count(*) FROM schema_version") == 1)
    #expect(try database.number("SELECT count(*) FROM leases") == 64)
  }

  @Test("tables of a newer version are refused and not changed")
  func newerVersion() throws {
    try PostgresStore(database.settings).close()
    _ = try database.rows("UPDATE schema_version SET version = \(PostgresSchema.version + 1)")
    let error = try #require(refusal(database.settings))
    #expect(
      error.kind == .corrupt
        && error.message.contains(
          "version \(PostgresSchema.version + 1), from a newer Redial; this one knows version \(PostgresSchema.version)"
        ))
    #expect(try database.number("SELECT version::int8 FROM schema_version") == PostgresSchema.version + 1)
  }

  @Test("a schema with tables of something else is refused and not changed")
  func foreignTables() throws {
    _ = try database.rows("CREATE SCHEMA redial")
    _ = try database.rows("CREATE TABLE redial.calls (id int8)")
    let error = try #require(refusal(database.settings))
    #expect(error.kind == .corrupt && error.message.contains("something else made them"))
    #expect(try database.number("SELECT count(*) FROM pg_tables WHERE schemaname = 'redial'") == 1)
  }

  @Test("one role owns the tables, and the service's role can only work with them")
  func roles() throws {
    let name = try database.rows("SELECT current_database()").text(0, 0)
    let (owner, service) = ("\(name)_owner", "\(name)_service")
    _ = try database.rows("CREATE ROLE \(owner) LOGIN")
    _ = try database.rows("CREATE ROLE \(service) LOGIN")
    let early = try #require(refusal(settings(for: service)))
    #expect(early.kind == .unavailable && early.message.contains("permission denied"))
    #expect(early.message.contains("no tables") && early.message.contains("redial make-tables"))
    _ = try database.rows("GRANT CREATE ON DATABASE \(name) TO \(owner)")
    #expect(try PostgresStore.makeTables(settings(for: owner), granting: nil) == .made)
    let denied = try #require(refusal(settings(for: service)))
    #expect(denied.message.contains("must not use") && denied.message.contains("--grant ROLE"))
    #expect(try PostgresStore.makeTables(settings(for: owner), granting: service) == .existing)
    let missing = #expect(throws: StoreError.self) {
      try PostgresStore.makeTables(settings(for: owner), granting: "no\"body")
    }
    #expect(missing?.message.contains("role \"no\"body\" does not exist") == true)
    let powerless = #expect(throws: StoreError.self) {
      try PostgresStore.makeTables(settings(for: service), granting: "pg_monitor")
    }
    #expect(powerless?.message.contains("Use the owner's role.") == true)
    let store = AwaitedStore(try PostgresStore(settings(for: service)))
    defer { store.close() }
    let grant = try store.lease(LeaseRequest(duration: .seconds(60)), renewing: nil)
    try store.commit([
      .insert(Sample.call(1, target: "t", labels: [.init(name: "team", value: "a")]))
    ])
    #expect(try store.claimDue(before: Sample.time(1), limit: 10).calls.count == 1)
    #expect(
      try store.lease(LeaseRequest(duration: .seconds(60)), renewing: grant.session.id).shards
        == .all)
    let connection = try PostgresConnection(settings(for: service))
    for statement in [
      "DROP TABLE live", "ALTER TABLE live ADD COLUMN x int", "CREATE TABLE x (id int)",
      "TRUNCATE live",
    ] {
      let failure = #expect(throws: PostgresFailure.self) {
        try connection.execute([statement], purpose: "try", within: .seconds(60))
      }
      #expect(failure?.state == "42501", "\(statement)")
    }
  }

  @Test("old tables are upgraded by their owner, once, and others get to know who must do it")
  func upgrades() throws {
    let name = try database.rows("SELECT current_database()").text(0, 0)
    let (owner, service) = ("\(name)_owner", "\(name)_service")
    for role in [owner, service] { _ = try database.rows("CREATE ROLE \(role) LOGIN") }
    _ = try database.rows("GRANT CREATE ON DATABASE \(name) TO \(owner)")
    try PostgresStore.makeTables(settings(for: owner), granting: service)
    let old = PostgresSchema.version - 1
    _ = try database.rows("UPDATE schema_version SET version = \(old)")
    let steps: [Int64: [String]] = [
      old: ["ALTER TABLE settings ADD COLUMN note text", "CREATE TABLE notes (id int8)"]
    ]
    func open(_ role: String, _ steps: [Int64: [String]]) throws -> PostgresTables {
      try PostgresSchema.open(
        try PostgresConnection(settings(for: role)), schema: "redial", upgrades: steps)
    }
    let denied = #expect(throws: StoreError.self) { try open(service, steps) }
    #expect(denied?.kind == .unavailable && denied?.message.contains("of version \(old)") == true)
    #expect(denied?.message.contains("Upgrade them with the role that owns them") == true)
    let unknown = #expect(throws: StoreError.self) { try open(owner, [:]) }
    #expect(unknown?.kind == .corrupt)
    #expect(try database.number("SELECT version::int8 FROM schema_version") == old)
    let owned = settings(for: owner)
    let results = Mutex<[PostgresTables]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      guard let connection = try? PostgresConnection(owned) else { return }
      let tables = try? PostgresSchema.open(connection, schema: "redial", upgrades: steps)
      results.withLock { $0 += tables.map { [$0] } ?? [] }
    }
    #expect(results.withLock { $0.count } == 4 && results.withLock { $0.contains(.upgraded(from: Int(old))) })
    #expect(try open(service, steps) == .existing)
    // The service's role may use what the upgrade has added.
    let connection = try PostgresConnection(settings(for: service))
    try connection.execute(
      ["INSERT INTO notes VALUES (1)"], purpose: "use a new table", within: .seconds(60))
  }

  @Test("limits of time that the role has do not end commits")
  func timeouts() throws {
    let name = try database.rows("SELECT current_database()").text(0, 0)
    for setting in [
      "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout",
      "idle_session_timeout",
    ] {
      _ = try database.rows("ALTER DATABASE \(name) SET \(setting) = '7s'")
    }
    let connection = try PostgresConnection(database.settings)
    let query = PostgresQuery(
      "timeouts", "look",
      """
      SELECT count(*) FROM unnest(ARRAY['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout',
        'idle_session_timeout']) AS u (name) WHERE current_setting(name) <> '0'
      """)
    #expect(
      try connection.run([PostgresStatement(query)], within: .seconds(60))[0].integer(0, 0) == 0)
  }

  @Test(
    "a database with settings that lose accepted calls is refused",
    arguments: ["synchronous_commit"])
  func unsafe(setting: String) throws {
    let name = try database.rows("SELECT current_database()").text(0, 0)
    _ = try database.rows("ALTER DATABASE \(name) SET \(setting) = off")
    let error = try #require(refusal(database.settings))
    #expect(
      error.kind == .unavailable && error.message.contains("\(setting) is off")
        && error.message.contains("Switch it on."))
  }

  @Test("a server without fsync or without full pages is refused")
  func unsafeServer() throws {
    let cluster = Cluster(["fsync = off", "full_page_writes = off"])
    defer { cluster.remove() }
    let error = try #require(refusal(cluster.settings(for: "postgres")))
    #expect(error.message.contains("fsync, full_page_writes is off"))
  }

  @Test(
    "a database in another encoding, one that does not exist, and a read-only one are refused with what to do"
  )
  func refusals() throws {
    let name = try database.rows("SELECT current_database()").text(0, 0)
    _ = try database.rows(
      "CREATE DATABASE \(name)_latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    let latin = try #require(refusal(database.cluster.settings(for: "\(name)_latin")))
    #expect(
      latin.message.contains("encoding is LATIN1") && latin.message.contains("ENCODING 'UTF8'"))
    let missing = try #require(refusal(database.cluster.settings(for: "nowhere")))
    #expect(missing.kind == .unavailable && missing.message.contains("\"nowhere\" does not exist"))
    _ = try database.rows("ALTER DATABASE \(name) SET default_transaction_read_only = on")
    let standby = try #require(refusal(database.settings))
    #expect(standby.message.contains("Name the primary"), "\(standby.message)")
  }

  @Test(
    "when the server has no connection left, the error says so, and those who are connected go on")
  func connectionLimit() throws {
    let name = try database.rows("SELECT current_database()").text(0, 0)
    let role = "\(name)_limited"
    _ = try database.rows("CREATE ROLE \(role) LOGIN")
    _ = try database.rows("GRANT CREATE ON DATABASE \(name) TO \(role)")
    let settings = settings(for: role)
    let store = AwaitedStore(try PostgresStore(settings))
    defer { store.close() }
    _ = try store.lease(LeaseRequest(duration: .seconds(60)), renewing: nil)
    try store.commit([.insert(Sample.call(2))])
    _ = try database.rows("ALTER ROLE \(role) CONNECTION LIMIT 2")
    let error = try #require(refusal(settings))
    #expect(error.kind == .unavailable && error.message.contains("too many connections"))
    #expect(error.message.contains("Raise the connection limit"))
    try store.commit([.insert(Sample.call(1))])
  }

  @Test("a full disk is reported as such, and nothing of the commit is made")
  func fullDisk() throws {
    let store = AwaitedStore(try PostgresStore(database.settings))
    defer { store.close() }
    _ = try store.lease(LeaseRequest(duration: .seconds(60)), renewing: nil)
    // What the server says when it cannot extend a file.
    _ = try database.rows(
      """
      CREATE FUNCTION redial.full() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$
      """)
    _ = try database.rows(
      "CREATE TRIGGER disk BEFORE INSERT ON attempts EXECUTE FUNCTION redial.full()")
    let call = Sample.call(1)
    let error = #expect(throws: StoreError.self) {
      try store.commit([.insert(call), .update(call.id, call.progress, Sample.attempt(1))])
    }
    #expect(error?.kind == .full && error?.message.contains("Free space") == true)
    #expect(try database.number("SELECT count(*) FROM live") == 0)
    try store.commit([.insert(call)])
    #expect(try database.number("SELECT count(*) FROM live") == 1)
  }
}
