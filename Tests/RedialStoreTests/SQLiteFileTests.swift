import Dispatch
import Glibc
import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("The file of an SQLite store")
struct SQLiteFileTests {
  let folder = TemporaryFolder()

  @Test("is made with its folders, for this user only")
  func creation() throws {
    let path = folder.file("a/b/calls.db")
    let store = try SQLiteStore(path: path)
    defer { store.close() }
    try store.commit([.insert(Sample.call(1))])
    #expect(permissions(of: folder.file("a")) == 0o700)
    #expect(permissions(of: folder.file("a/b")) == 0o700)
    for name in [path, path + "-wal", path + "-shm", path + ".lock"] { #expect(permissions(of: name) == 0o600) }
  }

  @Test("ends the process if its writer is used beside the queue that owns it")
  func owner() async throws {
    let store = try SQLiteStore(path: folder.file("calls.db"))
    let queue = DispatchQueue(label: "store")
    store.pass(to: queue)
    try queue.sync {
      try store.commit([.insert(Sample.call(1))])
      store.close()
    }
    for number in 0..<Self.besideTheQueue.count {
      // Each in a process of its own.
      await #expect(processExitsWith: .failure) { [number = number as Int] in
        let folder = TemporaryFolder()
        let store = try SQLiteStore(path: folder.file("calls.db"))
        store.pass(to: DispatchQueue(label: "store"))
        try Self.besideTheQueue[number](store)
      }
    }
  }

  /// What nobody may do beside the queue: write, read, recover, close.
  private static let besideTheQueue: [@Sendable (SQLiteStore) throws -> Void] = [
    { try $0.commit([.insert(Sample.call(1))]) }, { _ = try $0.setting("name") }, { _ = try $0.recover(at: .epoch) },
    { $0.close() },
  ]

  @Test("is closed to other users if it was open to them, with its log, its index and its lock")
  func closing() throws {
    let path = folder.file("calls.db")
    let store = try SQLiteStore(path: path)
    try store.commit([.insert(Sample.call(1))])
    store.file.connection.keepLogOnClose()
    store.file.close()
    let files = [path, path + "-wal", path + ".lock"]
    for file in files { #expect(chmod(file, 0o664) == 0) }
    let again = try SQLiteStore(path: path)
    defer { again.close() }
    try again.commit([.insert(Sample.call(2))])
    for file in files + [path + "-shm"] { #expect(permissions(of: file) == 0o600, "\(file)") }
  }

  @Test("is refused at once if it is no regular file, with nothing left beside it")
  func otherKinds() throws {
    #expect(mkdir(folder.file("folder"), 0o700) == 0 && mkfifo(folder.file("pipe"), 0o600) == 0)
    symlink("/dev/null", folder.file("device"))
    for (name, kind) in [("folder", "a folder"), ("pipe", "a pipe"), ("device", "a device")] {
      let path = folder.file(name)
      let openers: [() throws -> Void] = [
        { _ = try SQLiteStore(path: path, reserveBytes: 1 << 20) }, { _ = try SQLiteInspection(path: path) },
        { _ = try StoreExport(path: path, state: nil) },
        { _ = try StoreBackup.copy(from: path, to: self.folder.file("copy")) }, { _ = try SQLiteSource(path: path) },
        { _ = try SQLiteReader(path: path, connections: 1) },
      ]
      for open in openers {
        let error = #expect(throws: StoreError.self) { try open() }
        #expect(error?.message.contains("is \(kind), and a store is a regular file") == true, "\(error?.message ?? "")")
      }
      for suffix in [".lock", "-reserve", "-wal"] { #expect(access(path + suffix, F_OK) != 0) }
    }
    #expect(access("/dev/null.lock", F_OK) != 0 && access("/dev/null-reserve", F_OK) != 0)
  }

  @Test("has one owner at a time, under any of its names")
  func lock() throws {
    let store = try SQLiteStore(path: folder.file("calls.db"))
    symlink(folder.file("calls.db"), folder.file("link.db"))
    for name in ["calls.db", "link.db", "./calls.db"] {
      let error = #expect(throws: StoreError.self) { try SQLiteStore(path: folder.file(name)) }
      #expect(error?.kind == .inUse)
      #expect(error?.message.contains("another process") == true)
    }
    store.close()
    try SQLiteStore(path: folder.file("link.db")).close()
  }

  @Test("is released by a store that was not closed")
  func abandoned() throws {
    do { _ = try SQLiteStore(path: folder.file("calls.db")) }
    try SQLiteStore(path: folder.file("calls.db")).close()
  }

  @Test("is refused unchanged if it is not a database", arguments: [10, 5000])
  func notADatabase(size: Int) {
    let path = folder.file("calls.db")
    let text = [UInt8](repeating: 0x61, count: size)
    writeFile(path, text)
    let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path, reserveBytes: 1 << 20) }
    #expect(error?.kind == .corrupt)
    #expect(contents(of: path) == text)
    for suffix in [".lock", "-reserve"] { #expect(access(path + suffix, F_OK) != 0) }
  }

  @Test("is refused unchanged if it is another program's database")
  func foreignDatabase() throws {
    let path = folder.file("calls.db")
    let other = try SQLiteConnection(path: path, role: .writer)
    try other.execute("prepare the test", "CREATE TABLE theirs (a)")
    other.close()
    let before = contents(of: path)
    let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path, reserveBytes: 1 << 20) }
    #expect(error?.kind == .corrupt)
    #expect(error?.message.contains("another program") == true)
    #expect(contents(of: path) == before)
    for suffix in [".lock", "-reserve"] { #expect(access(path + suffix, F_OK) != 0) }
  }

  @Test("is refused unchanged if a newer version made it")
  func newerVersion() throws {
    let path = folder.file("calls.db")
    try SQLiteStore(path: path).close()
    let newer = try SQLiteConnection(path: path, role: .writer)
    try newer.execute("prepare the test", "PRAGMA user_version = \(Schema.version + 1)")
    newer.close()
    let before = contents(of: path)
    let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
    #expect(error?.kind == .corrupt)
    #expect(error?.message.contains("newer version") == true)
    #expect(contents(of: path) == before)
    #expect(throws: StoreError.self) { try SQLiteReader(path: path, connections: 1) }
  }

  @Test("is refused unchanged if it was made before the first release")
  func beforeTheFirstRelease() throws {
    let path = folder.file("calls.db")
    try SQLiteStore(path: path).close()
    let older = try SQLiteConnection(path: path, role: .writer)
    try older.execute("prepare the test", "PRAGMA user_version = \(Schema.oldest - 1)")
    older.close()
    let before = contents(of: path)
    let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
    #expect(error?.message.contains("before the first release") == true)
    #expect(contents(of: path) == before)
    #expect(throws: StoreError.self) { try SQLiteReader(path: path, connections: 1) }
  }

  @Test("of schema 22 is brought to this version, with its targets")
  func migration() throws {
    let (old, new) = (folder.file("old.db"), folder.file("new.db"))
    let store = try SQLiteStore(path: old)
    try store.commit([.insert(Sample.call(1, target: "t")), .insert(Sample.call(2, target: "u"))])
    store.close()
    let until = Sample.time(9)
    let older = try SQLiteConnection(path: old, role: .writer)
    try older.execute(
      "prepare the test",
      """
      DROP INDEX calls_failed;
      DROP INDEX targets_by_shard;
      ALTER TABLE targets RENAME TO later;
      CREATE TABLE targets (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, breaker_until INTEGER, breaker_trips INTEGER,
        overrides BLOB, paused INTEGER NOT NULL DEFAULT 0, tripped INTEGER NOT NULL DEFAULT 0, shard INTEGER
      ) STRICT;
      INSERT INTO targets SELECT id, key, \(until.microseconds), 2, CAST('{"maxInFlight":3}' AS BLOB), 1, 0, shard FROM later
        WHERE key = 't';
      INSERT INTO targets SELECT id, key, NULL, NULL, NULL, 0, 0, shard FROM later WHERE key <> 't';
      DROP TABLE later;
      CREATE INDEX targets_by_shard ON targets (shard);
      DROP TABLE call_log;
      CREATE TABLE policies (name TEXT NOT NULL, version INTEGER NOT NULL, created_at INTEGER NOT NULL, policy BLOB,
        PRIMARY KEY (name, version)) STRICT, WITHOUT ROWID;
      INSERT INTO policies VALUES ('acme' || char(31) || 'p', 3, 5, CAST('{"maxAttempts":2}' AS BLOB)), ('q', 4, 6, x'');
      CREATE TABLE operations (id INTEGER PRIMARY KEY, request BLOB NOT NULL, created_at INTEGER NOT NULL,
        state INTEGER NOT NULL, finished_at INTEGER, matched INTEGER NOT NULL, done INTEGER NOT NULL,
        skipped INTEGER NOT NULL, cursor INTEGER, namespace TEXT NOT NULL DEFAULT 'default') STRICT;
      INSERT INTO operations VALUES (9, CAST('{"action":"cancel","all":true}' AS BLOB), 7, 1, NULL, 10, 5, 1, 77, 'acme');
      CREATE TABLE unfinished_counts (
        shard INTEGER NOT NULL, namespace INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (shard, namespace)
      ) STRICT, WITHOUT ROWID;
      ALTER TABLE requests DROP COLUMN past;
      ALTER TABLE calls DROP COLUMN sum;
      ALTER TABLE requests DROP COLUMN sums;
      ALTER TABLE attempts DROP COLUMN sum;
      ALTER TABLE attempts DROP COLUMN response_sum;
      ALTER TABLE retries DROP COLUMN sum;
      ALTER TABLE idempotency_keys DROP COLUMN sum;
      ALTER TABLE documents DROP COLUMN sum;
      PRAGMA user_version = 22;
      """)
    older.close()
    #expect(throws: StoreError.self) { try SQLiteReader(path: old, connections: 1) }
    let migrated = try SQLiteStore(path: old)
    var overrides = TargetOverrides()
    overrides.maxInFlight = 3
    let record = TargetRecord(
      controls: TargetControls(overrides: overrides, isPaused: true), breaker: OpenBreaker(until: until, trips: 2))
    let found = try migrated.recover(at: Sample.start).targets
    #expect(found.map(\.target) == ["t"] && found.first?.record == record)
    let reader = try SQLiteReader(path: old, connections: 1)
    let policies = try reader.policies()
    #expect(policies.map(\.reference) == ["p@3", "q@4"] && policies.map(\.namespace.name) == ["acme", "default"])
    #expect(policies.map { String(decoding: $0.json, as: UTF8.self) } == [#"{"maxAttempts":2}"#, ""])
    let operation = try #require(try reader.operations().first)
    #expect(operation.id.rawValue == 9 && operation.namespace.name == "acme" && operation.cursor?.rawValue == 77)
    #expect(operation.state == .running && operation.finishedAt == nil)
    #expect((operation.matched, operation.done, operation.skipped) == (10, 5, 1))
    // Its progress takes the place of what was there.
    try migrated.commit([.put(operation.document), .remove(.policy, id: policies[1].documentID)])
    #expect(try reader.operations() == [operation] && reader.policies() == [policies[0]])
    migrated.close()
    try SQLiteStore(path: new).close()
    func columns(_ path: String) throws -> [[String]] {
      let connection = try SQLiteConnection(path: path, role: .reader)
      defer { connection.close() }
      let list = try connection.prepare(
        "read the columns",
        "SELECT s.name, c.cid, c.name, c.type, c.\"notnull\", c.dflt_value, c.pk FROM sqlite_schema s "
          + "JOIN pragma_table_info(s.name) c WHERE s.type = 'table' ORDER BY s.name, c.cid")
      return try list.rows { row throws(StoreError) in (0..<7).map { row.isNull($0) ? "-" : row.text($0) } }
    }
    let version = try SQLiteConnection(path: old, role: .reader)
    #expect(try version.value("read the version", "PRAGMA user_version") { $0.integer(0) } == Schema.version)
    version.close()
    #expect(try columns(old) == columns(new))
  }

  @Test("is not made by a reader")
  func readerWithoutStore() {
    #expect(throws: StoreError.self) { try SQLiteReader(path: folder.file("calls.db"), connections: 1) }
    #expect(contents(of: folder.file("calls.db")) == nil)
  }

  @Test("accepts nothing when the disk is full, and continues when there is space again")
  func full() throws {
    let store = try SQLiteStore(path: folder.file("calls.db"), payloads: PayloadRule(compressMinBytes: .max))
    defer { store.close() }
    try store.commit([.insert(Sample.call(1))])
    try store.file.connection.execute("prepare the test", "PRAGMA max_page_count = 1")
    let large = StoreWrite.insert(Sample.call(2, target: "new", body: [UInt8](repeating: 1, count: 100_000)))
    let error = #expect(throws: StoreError.self) { try store.commit([large]) }
    #expect(error?.kind == .full)
    #expect(error?.message.contains("Could not store a call's request in \(folder.file("calls.db"))") == true)
    #expect(!store.file.connection.isInTransaction)
    try store.file.connection.execute("prepare the test", "PRAGMA max_page_count = 1000000")
    try store.commit([large])
    #expect(try store.recover(at: Sample.start).unfinished == 2)
  }

  @Test("moves its log each time that the disk is full, also when the reserve is released already")
  func fullAgain() throws {
    let store = try SQLiteStore(
      path: folder.file("calls.db"), payloads: PayloadRule(compressMinBytes: .max), reserveBytes: 4 << 20)
    defer { store.close() }
    for number in 1...2 {
      try store.commit([.insert(Sample.call(2 * number, body: [UInt8](repeating: 1, count: 200_000)))])
      #expect(store.file.connection.logPages > 40)
      store.file.didRollBack(StoreError(kind: .full, message: "no room"))
      #expect(store.isShortOfRoom)
      try store.commit([.insert(Sample.call(2 * number + 1))])
      #expect(store.file.connection.logPages < 40, "time \(number)")
    }
  }

  @Test("is busy only while another process writes")
  func busy() throws {
    let store = try SQLiteStore(path: folder.file("calls.db"))
    defer { store.close() }
    try store.file.connection.execute("prepare the test", "PRAGMA busy_timeout = 0")
    let other = try SQLiteConnection(path: store.file.connection.path, role: .writer)
    try other.execute("prepare the test", "BEGIN IMMEDIATE")
    let error = #expect(throws: StoreError.self) { try store.commit([.insert(Sample.call(1))]) }
    #expect(error?.kind == .unavailable)
    other.rollBack()
    try store.commit([.insert(Sample.call(1))])
  }

  @Test("a closed store answers with an error")
  func closed() throws {
    let store = try SQLiteStore(path: folder.file("calls.db"))
    store.close()
    store.close()
    let error = #expect(throws: StoreError.self) { try store.commit([.insert(Sample.call(1))]) }
    #expect(error?.kind == .unavailable)
    #expect(throws: StoreError.self) { try store.setting("a") }
  }

  @Test("readers on many threads see only whole commits")
  func concurrentReads() async throws {
    let store = try SQLiteStore(path: folder.file("calls.db"))
    defer { store.close() }
    let reader = try SQLiteReader(path: folder.file("calls.db"), connections: 2, beside: store)
    try store.commit([.insert(Sample.call(1))])
    let checks = (0..<4).map { _ in
      Task.detached {
        for _ in 0..<200 {
          let call = try #require(try reader.call(Sample.id(1), allResponses: false))
          #expect(call.attempts.count == call.record.progress.attempts)
        }
      }
    }
    var progress = Sample.call(1).progress
    for number in 1...100 {
      progress.attempts = number
      try store.commit([.update(Sample.id(1), progress, Sample.attempt(number))])
    }
    for check in checks { try await check.value }
  }
}
