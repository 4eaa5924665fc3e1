internal import Dispatch
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Runs bulk operations: a page of calls at a time, each through the engine as if a client had sent the command, at the
/// operation's rate. Its progress is stored after each page.
///
/// If the process dies between a page and its progress, the page is found again but its calls no longer match: an
/// operation never retries a call twice.
final class BulkRunner: Sendable {
  /// The parts of the service that it uses.
  struct Surroundings: Sendable {
    /// A page of calls.
    var page: @Sendable (CallQuery) throws(StoreError) -> CallPage<CallID>
    /// Has the engine apply an action to these calls; the tally is passed on any thread.
    var perform:
      @Sendable (CallCommand.Kind, [CallID], Namespace, Attribution, @escaping @Sendable (BulkBatch.Tally) -> Void) ->
        Void
    /// Stores an operation's progress, read when the store writes it. Calls back on any thread with whether it is on
    /// disk.
    var store:
      @Sendable (_ current: @escaping @Sendable () -> BulkOperation?, @escaping @Sendable (Bool) -> Void) -> Void
    /// Logs an event for operators.
    var log: @Sendable (_ event: StaticString, BulkOperation) -> Void
    var now: @Sendable () -> Timestamp
  }

  private struct Table: Sendable {
    var operations: [BulkOperationID: BulkOperation] = [:]
    /// How often an operation has met calls that other instances run.
    var metOthers: [BulkOperationID: Int] = [:]
    var isStopping = false
  }

  /// Maximum number of calls in a page.
  static let pageSize = 100
  /// Minimum number of pages per second, so that a slow operation runs evenly.
  private static let pagesPerSecond = 10
  /// Maximum number of calls that are examined for a page.
  private static let scanLimit = 5000
  /// Calls that are counted at a time.
  private static let countSize = 1000
  /// How long it waits if the service cannot do anything.
  static let pause = Duration.seconds(1)
  /// How often an operation looks again for calls that other instances run. In this time a target of an instance that
  /// died gets a new owner. Then the calls are skipped; a client can ask their instances.
  static let looksForOthers = 30
  /// Ended operations that stay in memory.
  static let maximumEnded = 1000

  private let table = Mutex(Table())
  private let queue = DispatchQueue(label: "redial.bulk", qos: .utility)
  private let surroundings: Surroundings
  private let pause: Duration

  init(_ surroundings: Surroundings, pause: Duration = BulkRunner.pause) {
    self.surroundings = surroundings
    self.pause = pause
  }

  // MARK: Requests

  /// All operations, the newest first.
  var all: [BulkOperation] { table.withLock { $0.operations.values.sorted { $0.id > $1.id } } }

  /// The number of a namespace's operations that have not ended.
  func unfinished(in namespace: Namespace) -> Int {
    table.withLock { table in
      table.operations.values.count { !$0.state.isFinal && $0.namespace == namespace }
    }
  }

  /// An operation.
  func operation(_ id: BulkOperationID) -> BulkOperation? { table.withLock { $0.operations[id] } }

  /// A new id, higher than all others, and the operations of the namespace that are forgotten for it.
  func nextID(at now: Timestamp, in namespace: Namespace) -> (id: BulkOperationID, forgotten: [BulkOperationID]) {
    table.withLock { table in
      let last = table.operations.keys.max()?.rawValue ?? 0
      let ended = table.operations.values.filter { $0.state.isFinal && $0.namespace == namespace }.map(\.id)
        .sorted()
      return (
        BulkOperationID(rawValue: max(now.microseconds, last + 1)),
        Array(ended.prefix(max(0, ended.count + 1 - Self.maximumEnded)))
      )
    }
  }

  /// Takes the operations from the store, and continues those that have not ended.
  func take(_ operations: [BulkOperation], forgetting forgotten: [BulkOperationID] = []) {
    table.withLock { table in
      for operation in operations { table.operations[operation.id] = operation }
      for id in forgotten { table.operations[id] = nil }
    }
    for operation in operations where !operation.state.isFinal { go(on: operation.id, after: .zero) }
  }

  /// Records, on the store's lane, that a bulk operation is cancelled and that this is on disk. The current page is
  /// finished.
  func didCancel(_ operation: BulkOperation) {
    change(operation.id) { current in
      current.state = .cancelled
      current.finishedAt = operation.finishedAt
    }
  }

  /// Drops all operations, because another instance runs them from now on. Their progress is in the store.
  func drop() {
    table.withLock {
      $0.operations = [:]
      $0.metOthers = [:]
    }
  }

  /// Begins no more pages.
  func stop() {
    table.withLock { $0.isStopping = true }
  }

  // MARK: Steps

  private func go(on id: BulkOperationID, after wait: Duration) {
    queue.asyncAfter(deadline: .now() + .microseconds(Int(wait.wholeMicroseconds))) { [weak self] in self?.step(id) }
  }

  private func step(_ id: BulkOperationID) {
    let operation = table.withLock { $0.isStopping ? nil : $0.operations[id] }
    guard let operation, !operation.state.isFinal else { return }
    do throws(StoreError) {
      if operation.state == .counting { try count(operation) } else { try work(operation) }
    } catch {
      go(on: id, after: pause)
    }
  }

  /// Counts more of the matching calls. A count that was interrupted begins again.
  private func count(_ operation: BulkOperation) throws(StoreError) {
    let query = CallQuery(
      operation.filter, before: operation.cursor, limit: Self.countSize, scanLimit: Self.scanLimit)
    let page = try surroundings.page(query)
    change(operation.id) { current in
      current.matched += page.calls.count
      current.cursor = page.next
      if page.next == nil, !current.state.isFinal { current.state = .running }
    }
    if page.next == nil { keep(operation.id) } else { go(on: operation.id, after: .zero) }
  }

  /// Applies the action to the next few calls.
  private func work(_ operation: BulkOperation) throws(StoreError) {
    let request = operation.request
    let size = min(Self.pageSize, max(1, request.ratePerSecond / Self.pagesPerSecond))
    let query = CallQuery(operation.filter, before: operation.cursor, limit: size, scanLimit: Self.scanLimit)
    let page = try surroundings.page(query)
    let began = surroundings.now()
    let finish = { @Sendable [weak self] (tally: BulkBatch.Tally) in
      guard let self else { return }
      queue.async { self.note(tally, page, of: operation.id, since: began) }
    }
    guard !page.calls.isEmpty else { return finish(BulkBatch.Tally()) }
    surroundings.perform(request.action.kind, page.calls, operation.namespace, request.attribution, finish)
  }

  private func note(_ tally: BulkBatch.Tally, _ page: CallPage<CallID>, of id: BulkOperationID, since: Timestamp) {
    var rate = BulkOperation.rates.lowerBound
    let isPassed = tally.unavailable == 0 && (tally.elsewhere == 0 || !waitsForOthers(id))
    change(id) { current in
      rate = current.request.ratePerSecond
      current.done += tally.done
      // If a page is examined again, calls that were changed no longer match; the others are tried again.
      guard isPassed else { return }
      current.skipped += tally.skipped + tally.elsewhere
      current.cursor = page.next
      guard page.next == nil, !current.state.isFinal else { return }
      current.state = .completed
      current.finishedAt = surroundings.now()
    }
    let due = Duration.microseconds(Int64(tally.count) * 1_000_000 / Int64(rate)) - (surroundings.now() - since)
    keep(id, after: isPassed ? max(.zero, due) : pause)
  }

  /// Whether to wait for calls that other instances run; counts how often that was asked.
  private func waitsForOthers(_ id: BulkOperationID) -> Bool {
    table.withLock { table in
      table.metOthers[id, default: 0] += 1
      return table.metOthers[id, default: 0] <= Self.looksForOthers
    }
  }

  /// Stores the progress, and continues when it is on disk.
  private func keep(_ id: BulkOperationID, after wait: Duration = .zero) {
    surroundings.store({ [weak self] in self?.operation(id) }) { [weak self] isStored in
      guard let self, let operation = operation(id) else { return }
      if operation.state.isFinal, isStored {
        table.withLock { $0.metOthers[id] = nil }
        return surroundings.log("bulkOperationEnded", operation)
      }
      if isStored { return go(on: id, after: wait) }
      // An end that is not on disk does not count: it is written again.
      guard !table.withLock({ $0.isStopping }) else { return }
      queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in self?.keep(id, after: wait) }
    }
  }

  private func change(_ id: BulkOperationID, _ change: (inout BulkOperation) -> Void) {
    table.withLock { table in
      guard var operation = table.operations[id] else { return }
      change(&operation)
      table.operations[id] = operation
    }
  }
}

extension BulkOperation.Action {
  /// The engine's command for the action.
  fileprivate var kind: CallCommand.Kind {
    switch self {
    case .retry, .release: .retry
    case .cancel: .cancel
    case .purge: .purge
    }
  }
}
