internal import RedialStore
internal import CDocuments
internal import RedialModel

/// The tables and indexes: `docs/schema.sql` for a new file, and numbered steps for files of earlier releases.
enum Schema {
  /// Marks a file as Redial's, in its header: "RDIA".
  static let applicationID: Int64 = 0x5244_4941
  /// The oldest version that can be brought to this one. Files of lower versions are from before the first release.
  static let oldest: Int64 = 22
  /// `docs/schema.sql`, which is part of the program, and makes a file of this version.
  static let current: String = {
    // Its bytes are constant, and live as long as the program.
    let file = redial_schema()
    return String(decoding: UnsafeBufferPointer(start: file.bytes, count: file.count), as: UTF8.self)
  }()

  /// The version that this program reads and writes.
  static var version: Int64 { oldest + Int64(migrations.count) }

  /// Step *n* makes version `oldest + n + 1` from the one before. A step never changes once it is released.
  static let migrations: [String] = [
    // 23: what the paces have learned.
    """
    ALTER TABLE targets ADD COLUMN pace_delivered INTEGER;
    ALTER TABLE targets ADD COLUMN pace_limited INTEGER;
    ALTER TABLE targets ADD COLUMN pace_at INTEGER;
    """,
    // 24: the log that changes of calls go to first.
    """
    CREATE TABLE call_log (place INTEGER PRIMARY KEY, changes BLOB NOT NULL) STRICT;
    """,
    // 25: attempts that are packed with their call.
    """
    ALTER TABLE requests ADD COLUMN past BLOB;
    """,
    // 26: until when targets asked to be left alone.
    """
    ALTER TABLE targets ADD COLUMN asked_until INTEGER;
    """,
    // 27: one record for each target; policies and operations as documents. What a row has as JSON is not looked at here, so
    // that what is none is found, and named, when all is read. Two things had another meaning before: a number of
    // consecutive failures opened a breaker whatever their chance and time, and the target of a disabled endpoint was paused.
    """
    ALTER TABLE targets ADD COLUMN record BLOB;
    UPDATE targets SET paused = 0 WHERE paused AND EXISTS (SELECT 1 FROM documents d WHERE d.kind = 'webhookEndpoint'
      AND instr(CAST(d.content AS TEXT), '"disabledReason":"') AND targets.key LIKE '%webhook:' || d.id);
    UPDATE targets SET overrides = CAST(replace(CAST(overrides AS TEXT), '{"breaker":{"consecutiveFailures":',
      '{"breaker":{"significance":1,"failureTime":"0s","consecutiveFailures":') AS BLOB)
    WHERE overrides IS NOT NULL AND NOT instr(CAST(overrides AS TEXT), '"significance":')
      AND NOT instr(CAST(overrides AS TEXT), '"failureTime":');
    UPDATE targets SET record = CAST('{"controls":{"overrides":' || coalesce(CAST(overrides AS TEXT), 'null')
      || ',"paused":' || iif(paused, 'true', 'false') || ',"tripped":' || iif(tripped, 'true', 'false') || '}'
      || iif(breaker_until IS NULL, '', ',"breaker":' || json_object('until', breaker_until, 'trips', breaker_trips))
      || iif(pace_at IS NULL, '', ',"pace":' || json_object('delivered', pace_delivered / 1000.0,
        'limited', json(iif(pace_limited, 'true', 'false')), 'at', pace_at))
      || iif(asked_until IS NULL, '', ',"askedUntil":' || asked_until) || '}' AS BLOB)
    WHERE breaker_until IS NOT NULL OR overrides IS NOT NULL OR paused OR tripped OR pace_at IS NOT NULL
      OR asked_until IS NOT NULL;
    ALTER TABLE targets DROP COLUMN breaker_until;
    ALTER TABLE targets DROP COLUMN breaker_trips;
    ALTER TABLE targets DROP COLUMN overrides;
    ALTER TABLE targets DROP COLUMN paused;
    ALTER TABLE targets DROP COLUMN tripped;
    ALTER TABLE targets DROP COLUMN pace_delivered;
    ALTER TABLE targets DROP COLUMN pace_limited;
    ALTER TABLE targets DROP COLUMN pace_at;
    ALTER TABLE targets DROP COLUMN asked_until;
    INSERT INTO documents (kind, id, content) SELECT 'policy', name || '@' || version, CAST('{"name":' || json_quote(name)
      || ',"version":' || version || ',"createdAt":' || created_at || ',"policy":'
      || iif(length(policy) > 0, CAST(policy AS TEXT), 'null') || '}' AS BLOB) FROM policies;
    INSERT INTO documents (kind, id, content) SELECT 'operation', CAST(id AS TEXT), CAST('{"id":' || id
      || ',"request":' || CAST(request AS TEXT) || ',' || substr(json_object('namespace', namespace, 'createdAt', created_at,
        'state', state, 'finishedAt', finished_at, 'matched', matched, 'done', done, 'skipped', skipped, 'cursor', cursor), 2)
      AS BLOB) FROM operations;
    DROP TABLE policies;
    DROP TABLE operations;
    """,
    // 28: groups of failed calls.
    """
    CREATE INDEX calls_failed ON calls (namespace, failure, id, finished_at) WHERE failure IS NOT NULL;
    """,
    // 29: checksums. Rows that are there have none.
    """
    ALTER TABLE calls ADD COLUMN sum INTEGER;
    ALTER TABLE requests ADD COLUMN sums INTEGER;
    ALTER TABLE attempts ADD COLUMN sum INTEGER;
    ALTER TABLE attempts ADD COLUMN response_sum INTEGER;
    ALTER TABLE retries ADD COLUMN sum INTEGER;
    ALTER TABLE idempotency_keys ADD COLUMN sum INTEGER;
    ALTER TABLE documents ADD COLUMN sum INTEGER;
    """,
    // Several instances never shared a file in a service.
    "DROP TABLE unfinished_counts;",
    // Issues and notices took their place. What is still wrong is reported again.
    "DELETE FROM documents WHERE kind IN ('incident', 'incidentMark');",
  ]

  /// The identification in a file's header.
  private enum Identity {
    case empty
    case redial(version: Int64)
  }

  /// Prepares the writer's connection: refuses other files before anything is written, then sets up the connection and
  /// brings the tables to this version.
  ///
  /// Deleted data is overwritten with zeros (`secure_delete`), as the erasure of content promises.
  ///
  /// - Throws: If not all of an older store can be read by ``DocumentForms``. It is not changed then.
  static func open(_ connection: SQLiteConnection, _ forms: DocumentForms) throws(StoreError) {
    let found = try identity(of: connection)
    // Only a file without tables accepts this setting, and before anything is written to it: the pages of removed calls
    // can then be returned to the file system a few at a time.
    if case .empty = found {
      try forms.checkNew(connection.vault)
      try connection.execute("set up the file", "PRAGMA auto_vacuum = INCREMENTAL")
    }
    try connection.execute(
      "set up the connection",
      """
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = \(Checkpoints.dueAfter);
      PRAGMA journal_size_limit = \(SQLiteConnection.logBytes);
      PRAGMA cache_size = -\(SQLiteConnection.writerCacheKibibytes);
      PRAGMA temp_store = MEMORY;
      PRAGMA secure_delete = ON;
      """)
    // Before the journal's mode is set, which is written to the file.
    if case .redial(let version) = found, version < Self.version, let old = try beginUpgrade(of: connection) {
      do throws(StoreError) {
        let check = try SQLiteInspection(upgraded: connection, from: old, forms).upgradeCheck()
        if let refusal = check.refusal(at: connection.path, from: old, to: Self.version) { throw refusal }
        try connection.vault.proveKey()
        try connection.execute("bring the store to this version", "COMMIT; PRAGMA cache_spill = ON")
      } catch {
        connection.rollBack()
        throw error
      }
    }
    let mode = try connection.value("set the journal mode", "PRAGMA journal_mode = WAL") { $0.text(0) }
    guard mode == "wal" else {
      throw StoreError(
        kind: .unavailable,
        message: "\(connection.path) cannot have a write-ahead log: its file system lacks shared memory or locks. "
          + "Keep the store on a local file system.")
    }
    if case .empty = found {
      try connection.execute("make the tables", "BEGIN EXCLUSIVE")
      do throws(StoreError) {
        try write(connection, by: [current])
        try connection.execute("make the tables", "COMMIT")
      } catch {
        connection.rollBack()
        throw error
      }
    }
  }

  /// Prepares a reader's connection to a file that the writer has prepared.
  static func openForReading(_ connection: SQLiteConnection) throws(StoreError) {
    guard try checkIsStore(connection) == version else {
      throw StoreError(
        kind: .unavailable,
        message:
          "\(connection.path) was made by an older version. Start the service of this version on it once. If one of that "
          + "version runs on it, end it first; if one of this version just upgrades it, try again when it has started."
      )
    }
    try connection.execute(
      "set up the connection",
      """
      PRAGMA query_only = ON;
      PRAGMA cache_size = -\(SQLiteConnection.readerCacheKibibytes);
      PRAGMA temp_store = MEMORY;
      """)
  }

  /// The version of an existing store.
  @discardableResult
  static func checkIsStore(_ connection: SQLiteConnection) throws(StoreError) -> Int64 {
    guard case .redial(let version) = try identity(of: connection) else {
      throw StoreError(
        kind: .unavailable, message: "\(connection.path) has not been set up yet. Open it as a store first.")
    }
    return version
  }

  /// Whether a file has no tables yet, as after a process was killed that had just made it.
  static func isEmpty(_ connection: SQLiteConnection) throws(StoreError) -> Bool {
    if case .empty = try identity(of: connection) { true } else { false }
  }

  /// Refuses a file that is not a store, by its first bytes, before anything is made beside it. What SQLite has to put in
  /// order before it can be read, because there is a log or a journal, is left to ``open(_:)``.
  static func checkFile(_ path: String) throws(StoreError) {
    guard let file = try RegularFile(path) else { return }
    let header = try file.bytes(at: 0, 108)
    guard !header.isEmpty, try RegularFile.size(path + "-journal") == nil else { return }
    guard header.count == 108, header.starts(with: Array("SQLite format 3\0".utf8)) else {
      throw StoreError(
        kind: .corrupt,
        message:
          "\(path) is not an SQLite database, and so not a store, or its beginning is damaged. It was not changed. "
          + "Name another file. If it was a store: \(StoreError.advice(for: .corrupt))")
    }
    // The application's id; then the number of tables and indexes, if they are on the first page (section 1.3 and 1.6 of the
    // file format).
    let (application, isEmpty) = header.withUnsafeBytes { bytes in
      (Int64(bytes.big32(at: 68)), bytes[100] == 13 && bytes[103] == 0 && bytes[104] == 0)
    }
    if application == applicationID || application == 0 && isEmpty { return }
    if try RegularFile.size(path + "-wal") ?? 0 > WriteAheadHeader.bytes { return }
    throw foreign(path)
  }

  private static func foreign(_ path: String) -> StoreError {
    StoreError(
      kind: .corrupt,
      message: "\(path) is a database of another program. It was not changed; name another file.")
  }

  private static func identity(of connection: SQLiteConnection) throws(StoreError) -> Identity {
    let purpose: StaticString = "recognise the store"
    let application = try connection.value(purpose, "PRAGMA application_id") { $0.integer(0) } ?? 0
    let version = try connection.value(purpose, "PRAGMA user_version") { $0.integer(0) } ?? 0
    let objects = try connection.value(purpose, "SELECT count(*) FROM sqlite_schema") { $0.integer(0) } ?? 0
    if application == 0, version == 0, objects == 0 { return .empty }
    guard application == applicationID else { throw foreign(connection.path) }
    guard version <= Self.version else {
      throw StoreError(
        kind: .corrupt,
        message: "\(connection.path) was made by a newer version of Redial (schema \(version); this one knows "
          + "\(Self.version)). It was not changed; run that version, or restore an older backup.")
    }
    guard version >= oldest else {
      throw StoreError(
        kind: .corrupt,
        message:
          "\(connection.path) was made by a version of Redial before the first release (schema \(version); this one "
          + "reads \(oldest) and later). It was left as it is; export it with the program that made it, and import that."
      )
    }
    return .redial(version: version)
  }

  /// Brings an older store to this version, in a transaction that is open then. As long as it is, no byte of the files
  /// changes: what the steps write stays in memory.
  ///
  /// - Returns: The version that the store had; nil if another process has just upgraded it. No transaction is open then.
  static func beginUpgrade(of connection: SQLiteConnection) throws(StoreError) -> Int64? {
    try connection.execute("prepare an upgrade", "PRAGMA cache_spill = OFF; BEGIN EXCLUSIVE")
    do throws(StoreError) {
      let old = try checkIsStore(connection)
      if old == version {
        connection.rollBack()
        return nil
      }
      try write(connection, by: Array(migrations[Int(old - oldest)...]))
      return old
    } catch {
      connection.rollBack()
      throw error
    }
  }

  /// Makes the tables, within a transaction.
  private static func write(_ connection: SQLiteConnection, by steps: [String]) throws(StoreError) {
    try connection.execute(
      "bring the store to this version",
      """
      \(steps.joined(separator: "\n"))
      PRAGMA application_id = \(applicationID);
      PRAGMA user_version = \(version);
      """)
  }
}
