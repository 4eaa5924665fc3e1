/// The tables and indexes, as numbered steps that are applied in order and never changed once released.
enum Schema {
  /// Marks a file as Redial's, in its header: "RDIA".
  static let applicationID: Int64 = 0x5244_4941
  /// The version that this program reads and writes.
  static var version: Int64 { Int64(migrations.count) }

  /// Step *n* makes version *n + 1* of version *n*.
  static let migrations: [String] = [
    tables, waits, keys, ordering, figures, retention, compression, counting, policies, retries, labels, operations,
    documents, namespaces, leases, dueByNamespace, turnNamespaces, callLabels,
    attemptsUnderWay, labelsByName, unfinishedCounts, statistics,
  ]

  /// What changes in a call's life is apart from what never does: an update rewrites its whole row, and 60
  /// bytes a row let one page serve many updates (measured: a third less CPU and half the writes a call).
  ///
  /// Attempts are in an ordinary table with an index beside it, since rows of up to a captured body's 64 KiB do
  /// not belong in the interior pages of a WITHOUT ROWID b-tree (measured: 60 KB bodies cost half as much again).
  ///
  /// SQLite adds the row id, which is the call's, to every index: `(kind, state)` is ordered by age within.
  /// `calls_by_target` leaves out calls in an engine's memory. Those are few, bounded by the engine, and
  /// found by `calls_by_state`; with them in it, each start of an attempt would rewrite a page for its target
  /// (measured: a quarter of all CPU with 40 targets).
  private static let tables = """
    CREATE TABLE targets (
      id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, breaker_until INTEGER, breaker_trips INTEGER
    ) STRICT;
    CREATE TABLE calls (
      id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, target_id INTEGER NOT NULL, created_at INTEGER NOT NULL,
      state INTEGER NOT NULL, due INTEGER NOT NULL, waiting INTEGER, attempts INTEGER NOT NULL,
      interruptions INTEGER NOT NULL, attempts_before INTEGER NOT NULL, round_started_at INTEGER NOT NULL,
      finished_at INTEGER, failure INTEGER
    ) STRICT;
    CREATE INDEX calls_due ON calls (due) WHERE state <= 1;
    CREATE INDEX calls_queued ON calls (target_id) WHERE state = 1;
    CREATE INDEX calls_by_state ON calls (kind, state);
    CREATE INDEX calls_by_target ON calls (target_id, kind, state) WHERE state NOT IN (2, 3);
    CREATE TABLE requests (id INTEGER PRIMARY KEY, spec BLOB NOT NULL, body BLOB) STRICT;
    CREATE TABLE attempts (
      id INTEGER PRIMARY KEY, call_id INTEGER NOT NULL, number INTEGER NOT NULL, started_at INTEGER NOT NULL,
      duration INTEGER NOT NULL, outcome INTEGER NOT NULL, status INTEGER, failure_code TEXT, failure_message TEXT,
      decision BLOB, truncated INTEGER, response_head BLOB, response_body BLOB, UNIQUE (call_id, number)
    ) STRICT;
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    """

  /// What a backoff with a memory needs to know of the waits before: the latest, and their sum, in microseconds.
  private static let waits = """
    ALTER TABLE calls ADD COLUMN previous_wait INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE calls ADD COLUMN total_wait INTEGER NOT NULL DEFAULT 0;
    """

  /// What repetitions of a submission are recognised by.
  private static let keys = """
    CREATE TABLE idempotency_keys (
      key TEXT PRIMARY KEY, call_id INTEGER NOT NULL, fingerprint BLOB NOT NULL, created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX keys_by_expiry ON idempotency_keys (expires_at);
    CREATE INDEX keys_by_call ON idempotency_keys (call_id);
    """

  /// What operators make of targets; how urgent calls are, and whose turn it is among those of one ordering key.
  ///
  /// `turns` holds only calls that have not ended and have a key. Its unique index is the promise itself: no key gives
  /// its turn to two.
  private static let ordering = """
    ALTER TABLE targets ADD COLUMN overrides BLOB;
    ALTER TABLE targets ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE targets ADD COLUMN tripped INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE calls ADD COLUMN priority INTEGER NOT NULL DEFAULT 5;
    DROP INDEX calls_queued;
    CREATE INDEX calls_queued ON calls (target_id, priority DESC) WHERE state = 1 AND waiting IS NOT 8;
    CREATE TABLE turns (
      call_id INTEGER PRIMARY KEY, target_id INTEGER NOT NULL, key TEXT NOT NULL, has_turn INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX turns_awaited ON turns (target_id, key) WHERE has_turn = 0;
    CREATE UNIQUE INDEX turns_had ON turns (target_id, key) WHERE has_turn = 1;
    """

  /// What an attempt's exchange took and how it was made, in the form of `ExchangeFigures.encoded`.
  private static let figures = """
    ALTER TABLE attempts ADD COLUMN figures BLOB;
    """

  /// What retention needs: the finished calls by age, and how many there are, kept and not counted.
  ///
  /// Only a call's end, its removal and the retry of an ended one have to do with the counts: neither an accept nor an
  /// attempt's start touches that row. (The triggers went again, see `counting`.)
  private static let retention = """
    CREATE INDEX calls_finished ON calls (finished_at) WHERE state >= 5;
    CREATE TABLE finished_counts (
      kind INTEGER NOT NULL, state INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (kind, state)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO finished_counts SELECT kind, state, count(*) FROM calls WHERE state >= 5 GROUP BY kind, state;
    CREATE TRIGGER calls_inserted AFTER INSERT ON calls WHEN NEW.state >= 5 BEGIN
      INSERT INTO finished_counts VALUES (NEW.kind, NEW.state, 1)
        ON CONFLICT (kind, state) DO UPDATE SET count = count + 1;
    END;
    CREATE TRIGGER calls_ended AFTER UPDATE OF state ON calls WHEN NEW.state >= 5 AND OLD.state <> NEW.state BEGIN
      INSERT INTO finished_counts VALUES (NEW.kind, NEW.state, 1)
        ON CONFLICT (kind, state) DO UPDATE SET count = count + 1;
    END;
    CREATE TRIGGER calls_retried AFTER UPDATE OF state ON calls WHEN OLD.state >= 5 AND OLD.state <> NEW.state BEGIN
      UPDATE finished_counts SET count = count - 1 WHERE kind = OLD.kind AND state = OLD.state;
    END;
    CREATE TRIGGER calls_removed AFTER DELETE ON calls WHEN OLD.state >= 5 BEGIN
      UPDATE finished_counts SET count = count - 1 WHERE kind = OLD.kind AND state = OLD.state;
    END;
    """

  /// What a payload inflates to, in bytes; NULL for one that is stored as it is.
  private static let compression = """
    ALTER TABLE requests ADD COLUMN body_size INTEGER;
    ALTER TABLE attempts ADD COLUMN response_body_size INTEGER;
    """

  /// The counts of finished calls are `FinishedCounts`' business from here on: the triggers were a third of what SQLite
  /// did for a call, from its acceptance to its end (measured in instructions).
  private static let counting = """
    DROP TRIGGER calls_inserted;
    DROP TRIGGER calls_ended;
    DROP TRIGGER calls_retried;
    DROP TRIGGER calls_removed;
    """

  /// Named policies by version; one without a text removed the policy, and keeps its number from being given again.
  private static let policies = """
    CREATE TABLE policies (
      name TEXT NOT NULL, version INTEGER NOT NULL, created_at INTEGER NOT NULL, policy BLOB,
      PRIMARY KEY (name, version)
    ) STRICT, WITHOUT ROWID;
    """

  /// Who had a call run at once or again, when and why.
  private static let retries = """
    CREATE TABLE retries (
      call_id INTEGER NOT NULL, at INTEGER NOT NULL, after_attempt INTEGER NOT NULL, actor TEXT, reason TEXT,
      PRIMARY KEY (call_id, at)
    ) STRICT, WITHOUT ROWID;
    """

  /// Which calls have which labels; those of the calls that are there are taken from their specs.
  private static let labels = """
    CREATE TABLE labels (
      name TEXT NOT NULL, value TEXT NOT NULL, call_id INTEGER NOT NULL, PRIMARY KEY (name, value, call_id)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO labels SELECT l.key, l.value, r.id FROM requests r, json_each(
      CASE WHEN json_valid(CAST(r.spec AS TEXT)) THEN CAST(r.spec AS TEXT) ELSE '{}' END, '$.labels') l
      WHERE l.type = 'text';
    CREATE INDEX labels_by_call ON labels (call_id);
    """

  /// Operations on many calls, and how far each is.
  private static let operations = """
    CREATE TABLE operations (
      id INTEGER PRIMARY KEY, request BLOB NOT NULL, created_at INTEGER NOT NULL, state INTEGER NOT NULL,
      finished_at INTEGER, matched INTEGER NOT NULL, done INTEGER NOT NULL, skipped INTEGER NOT NULL, cursor INTEGER
    ) STRICT;
    """

  /// Webhook endpoints and API keys: few, and read whole when the service starts.
  private static let documents = """
    CREATE TABLE documents (
      kind TEXT NOT NULL, id TEXT NOT NULL, content BLOB NOT NULL, PRIMARY KEY (kind, id)
    ) STRICT, WITHOUT ROWID;
    """

  /// Whose calls are whose. The names of targets, labels, policies and keys are qualified by their namespace, so that their
  /// tables need no column; a call has one, and the index that lists calls of no certain target begins with it: it has
  /// as many entries as before, each one byte longer for the default namespace, whose number is 0.
  private static let namespaces = """
    CREATE TABLE namespaces (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
    INSERT INTO namespaces (id, name) VALUES (0, 'default');
    ALTER TABLE calls ADD COLUMN namespace INTEGER NOT NULL DEFAULT 0;
    DROP INDEX calls_by_state;
    CREATE INDEX calls_by_state ON calls (namespace, kind, state);
    ALTER TABLE operations ADD COLUMN namespace TEXT NOT NULL DEFAULT 'default';
    """

  /// Who has which shards of the store. A lease's time is its session's, so that one row is renewed; an `expires_at` of
  /// NULL means for as long as its owner has the file. `TargetTable` gives the targets that are there their shards.
  private static let leases = """
    ALTER TABLE targets ADD COLUMN shard INTEGER;
    CREATE INDEX targets_by_shard ON targets (shard);
    CREATE TABLE sessions (
      id INTEGER PRIMARY KEY AUTOINCREMENT, instance INTEGER NOT NULL UNIQUE, expires_at INTEGER
    ) STRICT;
    CREATE TABLE leases (shard INTEGER PRIMARY KEY, owner INTEGER, epoch INTEGER NOT NULL) STRICT;
    WITH RECURSIVE shards (shard) AS (SELECT 0 UNION ALL SELECT shard + 1 FROM shards WHERE shard < 63)
      INSERT INTO leases SELECT shard, NULL, 0 FROM shards;
    """

  /// What is due, found for each namespace: in place of the index over all, with as many entries as before, each one byte
  /// longer for the default namespace.
  private static let dueByNamespace = """
    DROP INDEX calls_due;
    CREATE INDEX calls_due ON calls (namespace, due) WHERE state <= 1;
    """

  /// Whose turns are whose, so that what awaits its turn is counted without a look at anybody else's.
  private static let turnNamespaces = """
    ALTER TABLE turns ADD COLUMN namespace INTEGER NOT NULL DEFAULT 0;
    UPDATE turns SET namespace = coalesce((SELECT namespace FROM calls WHERE id = call_id), 0);
    CREATE INDEX turns_by_namespace ON turns (namespace) WHERE has_turn = 0;
    """

  /// Labels are those of clients' calls: webhooks name their event in one, which is not to be found as a client's. And a
  /// name of the time before namespaces that looks like one of another namespace is spelled out, as `QualifiedKey` does.
  private static let callLabels = """
    DELETE FROM labels WHERE call_id IN (SELECT id FROM calls WHERE kind <> 0);
    UPDATE OR IGNORE labels SET name = 'default' || char(31) || name
      WHERE instr(name, char(31)) > 0 AND substr(name, 1, 8) <> 'default' || char(31)
        AND call_id IN (SELECT id FROM calls WHERE namespace = 0);
    """

  /// Calls whose attempt is under way are found with those that are held, and told from them by a column of no index (see
  /// `StateColumns`). Only those that a service left behind are rewritten, of which there are no more than it had in flight.
  private static let attemptsUnderWay = """
    UPDATE calls SET state = 2, waiting = 0
      WHERE namespace IN (SELECT id FROM namespaces) AND kind IN (0, 1) AND state = 3;
    """

  /// Which labels a removed call had is told by its spec (see `LabelTable`). The pages of the index are free from then on, to be
  /// used again or given back (measured: a second for a million labels, and 18 MB of log).
  private static let labelsByName = """
    DROP INDEX labels_by_call;
    """

  /// How many calls have not ended, kept where several instances share the store; see `UnfinishedCounts`.
  private static let unfinishedCounts = """
    CREATE TABLE unfinished_counts (
      shard INTEGER NOT NULL, namespace INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (shard, namespace)
    ) STRICT, WITHOUT ROWID;
    """

  /// How calls ended and attempts went: counts by namespace and step, as `StatisticsTable` writes them.
  private static let statistics = """
    CREATE TABLE statistics (
      namespace INTEGER NOT NULL, step INTEGER NOT NULL, start INTEGER NOT NULL, counts TEXT NOT NULL,
      PRIMARY KEY (namespace, step, start)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX statistics_by_start ON statistics (step, start);
    """

  /// What a file says of itself.
  private enum Identity {
    case empty
    case redial(version: Int64)
  }

  /// Prepares the writer's connection: refuses what is not ours before anything is written, then sets the
  /// connection up and brings the tables to this version.
  ///
  /// What is deleted is overwritten with zeros (`secure_delete`), as the erasure of content promises.
  static func open(_ connection: SQLiteConnection) throws(StoreError) {
    let found = try identity(of: connection)
    // Only a file without tables takes this up, and before anything is written to it: the pages that removed calls leave
    // can then be given back to the file system a few at a time.
    if case .empty = found { try connection.execute("set up the file", "PRAGMA auto_vacuum = INCREMENTAL") }
    let mode = try connection.value("set the journal mode", "PRAGMA journal_mode = WAL") { $0.text(0) }
    guard mode == "wal" else {
      throw StoreError(
        kind: .unavailable,
        message: "\(connection.path) cannot have a write-ahead log: its file system lacks shared memory or locks. "
          + "Keep the store on a local file system.")
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
    switch found {
    case .empty: try migrate(connection, from: 0)
    case .redial(let version): try migrate(connection, from: version)
    }
  }

  /// Prepares a reader's connection to a file that the writer has prepared.
  static func openForReading(_ connection: SQLiteConnection) throws(StoreError) {
    guard try checkIsStore(connection) == version else {
      throw StoreError(
        kind: .unavailable,
        message: "\(connection.path) was made by an older version. Start the service of this version on it once.")
    }
    try connection.execute(
      "set up the connection",
      """
      PRAGMA query_only = ON;
      PRAGMA cache_size = -\(SQLiteConnection.readerCacheKibibytes);
      PRAGMA temp_store = MEMORY;
      """)
  }

  /// The version of a store that is there already.
  @discardableResult
  static func checkIsStore(_ connection: SQLiteConnection) throws(StoreError) -> Int64 {
    guard case .redial(let version) = try identity(of: connection) else {
      throw StoreError(
        kind: .unavailable, message: "\(connection.path) has not been set up yet. Open it as a store first.")
    }
    return version
  }

  private static func identity(of connection: SQLiteConnection) throws(StoreError) -> Identity {
    let purpose: StaticString = "recognise the store"
    let application = try connection.value(purpose, "PRAGMA application_id") { $0.integer(0) } ?? 0
    let version = try connection.value(purpose, "PRAGMA user_version") { $0.integer(0) } ?? 0
    let objects = try connection.value(purpose, "SELECT count(*) FROM sqlite_schema") { $0.integer(0) } ?? 0
    if application == 0, version == 0, objects == 0 { return .empty }
    guard application == applicationID else {
      throw StoreError(
        kind: .corrupt,
        message: "\(connection.path) is a database of another program. It was left as it is; name another file.")
    }
    guard version <= Self.version else {
      throw StoreError(
        kind: .corrupt,
        message: "\(connection.path) was made by a newer version of Redial (schema \(version); this one knows "
          + "\(Self.version)). It was left as it is; run that version, or restore a backup from before it.")
    }
    return .redial(version: version)
  }

  private static func migrate(_ connection: SQLiteConnection, from version: Int64) throws(StoreError) {
    guard version < Self.version else { return }
    let steps = migrations[Int(version)...].joined(separator: "\n")
    do {
      try connection.execute(
        "bring the store to this version",
        """
        BEGIN EXCLUSIVE;
        \(steps)
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(Self.version);
        COMMIT;
        """)
    } catch {
      connection.rollBack()
      throw error
    }
  }
}
