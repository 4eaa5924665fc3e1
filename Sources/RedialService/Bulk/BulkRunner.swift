internal import Dispatch
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Runs bulk operations: a page of calls at a time, each through the engine as if a client had sent the command, at the
/// operation's rate. Its progress is stored after each page.
///
/// If the process dies between a page and its progress, the page is found again but its calls no longer match. If
/// commands of that page have still to be executed then, the owner of a call executes one of two: an operation never
/// retries a call twice. Calls that were replayed still match; each new call has a key of its operation and its original,
/// under which only one is accepted.
final class BulkRunner: Sendable {
  /// The parts of the service that it uses.
  struct Surroundings: Sendable {
    var page: @Sendable (CallQuery) throws(StoreError) -> CallPage<CallID>
    /// Has the engine apply an action to these calls; the tally is passed on any thread.
    var perform: @Sendable (BulkOperation, [CallID], @escaping @Sendable (BulkBatch.Tally) -> Void) -> Void
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
    /// What was replayed of the page that an operation works on again. It is not submitted again, even if the new calls are
    /// removed meanwhile, and their keys with them.
    var replayed: [BulkOperationID: Set<CallID>] = [:]
    /// How often other instances have taken the operations over. Steps of an earlier term are void.
    var term: UInt64 = 0
    var isLeading: Bool
    /// Steps whose progress is not stored.
    var open = 0
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

  private let table: Mutex<Table>
  /// Signalled when it is stopping and no step is open.
  private let rested = DispatchSemaphore(value: 0)
  private let queue = DispatchQueue(label: "redial.bulk", qos: .utility)
  private let surroundings: Surroundings
  private let pause: Duration

  /// - Parameter isShared: Whether it runs operations only while this instance leads others.
  init(_ surroundings: Surroundings, pause: Duration = BulkRunner.pause, isShared: Bool = false) {
    table = Mutex(Table(isLeading: !isShared))
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

  /// The number of the time between two changes of the leader.
  var term: UInt64 { table.withLock { $0.term } }

  /// The term, if this instance leads in it.
  var leadsIn: UInt64? { table.withLock { $0.isLeading ? $0.term : nil } }

  /// Takes operations that are in the store, and continues those that have not ended. From now on this instance leads.
  ///
  /// - Parameter term: The term at a time before the operations were read or written.
  /// - Returns: False, and nothing is done, if that term is over.
  @discardableResult
  func take(
    _ operations: [BulkOperation], forgetting forgotten: [BulkOperationID] = [], in term: UInt64
  ) -> Bool {
    let new = table.withLock { table -> [BulkOperation]? in
      guard table.term == term else { return nil }
      table.isLeading = true
      let new = operations.filter { table.operations[$0.id] == nil }
      for operation in new { table.operations[operation.id] = operation }
      for id in forgotten { table.operations[id] = nil }
      return new
    }
    for operation in new ?? [] where !operation.state.isFinal { go(on: operation.id, in: term) }
    return new != nil
  }

  /// Records, on the store's lane, that a bulk operation is cancelled and that this is on disk. The current page is
  /// finished.
  ///
  /// - Returns: The operation, which may have been completed meanwhile, and stays so.
  func didCancel(_ operation: BulkOperation) -> BulkOperation {
    table.withLock { table in
      guard var current = table.operations[operation.id] else { return operation }
      if !current.state.isFinal {
        current.state = .cancelled
        current.finishedAt = operation.finishedAt
        current.done += table.replayed.removeValue(forKey: operation.id)?.count ?? 0
        table.operations[operation.id] = current
      }
      return current
    }
  }

  /// Drops all operations, because another instance runs them from now on. Their progress is in the store.
  func drop() {
    table.withLock {
      $0.operations = [:]
      $0.metOthers = [:]
      $0.replayed = [:]
      $0.term += 1
      $0.isLeading = false
    }
  }

  /// Begins no more pages, and waits until those that have begun are finished and counted, so that whoever continues
  /// finds the right counts.
  ///
  /// - Parameter bound: How long it waits at most.
  func stop(within bound: Duration) {
    let isBusy = table.withLock { table in
      table.isStopping = true
      return table.open > 0
    }
    if isBusy { _ = rested.wait(timeout: .now() + .microseconds(Int(bound.wholeMicroseconds))) }
  }

  /// Whether a stop has begun.
  var isStopping: Bool { table.withLock { $0.isStopping } }

  // MARK: Steps

  private func go(on id: BulkOperationID, in term: UInt64, after wait: Duration = .zero) {
    queue.asyncAfter(deadline: .now() + .microseconds(Int(wait.wholeMicroseconds))) { [weak self] in
      self?.step(id, in: term)
    }
  }

  private func step(_ id: BulkOperationID, in term: UInt64) {
    let operation = table.withLock { table -> BulkOperation? in
      guard table.term == term, !table.isStopping, let operation = table.operations[id], !operation.state.isFinal
      else { return nil }
      table.open += 1
      return operation
    }
    guard let operation else { return }
    do throws(StoreError) {
      if operation.state == .counting { try count(operation, in: term) } else { try work(operation, in: term) }
    } catch {
      close()
      go(on: id, in: term, after: pause)
    }
  }

  /// A step is over.
  private func close() {
    let hasRested = table.withLock { table in
      table.open -= 1
      return table.isStopping && table.open == 0
    }
    if hasRested { rested.signal() }
  }

  /// Counts more of the matching calls. A count that was interrupted begins again.
  private func count(_ operation: BulkOperation, in term: UInt64) throws(StoreError) {
    let query = CallQuery(
      operation.filter, before: operation.cursor, limit: Self.countSize, scanLimit: Self.scanLimit)
    let page = try surroundings.page(query)
    change(operation.id, in: term) { current in
      current.matched += page.calls.count
      current.cursor = page.next
      if page.next == nil, !current.state.isFinal { current.state = .running }
    }
    if page.next == nil { return keep(operation.id, in: term) }
    close()
    go(on: operation.id, in: term)
  }

  /// Applies the action to the next few calls.
  private func work(_ operation: BulkOperation, in term: UInt64) throws(StoreError) {
    let size = min(Self.pageSize, max(1, operation.request.ratePerSecond / Self.pagesPerSecond))
    let query = CallQuery(operation.filter, before: operation.cursor, limit: size, scanLimit: Self.scanLimit)
    let page = try surroundings.page(query)
    let began = surroundings.now()
    let finish = { @Sendable [weak self] (tally: BulkBatch.Tally) in
      guard let self else { return }
      queue.async { self.record(tally, of: page, for: operation.id, in: term, since: began) }
    }
    let replayed = table.withLock { $0.replayed[operation.id] ?? [] }
    let calls = page.calls.filter { !replayed.contains($0) }
    guard !calls.isEmpty else { return finish(BulkBatch.Tally()) }
    surroundings.perform(operation, calls, finish)
  }

  /// Records the results of a page, and goes on: with the next page, or with this one again.
  private func record(
    _ tally: BulkBatch.Tally, of page: CallPage<CallID>, for id: BulkOperationID, in term: UInt64, since: Timestamp
  ) {
    var rate = BulkOperation.rates.lowerBound
    // What is waited for is that one change of owners is over.
    if tally.elsewhere == 0 { table.withLock { $0.metOthers[id] = nil } }
    let isPassed = tally.unavailable == 0 && (tally.elsewhere == 0 || !waitsForOthers(id, in: term))
    let replayed = keepReplayed(tally.replayed, isPassed: isPassed, of: id, in: term)
    change(id, in: term) { current in
      rate = current.request.ratePerSecond
      // What was replayed is found again with its page, also after a crash, and counted when that has passed.
      current.done += tally.done - tally.replayed.count + replayed
      // If a page is examined again, calls that were changed no longer match; the others are tried again.
      guard isPassed else { return }
      current.skipped += tally.skipped + tally.elsewhere
      current.cursor = page.next
      guard page.next == nil, !current.state.isFinal else { return }
      current.state = .completed
      current.finishedAt = surroundings.now()
    }
    let due = Duration.microseconds(Int64(tally.count) * 1_000_000 / Int64(rate)) - (surroundings.now() - since)
    keep(id, in: term, after: isPassed ? max(.zero, due) : pause)
  }

  /// Notes what was replayed. Returns how many of it are to be counted: those of a page that has passed, or that nobody works
  /// on again.
  private func keepReplayed(
    _ new: Set<CallID>, isPassed: Bool, of id: BulkOperationID, in term: UInt64
  ) -> Int {
    table.withLock { table in
      guard table.term == term, let operation = table.operations[id], operation.request.action == .replay else {
        return 0
      }
      let all = (table.replayed[id] ?? []).union(new)
      let isOver = isPassed || operation.state.isFinal
      table.replayed[id] = isOver ? nil : all
      return isOver ? all.count : 0
    }
  }

  /// Whether to wait for calls that other instances run; counts how often that was asked.
  private func waitsForOthers(_ id: BulkOperationID, in term: UInt64) -> Bool {
    table.withLock { table in
      guard table.term == term else { return false }
      table.metOthers[id, default: 0] += 1
      return table.metOthers[id, default: 0] <= Self.looksForOthers
    }
  }

  /// Stores the progress, which ends the step, and continues when it is on disk.
  private func keep(_ id: BulkOperationID, in term: UInt64, after wait: Duration = .zero) {
    surroundings.store({ [weak self] in self?.operation(id, in: term) }) { [weak self] isStored in
      guard let self else { return }
      guard let operation = operation(id, in: term) else { return close() }
      // An end that is not on disk does not count: it is written again.
      if !isStored, !table.withLock({ $0.isStopping }) {
        return queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in self?.keep(id, in: term, after: wait) }
      }
      close()
      guard isStored else { return }
      guard operation.state.isFinal else { return go(on: id, in: term, after: wait) }
      table.withLock { $0.metOthers[id] = nil }
      surroundings.log("bulkOperationEnded", operation)
    }
  }

  /// An operation; nil if another instance has taken it over.
  private func operation(_ id: BulkOperationID, in term: UInt64) -> BulkOperation? {
    table.withLock { $0.term == term ? $0.operations[id] : nil }
  }

  private func change(_ id: BulkOperationID, in term: UInt64, _ change: (inout BulkOperation) -> Void) {
    table.withLock { table in
      guard table.term == term, var operation = table.operations[id] else { return }
      change(&operation)
      table.operations[id] = operation
    }
  }
}
