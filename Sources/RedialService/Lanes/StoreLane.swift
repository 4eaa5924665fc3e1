internal import Dispatch
internal import Glibc
internal import RedialCore
internal import RedialEngine
internal import RedialLanes
internal import RedialModel
internal import RedialStore

/// The lane of the store's only writer. It puts everything that arrived during the last fsync into the next
/// transaction; ``StorePipeline`` decides what is sent when. What comes before ``begin(_:)`` waits.
///
/// `@unchecked Sendable`: all mutable state is used only on `queue`, which is serial; and by who starts the service, until
/// ``begin(_:)`` lets the queue run.
final class StoreLane: @unchecked Sendable {
  private let queue = DispatchQueue(label: "redial.store", qos: .userInitiated, attributes: .initiallyInactive)
  private var owner: Owner { .queue(queue) }
  private var hasBegun = false
  private let mailbox = Mailbox<StoreRequest>()
  /// The requests that have just arrived. Their memory is used again.
  private var batch: [StoreRequest] = []
  private var pipeline = StorePipeline()
  /// Closures that run when so many requests have their results, in order.
  private var afterwards: [(requests: Int, body: @Sendable (any ServiceStore) -> Void)] = []
  private let store: any ServiceStore
  /// Set by ``begin(_:)``.
  private var outcome: @Sendable (StorePipeline.Report) -> Void = { _ in }
  private var isTidying = true
  /// Whether the store is closed, so that all that is asked of it fails. Only for closures on the lane.
  private(set) var isClosed = false

  /// The minimum time between the starts of two commits. A single request does not wait, and of many that come one by
  /// one some share a sync (measured at a thousand calls per second: half as many commits).
  static let commitSpacing = Duration.milliseconds(2)

  private let spacing: Duration
  private let wait: @Sendable (Duration) -> Void
  private var lastCommit: ContinuousClock.Instant?

  /// Maximum duration of a tidying step, besides its commit.
  private static let tidyBudget = Duration.milliseconds(2)
  /// Tidying uses one part in this many of the lane's time, so that it hardly delays submissions.
  private static let tidyShare = 5
  /// The time after the last step until the lane checks again whether there is something to tidy.
  static let tidyInterval = Duration.seconds(1)
  /// The same for a store with other instances, to which each look costs a transaction.
  static let sharedTidyInterval = Duration.seconds(5)
  private let tidyInterval: Duration
  /// The same after a step that failed: the store probably has trouble, which the engine handles.
  private static let tidyRetry = Duration.seconds(10)

  /// - Parameters:
  ///   - spacing: The minimum time between the starts of two commits.
  ///   - wait: Waits for the rest of it, on the lane.
  ///   - tidyInterval: The time between two looks at whether there is something to tidy.
  init(
    store: sending any ServiceStore, spacing: Duration = StoreLane.commitSpacing,
    wait: @escaping @Sendable (Duration) -> Void = { usleep(UInt32(clamping: $0.wholeMicroseconds)) },
    tidyInterval: Duration = StoreLane.tidyInterval
  ) {
    self.store = store
    self.spacing = spacing
    self.wait = wait
    self.tidyInterval = tidyInterval
    // Weak: the store may outlive its lane. Outcomes are then lost; the next start finds what is on disk.
    store.report { [weak self] outcome in self?.arrived(outcome) }
  }

  deinit {
    // Dispatch does not release a queue that was never active.
    if !hasBegun { queue.activate() }
  }

  /// Takes over what an earlier process has left, on this thread, before ``begin(_:)``: nothing else reaches the store
  /// meanwhile.
  func recover(at now: Timestamp) throws(StoreError) -> RecoveredState {
    precondition(!hasBegun, "the store was recovered while it was in use")
    return try store.recover(at: now)
  }

  /// Begins to serve what has arrived, and what arrives.
  ///
  /// - Parameter outcome: Gets the results, on the lane.
  func begin(_ outcome: @escaping @Sendable (StorePipeline.Report) -> Void) {
    precondition(!hasBegun, "the store's lane was begun twice")
    self.outcome = outcome
    hasBegun = true
    store.pass(to: queue)
    queue.activate()
  }

  /// Sends requests to the store, from any thread.
  func post(_ requests: [StoreRequest]) {
    if mailbox.post(contentsOf: requests) == .mustWake { queue.async { self.serve() } }
  }

  /// Runs a closure with the store, on its lane, when all earlier requests have their results.
  func afterwards(_ body: @escaping @Sendable (any ServiceStore) -> Void) {
    queue.async {
      self.afterwards.append((self.pipeline.posted, body))
      self.runAfterwards()
    }
  }

  /// Closes the store when all earlier requests have their results.
  ///
  /// - Parameters:
  ///   - last: Called with the store before that.
  ///   - then: Called on the lane.
  func close(
    _ last: @escaping @Sendable (any ServiceStore) -> Void, then: @escaping @Sendable () -> Void
  ) {
    // A start that failed closes a lane that has not begun.
    if !hasBegun { begin { _ in } }
    afterwards { [self] store in
      last(store)
      store.close()
      isClosed = true
      then()
    }
  }

  /// Runs a closure when the lane has served what has arrived until now, whether it is answered or not.
  func whenServed(_ body: @escaping @Sendable () -> Void) {
    queue.async(execute: body)
  }

  // MARK: Tidying

  /// From now on removes expired data, in small steps between commits.
  ///
  /// - Parameters:
  ///   - now: The time, on the clock of the calls' ends.
  ///   - report: Called on the lane with each step that did something, or with the reason why one failed.
  func tidy(
    _ retention: Retention, now: @escaping @Sendable () -> Timestamp,
    report: @escaping @Sendable (Result<TidyStep, StoreError>) -> Void
  ) {
    queue.async { self.tidyOnce(retention, now: now, report: report) }
  }

  /// Stops tidying, so that the store can be closed.
  func stopTidying() {
    queue.async { self.isTidying = false }
  }

  private func tidyOnce(
    _ retention: Retention, now: @escaping @Sendable () -> Timestamp,
    report: @escaping @Sendable (Result<TidyStep, StoreError>) -> Void
  ) {
    owner.check()
    guard isTidying else { return }
    let began = ContinuousClock.now
    var pause = tidyInterval
    do throws(StoreError) {
      if !pipeline.owesChanges {
        let step = try store.tidy(retention, at: now(), within: Self.tidyBudget)
        if !step.isDone { pause = (ContinuousClock.now - began) * (Self.tidyShare - 1) }
        if step.removed > 0 || step.releasedBytes > 0 || !step.erased.isEmpty { report(.success(step)) }
      }
    } catch {
      // On a full disk the reserve has been released, exactly for this.
      pause = error.kind == .full ? tidyInterval : Self.tidyRetry
      report(.failure(error))
    }
    queue.asyncAfter(deadline: .now() + .microseconds(Int(pause.wholeMicroseconds))) { [weak self] in
      self?.tidyOnce(retention, now: now, report: report)
    }
  }

  // MARK: Requests

  private func serve() {
    owner.check()
    awaitOthers()
    mailbox.take(&batch)
    pipeline.take(&batch)
    proceed()
  }

  /// Waits for more requests if the last commit was very recent. The wait is so short that a timer would cost more than
  /// a sleeping thread.
  private func awaitOthers() {
    guard let lastCommit else { return }
    let left = spacing - (ContinuousClock.now - lastCommit)
    if left > .zero { wait(left) }
  }

  /// Sends what can be sent, and reports what is known.
  private func proceed() {
    owner.check()
    while true {
      switch pipeline.next() {
      case .wait: return runAfterwards()
      case .report(let result): outcome(result)
      case .submit(let job, let work, let trial):
        if case .commit = work { lastCommit = .now }
        if let outcome = store.submit(work, as: job.sequence, trial) { pipeline.heard(outcome) }
      }
    }
  }

  private func runAfterwards() {
    owner.check()
    while let first = afterwards.first, first.requests <= pipeline.concluded {
      afterwards.removeFirst()
      first.body(store)
    }
  }

  /// The store has reported something, on any thread.
  private func arrived(_ outcome: StoreOutcome) {
    queue.async {
      self.pipeline.heard(outcome)
      self.proceed()
    }
  }
}
