internal import Dispatch
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Carries bulk operations out: a page of calls at a time, each through the engine as if a client had asked for it, at
/// the operation's pace, with its progress on disk behind each page.
///
/// What was done and not yet noted when the process died is found again, and does not fit any more: an operation never
/// runs a call again twice.
final class BulkRunner: Sendable {
  /// What it needs of the service.
  struct Surroundings: Sendable {
    /// A page of calls.
    var page: @Sendable (CallQuery) throws(StoreError) -> CallPage<CallID>
    /// Has the engine do this to these calls; the tally comes from any thread.
    var perform:
      @Sendable (Operation.Kind, [CallID], Namespace, Attribution, @escaping @Sendable (BulkBatch.Tally) -> Void) ->
        Void
    /// Stores an operation's progress, as it is when the store comes to it; tells from any thread whether it is on disk.
    var store:
      @Sendable (_ current: @escaping @Sendable () -> BulkOperation?, @escaping @Sendable (Bool) -> Void) -> Void
    /// What people should know.
    var log: @Sendable (_ event: StaticString, BulkOperation) -> Void
    var now: @Sendable () -> Timestamp
  }

  private struct Table: Sendable {
    var operations: [BulkOperationID: BulkOperation] = [:]
    /// How often an operation has come upon calls that other instances run.
    var metOthers: [BulkOperationID: Int] = [:]
    var isStopping = false
  }

  /// Calls of a page at most.
  static let pageSize = 100
  /// Pages a second at least, so that a slow pace is an even one.
  private static let pagesPerSecond = 10
  /// Calls that are looked at for a page at most.
  private static let scanLimit = 5000
  /// Calls that are counted at a time.
  private static let countSize = 1000
  /// How long it waits when the service cannot do anything.
  static let pause = Duration.seconds(1)
  /// How often an operation looks again for calls that other instances run to become this one's: for longer than a target
  /// is nobody's after an instance has died. Then they are skipped; whoever sees that can ask their instances.
  static let looksForOthers = 30
  /// Operations that have ended and are remembered.
  static let maximumEnded = 1000

  private let table = Mutex(Table())
  private let queue = DispatchQueue(label: "redial.bulk", qos: .utility)
  private let surroundings: Surroundings
  private let pause: Duration

  init(_ surroundings: Surroundings, pause: Duration = BulkRunner.pause) {
    self.surroundings = surroundings
    self.pause = pause
  }

  // MARK: What is asked of it

  /// Every operation, the newest first.
  var all: [BulkOperation] { table.withLock { $0.operations.values.sorted { $0.id > $1.id } } }

  /// How many of a namespace have not ended.
  func unfinished(in namespace: Namespace) -> Int {
    table.withLock { table in
      table.operations.values.count { !$0.state.isFinal && $0.namespace == namespace }
    }
  }

  /// An operation.
  func operation(_ id: BulkOperationID) -> BulkOperation? { table.withLock { $0.operations[id] } }

  /// An identity that is above all others, and the operations of the namespace that are to be forgotten for it.
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

  /// Takes operations over that are in the store, and goes on with those that have not ended.
  func take(_ operations: [BulkOperation], forgetting forgotten: [BulkOperationID] = []) {
    table.withLock { table in
      for operation in operations { table.operations[operation.id] = operation }
      for id in forgotten { table.operations[id] = nil }
    }
    for operation in operations where !operation.state.isFinal { go(on: operation.id, after: .zero) }
  }

  /// Notes, on the store's lane, that a bulk operation is cancelled; that is on disk. The page in work is finished.
  func didCancel(_ operation: BulkOperation) {
    change(operation.id) { current in
      current.state = .cancelled
      current.finishedAt = operation.finishedAt
    }
  }

  /// Begins nothing more.
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

  /// Counts some more of the calls that are meant. A count that was cut off begins anew.
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

  /// Does it to the next few calls.
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
      // Of a page that is looked at again, those that are known fit no more; the others are tried again.
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

  /// Whether it is worth while to wait for calls that other instances run; counts how often that was asked.
  private func waitsForOthers(_ id: BulkOperationID) -> Bool {
    table.withLock { table in
      table.metOthers[id, default: 0] += 1
      return table.metOthers[id, default: 0] <= Self.looksForOthers
    }
  }

  /// Stores how far it is, and goes on once that is on disk.
  private func keep(_ id: BulkOperationID, after wait: Duration = .zero) {
    surroundings.store({ [weak self] in self?.operation(id) }) { [weak self] isStored in
      guard let self, let operation = operation(id) else { return }
      if operation.state.isFinal, isStored {
        table.withLock { $0.metOthers[id] = nil }
        return surroundings.log("bulkOperationEnded", operation)
      }
      if isStored { return go(on: id, after: wait) }
      // An end that is not on disk is no end: it is written again.
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
  /// What the engine is asked for.
  fileprivate var kind: Operation.Kind {
    switch self {
    case .retry, .release: .retry
    case .cancel: .cancel
    case .purge: .purge
    }
  }
}

extension BulkRunner.Surroundings {
  /// What a running service gives.
  init(_ runtime: Runtime) {
    self.init(
      page: { [reader = runtime.reader] query throws(StoreError) in try reader.ids(query) },
      perform: { [weak runtime] kind, calls, namespace, attribution, finish in
        runtime?.perform(kind, on: calls, in: namespace, attribution, finish: finish)
      },
      store: { [weak runtime] current, then in runtime?.keep({ current().map { .operation($0) } }, then: then) },
      log: { [log = runtime.log] event, operation in
        log.write(
          .info, event,
          [
            ("operation", "\(operation.id)"), ("action", operation.request.action.name),
            ("state", operation.state.name), ("done", "\(operation.done)"), ("skipped", "\(operation.skipped)"),
          ])
      },
      now: { [clock = runtime.clock] in clock.now })
  }
}
