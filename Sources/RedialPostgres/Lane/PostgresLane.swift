internal import RedialCore
internal import RedialLanes
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// The thread with the connection on which all work of the chain is made. Works are posted from any thread, and their
/// outcomes are reported on this one.
final class PostgresLane: Sendable {
  /// What other threads must know of the lease.
  struct Standing: Sendable {
    /// The session; nil before this instance joins the others, and after it has left them.
    var session: LeaseSession?
    /// Its shards, as of the last lease.
    var shards = ShardSet.none
    /// How long the lease lasts; nil if it has no end.
    var duration: Duration?
    /// A session of this instance that is of no use any more, and may still exist.
    var previous: LeaseSession?
  }

  /// How this instance is shown to the others.
  struct Introduction: Sendable {
    /// The URL at which they can reach it; nil if they cannot.
    var address: String?
    /// Its version, for people.
    var version = ""
  }

  /// What the lane asks its store for.
  struct Needs: Sendable {
    /// The time of the store's clock; nil for that of the database.
    var now: @Sendable () -> Timestamp?
    /// There is a connection to this server (``Greeting/server``), whose numbers apply from now on.
    var meet: @Sendable (_ server: Int64) -> Void
    /// Of the keys of a commit that was refused, those that others were first with.
    var taken: @Sendable ([KeyRecord]) throws(StoreError) -> [TakenKey]
    /// Of the calls of a commit that was refused, those that others have stored.
    var stored: @Sendable ([CallID]) throws(StoreError) -> StoredFirst
    /// Reads the data keys again, because some have been replaced or erased.
    var renewKeys: @Sendable () throws(StoreError) -> Void
    /// An ended call was claimed.
    var didShow: @Sendable (CallID) -> Void
    /// Reports what is not the answer to a work.
    var notices: StoreNotices
    /// The maximum size of a body that is read with its call.
    var largest: Int
    /// What this instance knows to be made.
    var ledgers: KnownLedgers
  }

  /// Who receives the outcomes. In a structure of its own: a bare closure would be wrapped once more each time that it is
  /// taken out of the lock, and a call of it would go through all wrappers.
  private struct Listener: Sendable {
    var hear: (@Sendable (StoreOutcome) -> Void)?
  }

  let settings: PostgresSettings
  let needs: Needs
  let standing: Mutex<Standing>
  let introduction = Mutex(Introduction())
  private let mailbox = Mailbox<LaneJob>()
  private let listener = Mutex(Listener())
  private let thread: BellThread

  /// Starts the thread.
  init(_ settings: PostgresSettings, _ standing: Standing, _ needs: Needs) throws(StoreError) {
    guard let thread = BellThread("redial.postgres") else {
      throw StoreError(kind: .unavailable, message: "The system has no file descriptor left. Raise the limit.")
    }
    self.thread = thread
    self.settings = settings
    self.needs = needs
    self.standing = Mutex(standing)
    thread.begin { [self] in
      var run = LaneRun(self)
      run.untilClosed()
    }
  }

  /// Sets who receives the outcomes.
  func report(to listener: @escaping @Sendable (StoreOutcome) -> Void) {
    self.listener.withLock { $0.hear = listener }
  }

  /// Adds a work behind all others.
  func post(_ job: LaneJob) {
    if mailbox.post(job) == .mustWake { bell.ring() }
  }

  /// Ends the thread, and waits until it has ended. Works without an outcome get none.
  func close() { thread.close() }

  // MARK: On the thread

  /// Rung when something was posted.
  var bell: Bell { thread.bell }

  /// Takes what was posted; nil once the lane is closed.
  func take() -> [LaneJob]? {
    guard !thread.isClosed else { return nil }
    var jobs: [LaneJob] = []
    mailbox.take(&jobs)
    return jobs
  }

  func report(_ outcome: StoreOutcome) {
    listener.withLock { $0.hear }?(outcome)
  }
}
