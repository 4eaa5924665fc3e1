/// The state of a retrying operation, and the next actions: a value, without threads, clock or foreign code.
///
/// Events change ``phase``, each in one step, so that of two events that race one is first and the other comes too
/// late. ``next(onStarter:)`` then returns, one at a time, the actions that the phase requires. Only the thread that
/// drives the machine performs them: foreign code that it calls may cause further events from any thread, and those
/// neither nest nor run in parallel.
struct RetryMachine {
  enum Phase {
    /// Leads to `due`; to `finishing` if cancelled before its start.
    case notStarted
    /// A run is about to begin. Leads to `running`; to `finishing` if cancelled.
    case due
    /// The base operation runs. Leads to `waiting` and `finishing`.
    case running
    /// Leads to `due` by a retry, to `waiting` with other helpers, to `finishing` if cancelled.
    case waiting(Wait)
    /// Everything is done except reporting it. Leads to `finished`.
    case finishing
    /// The end.
    case finished
  }

  /// One wait. The generation distinguishes it from every other wait of the operation.
  struct Wait {
    var generation: UInt64
    var helpers: [any RetryHelper]
  }

  /// The call that informs the base operation of the cancellation. `calling` prevents the operation from finishing.
  enum CancelHook {
    case unused, owed, calling, called
  }

  enum Action {
    case setUp(Wait)
    case tearDown([any RetryHelper])
    case begin(retry: Int)
    case callCancelHook
    case finish
  }

  private(set) var phase = Phase.notStarted
  /// Retries begun; nil before the start and after the end.
  private(set) var retries: Int?
  private(set) var isFinished = false
  private var isAsynchronous = false
  private var isCancelled = false
  /// Whether a thread drives it: performs its actions.
  private var isDriven = false
  private var cancelHook = CancelHook.unused
  private var generation: UInt64 = 0
  /// The wait whose helpers are set up, or about to be.
  private var armed: Wait?

  // MARK: Events

  enum Start {
    case begun, alreadyUnderWay, alreadyFinished
  }

  /// Starts; the starter drives.
  mutating func start(isAsynchronous: Bool, isCancelled: Bool) -> Start {
    guard case .notStarted = phase else { return isFinished ? .alreadyFinished : .alreadyUnderWay }
    self.isAsynchronous = isAsynchronous
    isDriven = true
    if isCancelled || self.isCancelled {
      phase = .finishing
    } else {
      phase = .due
      retries = 0
    }
    return .begun
  }

  /// The base operation has ended; nil helpers ask for no retry. False if none was running.
  mutating func baseEnded(retryWith helpers: [any RetryHelper]?) -> Bool {
    guard case .running = phase else { return false }
    if let helpers, !isCancelled { wait(with: helpers) } else { phase = .finishing }
    return true
  }

  /// The call that started the base operation has returned. False if it should have ended it and has not.
  mutating func startReturned() -> Bool {
    guard case .running = phase, !isAsynchronous else { return true }
    phase = .finishing
    // The cancel hook may be about to report that the base operation has ended.
    return isCancelled
  }

  /// Ends the wait with that generation, or any wait, with a retry. False if the operation is not in it.
  mutating func retry(_ generation: UInt64? = nil) -> Bool {
    guard case .waiting(let wait) = phase, generation ?? wait.generation == wait.generation else { return false }
    phase = .due
    retries = (retries ?? 0) + 1
    return true
  }

  /// Continues to wait, with other helpers. False if the operation is not waiting.
  mutating func replaceHelpers(with helpers: [any RetryHelper]) -> Bool {
    guard case .waiting = phase else { return false }
    wait(with: helpers)
    return true
  }

  /// Cancels. True if the caller must call the cancel hook, and then ``cancelHookReturned()``.
  mutating func cancel() -> Bool {
    guard !isCancelled else { return false }
    isCancelled = true
    switch phase {
    case .notStarted, .finishing, .finished:
      return false
    case .due, .waiting:
      phase = .finishing
      return false
    case .running where isAsynchronous:
      // For the thread that drives, which may still be inside the start.
      cancelHook = .owed
      return false
    case .running:
      cancelHook = .calling
      return true
    }
  }

  mutating func cancelHookReturned() {
    cancelHook = .called
  }

  mutating func finish() {
    phase = .finished
    isFinished = true
    retries = nil
  }

  // MARK: Actions

  /// Lets the caller drive, if nobody does. Before the start nobody may: the starter of the operation will.
  mutating func beginDriving() -> Bool {
    if case .notStarted = phase { return false }
    defer { isDriven = true }
    return !isDriven
  }

  /// Lets the caller drive, if nobody does and a run is due.
  mutating func beginDrivingRun() -> Bool {
    guard case .due = phase else { return false }
    return beginDriving()
  }

  /// The next action for the thread that drives; after nil it does not drive any more.
  ///
  /// A synchronous operation's runs begin on the thread that started it (`onStarter`) and on no other.
  ///
  /// Not inlined: Swift 6.2 otherwise crashes in a release build ("Found ownership error" in
  /// `RetryingOperation.drive(onStarter:)`).
  @inline(never)
  mutating func next(onStarter: Bool) -> Action? {
    if let armed, armed.generation != waitingGeneration {
      self.armed = nil
      return .tearDown(armed.helpers)
    }
    switch phase {
    case .waiting(let wait) where armed == nil:
      armed = wait
      return .setUp(wait)
    case .due where isAsynchronous || onStarter:
      phase = .running
      return .begin(retry: retries ?? 0)
    case .running where cancelHook == .owed:
      cancelHook = .calling
      return .callCancelHook
    case .finishing where cancelHook != .calling:
      return .finish
    default:
      isDriven = false
      return nil
    }
  }

  private var waitingGeneration: UInt64? {
    if case .waiting(let wait) = phase { wait.generation } else { nil }
  }

  private mutating func wait(with helpers: [any RetryHelper]) {
    generation += 1
    phase = .waiting(Wait(generation: generation, helpers: helpers))
  }
}
