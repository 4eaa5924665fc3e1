internal import Glibc
internal import RedialStore
internal import RedialModel

/// The open file of a store: its lock, the writer's connection, and what makes a commit durable.
final class SQLiteFile {
  /// The only connection that writes calls.
  let connection: SQLiteConnection
  private let lock: StoreFile
  private let syncs: SyncWatch
  private let place: PlaceWatch
  private let space: DiskSpace
  private let inTransaction: Transaction

  /// Takes the lock, makes durable what the last process left, opens the file and completes its tables.
  ///
  /// - Parameters:
  ///   - vault: What seals and opens the file's values.
  ///   - forms: How documents are read, before an older file is upgraded.
  ///   - reserveBytes: The room to reserve on the disk; nil to leave it unchanged.
  ///   - syncFailed: Called, on any thread, with the first fsync that failed.
  init(
    path: String, vault: Vault, forms: DocumentForms, reserveBytes: Int?, notices: StoreNotices,
    syncFailed: @escaping @Sendable (StoreError) -> Void
  ) throws(StoreError) {
    syncs = SyncWatch(onFailure: syncFailed)
    if try RegularFile.size(path) ?? 0 == 0 { try forms.checkNew(vault) }
    let lock = try StoreFile(path: path)
    let reservePath = lock.path + "-reserve"
    let hadReserve = try RegularFile.size(reservePath) != nil
    let reserve = try Reserve(path: reservePath, bytes: reserveBytes)
    let connection: SQLiteConnection
    do throws(StoreError) {
      connection = try reserve.lending { () throws(StoreError) in
        try DurableStart.prepare(path: lock.path)
        let connection = try SQLiteConnection(path: lock.path, role: .writer, vault: vault)
        // A start that is refused, because something is damaged, changes no file.
        connection.keepLogOnClose()
        try Schema.open(connection, forms)
        return connection
      }
    } catch {
      // A file that was not opened keeps no room on the disk either.
      if !hadReserve { unlink(reservePath) }
      throw error
    }
    self.lock = lock
    self.connection = connection
    inTransaction = try Transaction(on: connection, role: .writer)
    space = try DiskSpace(of: connection, reserve: reserve, syncs: syncs, notices: notices)
    place = PlaceWatch(notices: notices)
  }

  /// Runs the first transaction, after which all of the store's files exist.
  func begin<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    let result = try lending { () throws(StoreError) in try inTransaction(body) }
    connection.keepLogOnClose(false)
    // SQLite has made the log by now.
    place.begin(path: lock.path)
    // SQLite has synced the folder for its new log, but does not report a failure of that.
    try lock.syncFolder()
    space.begin()
    return result
  }

  /// Runs a closure that may find no space, and again with the space of the reserve if it does.
  func lending<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    try space.lending(body)
  }

  /// The path without links.
  var path: String { lock.path }

  /// What the last owner has written as it crashed.
  func takeCrash() -> CrashRecord? { lock.takeCrash() }

  /// Whether only the reserve is left, or less.
  var isShortOfRoom: Bool { space.isShort }

  /// So many bytes may be written to the tables in one transaction: the write-ahead log must still fit into the reserve.
  var transactionBytes: Int { space.transactionBytes }

  /// Runs a transaction. It is on disk when this returns; if it throws, nothing of it is.
  ///
  /// - Parameter body: Makes the changes.
  func transaction<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    do {
      try check()
      let result = try inTransaction(body)
      // Another thread's sync of the log may have failed and dropped data that this commit's own sync then did not
      // find. (Since Linux 4.13 each descriptor reports that itself.)
      try check()
      return result
    } catch {
      recordFailure(error)
      throw error
    }
  }

  /// Records an error: after a failed fsync nothing is written any more.
  func recordFailure(_ error: StoreError) {
    syncs.recordFailure(error)
  }

  /// Nothing is written after a failed sync, nor to a log beside which another file may lie now.
  private func check() throws(StoreError) {
    try syncs.check()
    try place.check()
  }

  /// Checks that the store's files are in their place.
  func checkPlace() throws(StoreError) {
    try place.check()
  }

  /// A transaction is committed, and all of the store knows it.
  func didCommit() {
    space.didCommit()
  }

  /// A transaction is rolled back, and all of the store knows it.
  func didRollBack(_ error: StoreError) {
    if error.kind == .full { space.didFill() }
  }

  /// Moves the whole log into the file: only then does the file become smaller.
  func moveLog() {
    space.moveLog()
  }

  /// Takes the reserve again if there is room. Call it once nothing is left to remove or to give back.
  func takeReserve() {
    space.takeReserve()
  }

  /// Waits until the log is moved as far as it was requested.
  func waitForCheckpoint() {
    space.waitForCheckpoint()
  }

  /// Closes the file; later requests fail.
  func close() {
    if connection.handle != nil { space.close(movingLog: !connection.keepsLogOnClose) }
    connection.close()
    // Only after the file is closed: the next owner must find the log as this one left it.
    lock.close()
  }
}
