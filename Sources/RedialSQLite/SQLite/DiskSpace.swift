internal import RedialStore
internal import RedialModel

/// A store's space on its disk: the log, whose pages checkpoints move into the file, and the reserve for the time when the
/// disk is full.
final class DiskSpace {
  private let reserve: Reserve
  private let checkpoints: Checkpoints
  private let notices: StoreNotices

  init(
    of connection: SQLiteConnection, reserve: Reserve, syncs: SyncWatch, notices: StoreNotices
  ) throws(StoreError) {
    self.reserve = reserve
    self.notices = notices
    checkpoints = try Checkpoints(of: connection, syncs: syncs, notices: notices, reserveBytes: reserve.bytes)
  }

  /// Whether only the reserve is left, or less.
  var isShort: Bool { reserve.isMissing }

  /// Runs a closure that may find no space, and again with the space of the reserve if it does.
  func lending<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    try reserve.lending(body)
  }

  /// Reports if there is no reserve from the start.
  func begin() {
    if isShort { notices.post(.shortage(true, reserveBytes: reserve.bytes)) }
  }

  /// A commit may have made the log longer.
  func didCommit() {
    checkpoints.didCommit()
    heedCheckpoints()
  }

  /// A write has found no space. The log is moved also if the reserve was released before, and not only then: there may
  /// have been too little space until now. It can then start again at its beginning, in its existing space.
  func didFill() {
    checkpoints.waitForCheckpoint()
    _ = releaseReserve()
    moveLog()
  }

  /// So many bytes may be written to the tables in one transaction: the log must still fit into the reserve.
  var transactionBytes: Int { checkpoints.dueAfter * Checkpoints.pageBytes }

  /// Moves the whole log into the file.
  func moveLog() {
    checkpoints.moveAll()
    heedCheckpoints()
  }

  /// Takes the reserve again if there is room. Call it once nothing is left to remove or to give back.
  func takeReserve() {
    guard reserve.isMissing else { return }
    checkpoints.moveAll(cuttingLog: true)
    heedCheckpoints()
    if reserve.take() { notices.post(.shortage(false, reserveBytes: reserve.bytes)) }
  }

  /// Waits until the log is moved as far as it was requested.
  func waitForCheckpoint() {
    checkpoints.waitForCheckpoint()
  }

  /// Moves the whole log into the file, if wanted, and ends the checkpoints. SQLite does it by itself only for the last connection, and
  /// readers may still be there. So a copy of the file alone has all of a store that was stopped.
  func close(movingLog: Bool) {
    checkpoints.waitForCheckpoint()
    if movingLog {
      checkpoints.moveAll()
      // A request that is still being answered reads for less.
      checkpoints.moveAll(cuttingLog: true, waiting: 2000)
    }
    checkpoints.close()
  }

  /// Releases the reserve if a checkpoint has found no space to move pages to.
  private func heedCheckpoints() {
    if checkpoints.takeDiskFull(), releaseReserve() { checkpoints.moveAll() }
  }

  /// Releases the reserve for accepted calls and retention; false if there is none to release.
  private func releaseReserve() -> Bool {
    guard reserve.release() else { return false }
    notices.post(.shortage(true, reserveBytes: reserve.bytes))
    return true
  }
}
