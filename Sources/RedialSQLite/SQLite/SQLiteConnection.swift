internal import RedialStore
internal import RedialLanes
internal import CSQLite
internal import RedialModel

/// One connection to a store's file, with the statements prepared on it.
///
/// It is opened without SQLite's own locks (`SQLITE_OPEN_NOMUTEX`), so only one thread may use it at a time: two would
/// damage the file. Each statement asks whether it runs for the connection's owner.
final class SQLiteConnection {
  /// The role of a connection, which decides what it may do with the file.
  enum Role: Sendable {
    /// A connection that writes; it creates the file.
    case writer
    /// A connection that only reads.
    case reader
  }

  /// The size of the writer's page cache, in KiB.
  static let writerCacheKibibytes = 64 * 1024
  /// The size of a reader's page cache, in KiB.
  static let readerCacheKibibytes = 8 * 1024
  /// How long to wait for another process that has locked the file, such as a backup.
  static let busyMilliseconds: Int32 = 5000
  /// The size to which the log is truncated after a burst, in bytes.
  static let logBytes = 64 << 20

  /// The file.
  let path: String
  private let role: Role
  /// What seals and opens the file's values.
  let vault: Vault
  private(set) var handle: OpaquePointer?
  /// Whether the log stays as it is when this connection is closed.
  private(set) var keepsLogOnClose = false
  private let confinement = Confinement()
  private var statements: [SQLiteStatement] = []
  private let log = LogLength()

  /// Nobody reads SQLite's count of its memory, and counting takes a lock at every allocation (measured: a twelfth of
  /// the instructions of a commit). Done once per process.
  private static let withoutMemoryStatistics: Void = redial_disable_memory_statistics()

  /// Opens the file. Nothing is read or written yet.
  init(path: String, role: Role, vault: Vault = .none) throws(StoreError) {
    (self.path, self.role) = (path, role)
    self.vault = vault
    try RegularFile.check(path)
    Self.withoutMemoryStatistics
    let access = role == .writer ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
    let result = sqlite3_open_v2(path, &handle, access | SQLITE_OPEN_NOMUTEX, nil)
    guard result == SQLITE_OK else {
      let error = StoreError.sqlite(handle, code: result, purpose: "open the store", path: path)
      sqlite3_close_v2(handle)
      handle = nil
      throw error
    }
    sqlite3_extended_result_codes(handle, 1)
    sqlite3_busy_timeout(handle, Self.busyMilliseconds)
    let registered = CallSum.register(on: handle)
    guard registered == SQLITE_OK else { throw failure(registered, "open the store") }
  }

  deinit {
    end()
  }

  /// Who may use it and its statements from now on. Whoever may use it now passes it on.
  func pass(to owner: Owner) {
    confinement.owner.check()
    confinement.owner = owner
  }

  /// Lends it to this thread. Whoever lends it knows that no other thread has it.
  func lend() { confinement.owner = .thisThread }

  /// Closes the file. Later use of the connection or its statements fails.
  func close() {
    confinement.owner.check()
    end()
  }

  private func end() {
    for statement in statements { statement.finalize() }
    statements = []
    sqlite3_close_v2(handle)
    handle = nil
  }

  /// Prepares a statement, which is valid while the connection is open.
  func prepare(_ purpose: StaticString, _ sql: String) throws(StoreError) -> SQLiteStatement {
    confinement.owner.check()
    var prepared: OpaquePointer?
    let result = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard result == SQLITE_OK, let prepared else {
      throw failure(result, purpose.description)
    }
    let statement = SQLiteStatement(handle: prepared, purpose: purpose, path: path, confinement)
    statements.append(statement)
    return statement
  }

  /// Runs statements that return nothing and are not worth preparing.
  func execute(_ purpose: StaticString, _ sql: String) throws(StoreError) {
    confinement.owner.check()
    let result = sqlite3_exec(handle, sql, nil, nil, nil)
    guard result == SQLITE_OK else { throw failure(result, purpose.description) }
  }

  /// Runs a statement that takes long, with a pause after each so many steps of SQLite's virtual machine.
  ///
  /// - Parameter pause: An error that it throws ends the statement.
  func execute(
    _ purpose: StaticString, _ sql: String, stepsAtOnce: Int32, pausing pause: @escaping () throws(StoreError) -> Void
  ) throws(StoreError) {
    let pauses = Pauses(pause)
    // Sound: the connection calls back on this thread, and no longer when this returns.
    sqlite3_progress_handler(
      handle, stepsAtOnce,
      { context in
        guard let context else { return 0 }
        return Unmanaged<Pauses>.fromOpaque(context).takeUnretainedValue().next() ? 0 : 1
      }, Unmanaged.passUnretained(pauses).toOpaque())
    defer { sqlite3_progress_handler(handle, 0, nil, nil) }
    do throws(StoreError) {
      try execute(purpose, sql)
    } catch {
      throw pauses.failure ?? error
    }
  }

  /// The first column of the first row of a query that runs once.
  func value<Value>(
    _ purpose: StaticString, _ sql: String, _ read: (SQLiteStatement) -> Value
  ) throws(StoreError) -> Value? {
    confinement.owner.check()
    var prepared: OpaquePointer?
    let result = sqlite3_prepare_v3(handle, sql, -1, 0, &prepared, nil)
    guard result == SQLITE_OK, let prepared else { throw failure(result, purpose.description) }
    return try SQLiteStatement(handle: prepared, purpose: purpose, path: path, confinement).first(read)
  }

  // MARK: The write-ahead log

  /// Pages in the log as of this connection's last commit; 0 until ``watchLog()``.
  var logPages: Int { log.pages }

  /// From now on records the length of the log. SQLite then moves none of it into the file by itself.
  func watchLog() {
    // Sound: only the connection calls back, on the thread that commits, and it does not outlive `log`, which it owns.
    sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        if let context { Unmanaged<LogLength>.fromOpaque(context).takeUnretainedValue().pages = Int(pages) }
        return SQLITE_OK
      }, Unmanaged.passUnretained(log).toOpaque())
  }

  /// The result of a checkpoint.
  struct Moved {
    /// Pages of the log that are in the file.
    var pages: Int
    /// Whether that is the whole log. Only then does SQLite sync the file: pages of a checkpoint that did not reach the
    /// log's end may still be lost in a power cut, and the log keeps them.
    var isComplete: Bool
  }

  /// Moves as many pages of the log into the file as possible without waiting.
  ///
  /// - Returns: The result; nil if another connection makes a checkpoint.
  /// - Throws: If the disk refuses. The log's content is as safe as before, unless a sync has failed.
  func checkpoint() throws(StoreError) -> Moved? {
    try checkpoint(SQLITE_CHECKPOINT_PASSIVE)
  }

  /// The same, and truncates the log to nothing, so that its space is free for others. If a connection reads for longer than
  /// this waits, in milliseconds, nothing is truncated.
  func checkpointAndCut(waiting milliseconds: Int32 = 0) throws(StoreError) -> Moved? {
    sqlite3_busy_timeout(handle, milliseconds)
    defer { sqlite3_busy_timeout(handle, Self.busyMilliseconds) }
    return try checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
  }

  private func checkpoint(_ mode: Int32) throws(StoreError) -> Moved? {
    confinement.owner.check()
    precondition(role == .writer, "A connection that only reads makes no checkpoint")
    var (logged, moved) = (Int32(0), Int32(0))
    let result = sqlite3_wal_checkpoint_v2(handle, nil, mode, &logged, &moved)
    switch result & 0xFF {
    case SQLITE_OK: return Moved(pages: Int(moved), isComplete: moved == logged)
    case SQLITE_BUSY, SQLITE_LOCKED: return nil
    default:
      throw StoreError.sqlite(
        handle, code: result, purpose: "move the write-ahead log into the file", path: path,
        advice: "Nothing is lost, but the log grows until this succeeds; check the disk.")
    }
  }

  /// Leaves the log as it is when this connection is closed, or moves it into the file, as SQLite does by itself.
  func keepLogOnClose(_ keeps: Bool = true) {
    keepsLogOnClose = keeps
    if handle != nil { _ = redial_keep_log_on_close(handle, keeps ? 1 : 0) }
  }

  /// Rows changed by the last statement.
  var changes: Int64 { sqlite3_changes64(handle) }

  /// The row id of the last insertion.
  var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

  /// Whether a transaction is open.
  var isInTransaction: Bool { handle != nil && sqlite3_get_autocommit(handle) == 0 }

  /// Ends an open transaction without keeping its changes. After some errors SQLite has ended it itself.
  func rollBack() {
    if isInTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
  }

  /// SQLite's plan for each statement prepared so far, from `EXPLAIN QUERY PLAN`.
  func plans() throws(StoreError) -> [(sql: String, steps: [String])] {
    var plans: [(sql: String, steps: [String])] = []
    for sql in statements.map(\.sql) where !sql.hasPrefix("BEGIN") && !sql.hasPrefix("COMMIT") {
      var prepared: OpaquePointer?
      let result = sqlite3_prepare_v3(handle, "EXPLAIN QUERY PLAN " + sql, -1, 0, &prepared, nil)
      guard result == SQLITE_OK, let prepared else { throw failure(result, "explain a query") }
      let explained = SQLiteStatement(handle: prepared, purpose: "explain a query", path: path, confinement)
      plans.append((sql, try explained.rows { row throws(StoreError) in row.text(3) }))
    }
    return plans
  }

  /// Replaces the content with everything that another connection sees in one transaction.
  ///
  /// - Parameter pause: Called after each part but the last.
  func takeAll(
    of source: SQLiteConnection, pagesAtOnce: Int32, pausing pause: () throws(StoreError) -> Void
  ) throws(StoreError) {
    // Without a transaction of its own, a copy begins anew whenever somebody else commits.
    try source.execute("begin a copy", "BEGIN")
    defer { source.rollBack() }
    _ = try source.value("begin a copy", "SELECT count(*) FROM sqlite_schema") { $0.integer(0) }
    guard let backup = sqlite3_backup_init(handle, "main", source.handle, "main") else {
      throw failure(sqlite3_errcode(handle), "begin a copy")
    }
    var result = SQLITE_OK
    do throws(StoreError) {
      while result == SQLITE_OK {
        result = sqlite3_backup_step(backup, pagesAtOnce)
        if result == SQLITE_OK { try pause() }
      }
    } catch {
      sqlite3_backup_finish(backup)
      throw error
    }
    let finished = sqlite3_backup_finish(backup)
    guard result == SQLITE_DONE, finished == SQLITE_OK else {
      throw failure(result == SQLITE_DONE ? finished : result, "copy \(source.path)")
    }
  }

  private func failure(_ code: Int32, _ purpose: String) -> StoreError {
    StoreError.sqlite(handle, code: code, purpose: purpose, path: path)
  }
}

/// Whom a connection and its statements belong to.
final class Confinement {
  var owner = Owner.holder
}

/// The number of pages in a write-ahead log.
private final class LogLength {
  var pages = 0
}

/// The pauses of a statement, and the error of the one that ended it.
private final class Pauses {
  private let pause: () throws(StoreError) -> Void
  private(set) var failure: StoreError?

  init(_ pause: @escaping () throws(StoreError) -> Void) {
    self.pause = pause
  }

  /// Returns whether the statement goes on.
  func next() -> Bool {
    do throws(StoreError) {
      try pause()
      return true
    } catch {
      failure = error
      return false
    }
  }
}
