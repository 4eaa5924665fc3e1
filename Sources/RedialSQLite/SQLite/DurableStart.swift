internal import RedialStore
internal import CSQLite
internal import RedialModel

/// Makes the files of a store durable, before anything is read from them or added to them. Every process that opens a
/// store for writing begins with this.
///
/// **Why.** When an fsync fails, Linux drops what it could not write: the pages stay readable in the page cache and
/// count as clean, so no later fsync writes them, however often it succeeds. The cache may forget them at any time.
/// So PostgreSQL ends at a failed fsync and replays its log from the last checkpoint. Redial ends too
/// (``SyncWatch``), but with SQLite a new start is not enough, because it reads its log from that same cache:
///
/// 1. In the cache, a commit whose fsync failed is complete in the log. A new process would recover it, and append to
///    it: the fsyncs of later commits succeed, and a power cut leaves a hole in front of them, where SQLite stops
///    reading. Calls that were answered with 202 would be lost.
/// 2. A checkpoint that does not reach the log's end counts its pages as moved (`nBackfill`) without an fsync. The
///    checkpoint that reaches the end syncs the file. If that fails, the pages of all of them are lost. The count is
///    in `-shm`, which lives as long as any process has the file open, such as `redial backup`: a new process would
///    move only the rest, sync the file with success, and start the log again over the only copy of the pages.
///
/// **What is done**, under SQLite's own locks of writers and checkpoints, so that other processes may read meanwhile:
///
/// 1. Each byte of the log is written again, and the log is synced: everything that SQLite then finds in it is
///    durable. Bytes that were durable before do not change, so a power cut in between does no harm.
/// 2. The index of the log in `-shm` is marked as unfinished, exactly as a process leaves it that dies while it
///    writes there. The next user, first of all this process, then lets SQLite recover it from the log: each frame is
///    checked by its checksum, and no page counts as moved. The next checkpoint moves all pages of the log.
/// 3. The first pages of the store's file are written again, and the file is synced: a new file consists of these.
///    Any other page that is not in the log is durable, because SQLite starts the log again only after an fsync of
///    the file that succeeded, and nothing continues after one that failed.
///
/// A connection caches pages that it has read, so this one is closed at the end.
///
/// The cost is usually to write a log of at most 64 MiB (``SQLiteConnection/logBytes``), and nothing after an orderly
/// stop, which leaves no log.
struct DurableStart {
  /// Bytes that are read and written at a time: SQLite's VFS accepts less than 128 KiB.
  private static let pieceBytes = 1 << 16
  /// How many bytes at the beginning of the store's file are written again.
  private static let firstBytes: Int64 = 1 << 16

  // The index of the log, by "WAL-mode File Format" (sqlite.org/walformat.html): two copies of a header of 48 bytes, each
  // with its version at 0 and, at 12, whether it is initialized. The format has been the same since SQLite 3.7.
  private static let indexVersion: UInt32 = 3_007_000
  private static let indexRegionBytes: Int32 = 32768
  private static let headerBytes = 48
  private static let isInitializedOffset = 12
  private static let checkpointLock: Int32 = 1

  private let connection: SQLiteConnection

  /// Makes the files durable.
  ///
  /// - Throws: `syncFailed` if the disk refuses. Nothing that was accepted is lost, and the next start tries again.
  static func prepare(path: String) throws(StoreError) {
    let connection = try SQLiteConnection(path: path, role: .writer)
    defer { connection.close() }
    connection.keepLogOnClose()
    let start = DurableStart(connection: connection)
    // A file that was created and never written to.
    if try start.isEmpty() { return }
    // Not a statement that reads the tables: their pages in the file may be older than the log's index says.
    try connection.execute("lock the store", "BEGIN IMMEDIATE")
    defer { connection.rollBack() }
    try start.run()
  }

  private func isEmpty() throws(StoreError) -> Bool {
    guard let file = try pointer(SQLITE_FCNTL_FILE_POINTER) else { return true }
    return try size(of: file, "measure the store") == 0
  }

  private func run() throws(StoreError) {
    // A file whose commits go to a rollback journal has no open log.
    guard let file = try pointer(SQLITE_FCNTL_FILE_POINTER), let log = try pointer(SQLITE_FCNTL_JOURNAL_POINTER),
      file.pointee.pMethods.pointee.iVersion >= 2, try hasLog(file)
    else { return }
    try check(
      file.pointee.pMethods.pointee.xShmLock(
        file, Self.checkpointLock, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE), "lock the write-ahead log")
    defer {
      _ = file.pointee.pMethods.pointee.xShmLock(
        file, Self.checkpointLock, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE)
    }
    try rewrite(log, upTo: .max, "write the write-ahead log again")
    try invalidateIndex(file)
    try rewrite(file, upTo: Self.firstBytes, "write the first pages again")
  }

  /// Whether the file says that it has a write-ahead log. It has none, and may be empty again, if the process that made it
  /// died before it was made: SQLite has just undone that from the rollback journal, which is then still open.
  private func hasLog(_ file: UnsafeMutablePointer<sqlite3_file>) throws(StoreError) -> Bool {
    // The version of the file format for writing, and that with a log (sqlite.org/fileformat.html).
    let (place, withLog): (Int64, UInt8) = (18, 2)
    guard try size(of: file, "measure the store") > place else { return false }
    var version: UInt8 = 0
    try check(file.pointee.pMethods.pointee.xRead(file, &version, 1, place), "read the store's format")
    return version == withLog
  }

  /// The size of a file, in bytes.
  private func size(of file: UnsafeMutablePointer<sqlite3_file>, _ purpose: String) throws(StoreError) -> Int64 {
    var size: Int64 = 0
    try check(file.pointee.pMethods.pointee.xFileSize(file, &size), purpose)
    return size
  }

  /// Writes the existing bytes of a file again, and syncs it.
  private func rewrite(
    _ file: UnsafeMutablePointer<sqlite3_file>, upTo limit: Int64, _ purpose: String
  ) throws(StoreError) {
    let methods = file.pointee.pMethods.pointee
    let end = min(try size(of: file, purpose), limit)
    if end == 0 { return }
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceBytes, alignment: 16)
    defer { piece.deallocate() }
    for place in stride(from: 0, to: end, by: Self.pieceBytes) {
      let count = Int32(min(end - place, Int64(Self.pieceBytes)))
      try check(methods.xRead(file, piece.baseAddress, count, place), purpose)
      try check(methods.xWrite(file, piece.baseAddress, count, place), purpose)
    }
    try check(methods.xSync(file, SQLITE_SYNC_NORMAL), purpose)
  }

  /// Makes SQLite build the index of the log again, from the log.
  private func invalidateIndex(_ file: UnsafeMutablePointer<sqlite3_file>) throws(StoreError) {
    let methods = file.pointee.pMethods.pointee
    var mapped: UnsafeMutableRawPointer?
    try check(methods.xShmMap(file, 0, Self.indexRegionBytes, 0, &mapped), "map the index of the write-ahead log")
    guard let mapped else { return }
    guard mapped.load(as: UInt32.self) == Self.indexVersion else {
      throw StoreError(
        kind: .unavailable,
        message: "The index of the write-ahead log of \(connection.path) is of a version of SQLite that is not known "
          + "here. Stop every program that has the file open, and start again.")
    }
    // A reader of one copy compares it with the other; now neither is valid.
    for copy in 0..<2 {
      mapped.storeBytes(of: 0, toByteOffset: copy * Self.headerBytes + Self.isInitializedOffset, as: UInt8.self)
    }
    methods.xShmBarrier(file)
  }

  /// A file of the connection; nil if it is not open.
  private func pointer(_ operation: Int32) throws(StoreError) -> UnsafeMutablePointer<sqlite3_file>? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    try check(sqlite3_file_control(connection.handle, "main", operation, &file), "reach the files of the store")
    return file?.pointee.pMethods == nil ? nil : file
  }

  private func check(_ result: Int32, _ purpose: String) throws(StoreError) {
    guard result == SQLITE_OK else {
      throw StoreError.sqlite(connection.handle, code: result, purpose: purpose, path: connection.path)
    }
  }
}
