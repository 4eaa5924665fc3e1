internal import Dispatch
internal import Synchronization

/// Moves committed pages from the write-ahead log into the file, beside the writer and not in its way.
///
/// A commit that does it itself takes as long as the log is: some milliseconds, at times many more, in which every
/// accept waits. So a second connection moves the pages, and syncs the file, on a thread of its own, while the writer
/// goes on appending. What was appended meanwhile is little; the writer moves it at its next commit, after which the log
/// starts again from its beginning.
final class Checkpoints {
  /// Pages in the log at which they are moved: 16 MiB. Many enough that a hot page is moved once for many commits.
  static let dueAfter = 4000
  /// What the writer may move itself, in pages. When more was appended meanwhile, another round comes first.
  static let shortRest = 1000
  /// Rounds after which the writer moves the rest however much it is, so that the log stays bounded.
  static let maximumRounds = 4

  private enum Phase {
    /// The log is short. Leads to `moving`.
    case idle
    /// The other connection is at work. Leads to `moved`.
    case moving(round: Int)
    /// It is done: this many pages of the log are in the file. Leads to `idle`, or to `moving` again.
    case moved(pages: Int, round: Int)
  }

  private let connection: SQLiteConnection
  private let other: CheckpointConnection
  private let phase = PhaseBox()
  /// Pages in the log when it was last moved as a whole; a reader may have kept it from starting again.
  private var movedPages = 0

  /// The phase, which both threads look at.
  private final class PhaseBox: Sendable {
    let value = Mutex(Phase.idle)
  }

  /// Takes the checkpoints of a writer's connection over from SQLite.
  init(of connection: SQLiteConnection) throws(StoreError) {
    self.connection = connection
    other = try CheckpointConnection(path: connection.path)
    connection.watchLog()
  }

  deinit {
    close()
  }

  /// A commit may have made the log longer.
  func didCommit() {
    if connection.logPages < movedPages { movedPages = 0 }
    guard connection.logPages - movedPages >= Self.dueAfter else { return }
    advance()
  }

  /// Moves what there is, however little, as after space was given back: the file is only then smaller.
  func moveAll() {
    _ = connection.checkpoint()
  }

  /// Waits for the other connection, and closes it. The writer's must be open until then.
  func close() {
    other.close()
  }

  private func advance() {
    let now = phase.value.withLock { $0 }
    switch now {
    case .moving: break
    case .idle: move(round: 1)
    case .moved(let pages, let round):
      if connection.logPages - pages > Self.shortRest, round < Self.maximumRounds { return move(round: round + 1) }
      // That it fails is no failure of the commit, which is on disk: the log stays, and is moved another time.
      _ = connection.checkpoint()
      movedPages = connection.logPages
      phase.value.withLock { $0 = .idle }
    }
  }

  private func move(round: Int) {
    phase.value.withLock { $0 = .moving(round: round) }
    other.checkpoint { [phase] pages in
      phase.value.withLock { $0 = pages.map { .moved(pages: $0, round: round) } ?? .idle }
    }
  }
}

/// The second connection, and the thread that it is used on.
///
/// Sendable without the compiler's proof: after `init` the connection is touched on `queue` only, which is serial.
private final class CheckpointConnection: @unchecked Sendable {
  private let connection: SQLiteConnection
  private let queue = DispatchQueue(label: "redial.checkpoint", qos: .utility)

  init(path: String) throws(StoreError) {
    connection = try SQLiteConnection(path: path, role: .writer)
    // The file must be on disk before the log is overwritten.
    try connection.execute("set up the connection", "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;")
  }

  /// Moves what the log holds now; answers, on another thread, how many of its pages are then in the file.
  func checkpoint(_ done: @escaping @Sendable (Int?) -> Void) {
    queue.async { done(self.connection.checkpoint()) }
  }

  func close() {
    queue.sync { connection.close() }
  }
}
