internal import Dispatch
internal import Glibc
internal import RedialCore
internal import RedialEngine
internal import RedialLanes
internal import RedialModel
internal import RedialStore

/// The lane of the store's only writer. It puts everything that arrived during the last fsync into the next
/// transaction.
///
/// `@unchecked Sendable`: all mutable state is used only on `queue`, which is serial.
final class StoreLane: @unchecked Sendable {
  private let queue = DispatchQueue(label: "redial.store", qos: .userInitiated)
  private let mailbox = Mailbox<StoreRequest>()
  /// The requests that are being served. Their memory is used again.
  private var batch: [StoreRequest] = []
  private let store: any ServiceStore
  private let outcome: @Sendable (Outcome) -> Void
  /// Requests of this epoch or an older one depend on changes that failed.
  private var failed: (epoch: UInt64, failure: StoreFailure)?
  private var isTidying = true
  /// Set if changes have failed and none has been written since. The engine has them and will request them again, even
  /// for calls that have ended: these must still exist then, however long it takes.
  private var owesChanges = false

  /// The minimum time between the starts of two commits. A single request does not wait, and of many that come one by
  /// one some share a sync (measured at a thousand calls per second: half as many commits).
  static let commitSpacing = Duration.milliseconds(2)

  private let spacing: Duration
  private var lastCommit: ContinuousClock.Instant?

  /// Maximum number of writes in one transaction.
  private static let maximumWrites = 2048

  /// Maximum duration of a tidying step, besides its commit.
  private static let tidyBudget = Duration.milliseconds(2)
  /// Tidying uses one part in this many of the lane's time, so that it hardly delays submissions.
  private static let tidyShare = 5
  /// The time after the last step until the lane checks again whether there is something to tidy.
  private static let tidyInterval = Duration.seconds(1)
  /// The same after a step that failed: the store probably has trouble, which the engine handles.
  private static let tidyRetry = Duration.seconds(10)

  /// The results of requests.
  enum Outcome: Sendable {
    /// These changes are on disk; the actions may follow.
    case committed([StoreWrite], then: [Action])
    /// Events for the engine.
    case events([EngineEvent])
  }

  /// - Parameters:
  ///   - spacing: The minimum time between the starts of two commits.
  ///   - outcome: Called on the lane.
  init(
    store: any ServiceStore, spacing: Duration = StoreLane.commitSpacing, outcome: @escaping @Sendable (Outcome) -> Void
  ) {
    self.store = store
    self.spacing = spacing
    self.outcome = outcome
  }

  /// Sends requests to the store, from any thread.
  func post(_ requests: [StoreRequest]) {
    if mailbox.post(contentsOf: requests) == .mustWake { queue.async { self.serve() } }
  }

  /// Runs a closure with the store, on its lane, after all earlier requests.
  func afterwards(_ body: @escaping @Sendable (any ServiceStore) -> Void) {
    queue.async { body(self.store) }
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
    guard isTidying else { return }
    let began = ContinuousClock.now
    var pause = Self.tidyInterval
    do throws(StoreError) {
      if !owesChanges {
        let step = try store.tidy(retention, at: now(), within: Self.tidyBudget)
        if !step.isDone { pause = (ContinuousClock.now - began) * (Self.tidyShare - 1) }
        if step.removed > 0 || step.releasedPages > 0 { report(.success(step)) }
      }
    } catch {
      // On a full disk the reserve has been released, exactly for this.
      pause = error.kind == .full ? Self.tidyInterval : Self.tidyRetry
      report(.failure(error))
    }
    queue.asyncAfter(deadline: .now() + .microseconds(Int(pause.wholeMicroseconds))) { [weak self] in
      self?.tidyOnce(retention, now: now, report: report)
    }
  }

  private func serve() {
    awaitOthers()
    var group: [StoreRequest] = []
    var size = 0
    mailbox.take(&batch)
    defer { batch.removeAll(keepingCapacity: true) }
    for request in batch {
      if case .commit(let writes, _) = request.body, !isVoid(request) {
        if size + writes.count > Self.maximumWrites { commit(&group, &size) }
        group.append(request)
        size += writes.count
      } else {
        commit(&group, &size)
        serve(request)
      }
    }
    commit(&group, &size)
  }

  /// Waits for more requests if the last commit was very recent. The wait is so short that a timer would cost more than
  /// a sleeping thread.
  private func awaitOthers() {
    guard let lastCommit else { return }
    let left = spacing - (ContinuousClock.now - lastCommit)
    if left > .zero { usleep(UInt32(clamping: left.wholeMicroseconds)) }
  }

  /// Whether a request depends on changes that failed.
  private func isVoid(_ request: StoreRequest) -> Bool {
    guard let failed else { return false }
    return request.epoch <= failed.epoch
  }

  /// Runs requests as one transaction, and removes them.
  private func commit(_ group: inout [StoreRequest], _ size: inout Int) {
    guard let last = group.last else { return }
    defer {
      group.removeAll(keepingCapacity: true)
      size = 0
    }
    // An earlier part of the same batch may have failed meanwhile.
    if isVoid(last) { return fail(group) }
    do {
      let (writes, then) = Self.joined(group, size)
      if !writes.isEmpty {
        lastCommit = .now
        try store.commit(writes)
        owesChanges = false
      }
      outcome(.committed(writes, then: then))
    } catch {
      failed = (last.epoch, Self.failure(error))
      fail(group)
    }
  }

  /// The writes and actions of requests, in order. The usual case is a single request, whose own arrays are used: they
  /// are large, and copying them would count all references in them up and down.
  private static func joined(_ group: [StoreRequest], _ size: Int) -> (writes: [StoreWrite], then: [Action]) {
    if group.count == 1, case .commit(let writes, let then) = group[0].body { return (writes, then) }
    var writes: [StoreWrite] = []
    var then: [Action] = []
    writes.reserveCapacity(size)
    then.reserveCapacity(size)
    for case .commit(let more, let actions) in group.lazy.map(\.body) {
      writes += more
      then += actions
    }
    return (writes, then)
  }

  private func serve(_ request: StoreRequest) {
    guard !isVoid(request) else { return fail([request]) }
    do throws(StoreError) {
      switch request.body {
      case .commit: break
      case .barrier:
        // A different value each time, because an unchanged value would not be written.
        try store.setSetting("writtenAgainAt", to: "\(Clock.wallTime().microseconds)")
        outcome(.events([.storeWritten(epoch: request.epoch)]))
      case .claimDue(let time, let limit):
        outcome(.events([.claimedDue(try store.claimDue(before: time, limit: limit))]))
      case .claimQueued(let target, let limit):
        let calls = try store.claimQueued(target: target, limit: limit)
        outcome(.events([.claimedQueued(target: target, calls: calls, complete: calls.count < limit)]))
      case .findKey(let submission, let time):
        outcome(.events([.foundKey(submission, try store.find(key: submission.key.name, at: time))]))
      case .fetch(let operation):
        outcome(.events([.fetched(operation, try store.claim(operation.id, in: operation.namespace))]))
      case .lease(let ask):
        // All instances on one machine share this clock; it is only compared with itself.
        let grant = try store.lease(ask.request, renewing: ask.session, at: Clock.wallTime())
        outcome(.events([.leased(grant, ask)]))
      }
    } catch {
      // A single call that cannot be read is not a failure of the store: only the client that requested it gets an
      // error.
      if case .fetch(let operation) = request.body, let damage = error.damaged, damage.id == operation.id {
        return outcome(
          .events([.fetchedDamaged(operation, hasEnded: damage.hasEnded, message: error.message)]))
      }
      failed = (request.epoch, Self.failure(error))
      fail([request])
    }
  }

  private func fail(_ requests: [StoreRequest]) {
    guard let failed else { return }
    for case .commit(let writes, _) in requests.lazy.map(\.body) where !writes.isEmpty { owesChanges = true }
    outcome(.events(requests.map { .storeFailed($0, failed.failure) }))
  }

  private static func failure(_ error: StoreError) -> StoreFailure {
    StoreFailure(
      isFull: error.kind == .full, isLeaseLost: error.kind == .leaseLost, taken: error.taken,
      message: error.message)
  }
}
