internal import RedialStore
internal import RedialLanes
internal import Dispatch
internal import Synchronization
internal import RedialModel

/// Moves committed pages from the write-ahead log into the file, in parallel to the writer.
///
/// A commit that does this itself takes longer the longer the log is: some milliseconds, at times many more, in which
/// every accept waits. So a second connection moves the pages, and syncs the file, on its own thread, while the writer
/// continues to append. Few pages are appended meanwhile; the writer moves them at its next commit, after which the log
/// starts again from its beginning.
///
/// **Why no commit races with the beginning of a checkpoint.** Before 3.51.3 SQLite had a fault
/// (sqlite.org/wal.html#walresetbug): a checkpoint begins on a log that is all in the file, and at that moment a commit of
/// another connection starts the log again. The checkpoint then counts the first pages of the new log as moved, and they
/// never reach the file. Here that cannot happen:
/// 1. Two connections make checkpoints, never both at once: the second one in the phase `moving`, the writer's in all
///    others. All other connections can only read.
/// 2. The writer's begins between commits, because that connection makes them.
/// 3. The second one begins only when the writer has appended pages that nobody has moved. A commit starts the log again
///    only when all of it is moved, and nobody else moves these. So the log stays as it is until this checkpoint is done.
///
/// `moveRest` and `move` assert it. It does not hold beside another process that makes checkpoints: docs/store.md.
final class Checkpoints {
  /// The number of pages in the log at which they are moved: 16 MiB. This is large enough that a page that changes
  /// often is moved once for many commits.
  static let dueAfter = 4000
  /// The maximum number of pages that the writer moves itself. If more were appended meanwhile, another round comes
  /// first.
  static let shortRest = 1000
  /// Rounds after which the writer moves the rest, whatever its size, so that the log stays limited.
  static let maximumRounds = 4

  /// The same for one store: with a reserve, the log must fit into the file with no more space than that, and it may
  /// have grown to ``longest`` times the size at which it is due.
  let dueAfter: Int
  /// The writer waits for the other connection when the log has so many times the size at which it is due.
  private static let longest = 3
  /// The share of the reserve that the log may use before it is due.
  private static let reserveShare = 4
  private static let minimumDue = 100
  static let pageBytes = 4096

  private enum Phase {
    /// The log is short. Leads to `moving`.
    case idle
    /// The other connection is moving pages. Leads to `moved`, or to `failed`.
    case moving(round: Int)
    /// It has ended: this many pages of the log are in the file. Leads to `idle`, to `moving` again, or to `failed`.
    case moved(pages: Int, round: Int)
    /// The disk refused a write. Leads to `moving`.
    case failed(StoreError)
  }

  private let connection: SQLiteConnection
  private let other: CheckpointConnection
  private let syncs: SyncWatch
  private let phase = PhaseBox()
  /// Pages in the log when all of it was last moved; a reader may have prevented it from starting again.
  private var movedPages = 0
  /// Why a checkpoint failed, until one has moved the whole log and synced the file.
  private var failure: StoreError?
  /// Gets the first failure, and nil once the whole log is moved and the file is synced: moving only a part of it, which
  /// SQLite does not sync, proves nothing.
  private let notices: StoreNotices
  /// Whether there was no space to move pages to.
  private var foundDiskFull = false

  /// The phase, which both threads read.
  private final class PhaseBox: Sendable {
    let value = Mutex(Phase.idle)
  }

  /// Takes over the checkpoints of a writer's connection from SQLite.
  ///
  /// - Parameter reserveBytes: The size of the reserve on the disk; 0 for none.
  init(
    of connection: SQLiteConnection, syncs: SyncWatch, notices: StoreNotices, reserveBytes: Int = 0
  ) throws(StoreError) {
    let share = reserveBytes / Self.reserveShare / Self.pageBytes
    dueAfter = reserveBytes == 0 ? Self.dueAfter : min(Self.dueAfter, max(Self.minimumDue, share))
    self.connection = connection
    self.syncs = syncs
    self.notices = notices
    other = try CheckpointConnection(path: connection.path)
    connection.watchLog()
  }

  deinit {
    close()
  }

  /// A commit may have made the log longer.
  func didCommit() {
    if connection.logPages < movedPages { movedPages = 0 }
    let pages = connection.logPages - movedPages
    guard pages >= dueAfter else { return }
    // A log that is larger than the reserve could never be moved once the disk is full, and nothing could be removed.
    if pages >= Self.longest * dueAfter { waitForCheckpoint() }
    advance()
  }

  /// Moves all pages, however few, for example after space was freed: only then does the file become smaller.
  ///
  /// - Parameters:
  ///   - cuttingLog: Also truncates the log to nothing, if no connection reads.
  ///   - milliseconds: How long it waits for those that do.
  func moveAll(cuttingLog: Bool = false, waiting milliseconds: Int32 = 0) {
    guard syncs.failure == nil else { return }
    switch phase.value.withLock({ $0 }) {
    case .idle, .moved, .failed: moveRest(cuttingLog: cuttingLog, waiting: milliseconds)
    case .moving: break
    }
  }

  /// Moves pages on the writer's own connection. A failed write is no failure of the commit, which is on disk: the log
  /// stays, and is moved later.
  private func moveRest(cuttingLog: Bool = false, waiting milliseconds: Int32 = 0) {
    if case .moving = phase.value.withLock({ $0 }) {
      preconditionFailure("A checkpoint began while another one of the same store ran")
    }
    do throws(StoreError) {
      let moved = try cuttingLog ? connection.checkpointAndCut(waiting: milliseconds) : connection.checkpoint()
      movedPages = connection.logPages
      phase.value.withLock { $0 = .idle }
      if moved?.isComplete == true { setFailure(nil) }
    } catch {
      syncs.recordFailure(error)
      phase.value.withLock { $0 = .failed(error) }
      setFailure(error)
    }
  }

  /// Sets why the last checkpoint failed, and reports when that begins and when it is over.
  private func setFailure(_ failure: StoreError?) {
    let hasChanged = (failure == nil) != (self.failure == nil)
    self.failure = failure
    if hasChanged { notices.post(.checkpoint(failure)) }
    if failure?.kind == .full { foundDiskFull = true }
  }

  /// Whether there was no space to move pages to since this was last asked.
  func takeDiskFull() -> Bool {
    defer { foundDiskFull = false }
    return foundDiskFull
  }

  /// Waits until the other connection has moved the requested pages.
  func waitForCheckpoint() {
    other.waitForCheckpoint()
  }

  /// Waits for the other connection, and closes it. The writer's must be open until then. After a failed fsync the log
  /// stays as it is: it contains pages that the file may lack.
  func close() {
    other.close()
    if syncs.failure != nil { connection.keepLogOnClose() }
  }

  private func advance() {
    let now = phase.value.withLock { $0 }
    switch now {
    case .moving: break
    case .idle: move(beyond: movedPages, round: 1)
    case .failed(let error):
      setFailure(error)
      move(beyond: movedPages, round: 1)
    case .moved(let pages, let round):
      if connection.logPages - pages > Self.shortRest, round < Self.maximumRounds {
        return move(beyond: pages, round: round + 1)
      }
      moveRest()
    }
  }

  /// Begins a checkpoint of the other connection.
  ///
  /// - Parameter moved: How many pages of the log are in the file.
  func move(beyond moved: Int, round: Int) {
    precondition(connection.logPages > moved, "A checkpoint began although nothing was to be moved")
    phase.value.withLock { $0 = .moving(round: round) }
    other.checkpoint { [phase, syncs] result in
      if case .failure(let error) = result { syncs.recordFailure(error) }
      phase.value.withLock {
        switch result {
        case .success(let moved?): $0 = .moved(pages: moved.pages, round: round)
        // Another connection makes a checkpoint.
        case .success(nil): $0 = .idle
        case .failure(let error): $0 = .failed(error)
        }
      }
    }
  }
}

/// The second connection, and its thread.
///
/// Sendable without the compiler's proof: after `init` the connection is used only on `queue`, which is serial and owns it.
private final class CheckpointConnection: @unchecked Sendable {
  private let connection: SQLiteConnection
  private let queue = DispatchQueue(label: "redial.checkpoint", qos: .utility)

  init(path: String) throws(StoreError) {
    connection = try SQLiteConnection(path: path, role: .writer)
    // The writer decides.
    connection.keepLogOnClose()
    // The file must be on disk before the log is overwritten.
    try connection.execute("set up the connection", "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;")
    connection.pass(to: .queue(queue))
  }

  /// Moves the current pages of the log; calls back on another thread with how many are in the file, or nil if another
  /// connection makes a checkpoint.
  func checkpoint(_ done: @escaping @Sendable (Result<SQLiteConnection.Moved?, StoreError>) -> Void) {
    queue.async {
      do throws(StoreError) {
        done(.success(try self.connection.checkpoint()))
      } catch {
        done(.failure(error))
      }
    }
  }

  /// Waits until it has finished all requests.
  func waitForCheckpoint() {
    queue.sync {}
  }

  func close() {
    queue.sync { connection.close() }
  }
}
