internal import Dispatch
internal import RedialCore
internal import RedialModel
internal import Synchronization

/// How a client waits for a call to end.
struct EndWait: Sendable {
  /// For how long.
  var bound: Duration
  /// Returns why it may not go on: its API key was revoked. Nil while it may.
  let mayGoOn: @Sendable () -> Problem?

  /// The rest of a wait that began at a time.
  func left(at now: Timestamp, since start: Timestamp) -> EndWait {
    EndWait(bound: max(.zero, bound - (now - start)), mayGoOn: mayGoOn)
  }
}

/// Clients that wait for calls to end, each for a limited time.
final class EndTable: Sendable {
  /// The result of a wait.
  enum Outcome: Sendable {
    /// The call has ended, and that is on disk.
    case ended
    /// The call has not ended.
    case timedOut
  }

  /// Identifies a wait, so that it can be cancelled.
  struct Ticket: Sendable {
    fileprivate let call: CallID
    fileprivate let number: UInt64
  }

  private struct Waiter: Sendable {
    let number: UInt64
    let deadline: Timestamp
    let mayGoOn: @Sendable () -> Problem?
    let resume: @Sendable (Outcome) -> Void
  }

  private struct Table: Sendable {
    var waiters: [CallID: [Waiter]] = [:]
    var count = 0
    var last: UInt64 = 0
    var isSweeping = false
    var isClosed = false
  }

  /// The precision of deadlines.
  private static let sweepInterval = DispatchTimeInterval.milliseconds(50)

  private let table = Mutex(Table())
  /// The number of waits. It is nearly always 0, and then a commit checks nothing else.
  private let count = Atomic<Int>(0)
  private let limit: Int
  private let clock: Clock
  private let queue = DispatchQueue(label: "redial.waits")

  /// The number of waits now.
  var waiting: Int { count.load(ordering: .relaxed) }

  /// The calls that somebody waits for.
  var waited: [CallID] { table.withLock { Array($0.waiters.keys) } }

  /// - Parameter limit: The maximum number of waits at a time.
  init(limit: Int, clock: Clock) {
    self.limit = limit
    self.clock = clock
  }

  /// Waits for a call to end.
  ///
  /// - Parameters:
  ///   - deadline: The end of the wait.
  ///   - mayGoOn: Returns why it may not go on; nil while it may.
  ///   - resume: Called once, from any thread, unless the wait is cancelled.
  /// - Returns: Nil, and `resume` is never called, if too many wait or the service stops.
  func wait(
    for call: CallID, until deadline: Timestamp, while mayGoOn: @escaping @Sendable () -> Problem? = { nil },
    _ resume: @escaping @Sendable (Outcome) -> Void
  ) -> Ticket? {
    let (ticket, startsSweep) = table.withLock { table -> (Ticket?, Bool) in
      guard table.count < limit, !table.isClosed else { return (nil, false) }
      table.last += 1
      table.waiters[call, default: []].append(
        Waiter(number: table.last, deadline: deadline, mayGoOn: mayGoOn, resume: resume))
      table.count += 1
      count.store(table.count, ordering: .releasing)
      defer { table.isSweeping = true }
      return (Ticket(call: call, number: table.last), !table.isSweeping)
    }
    if startsSweep { queue.asyncAfter(deadline: .now() + Self.sweepInterval) { self.sweep() } }
    return ticket
  }

  /// Cancels a wait.
  ///
  /// - Returns: Whether it had not ended; otherwise `resume` has been called, or is about to be.
  func giveUp(_ ticket: Ticket) -> Bool {
    table.withLock { table in
      let before = table.count
      remove(from: &table, ticket.call) { $0.number == ticket.number }
      return table.count < before
    }
  }

  /// Resumes the waits for calls that have ended with these changes, which are on disk.
  func committed(_ writes: [StoreWrite]) {
    guard count.load(ordering: .acquiring) > 0 else { return }
    var ended: [Waiter] = []
    table.withLock { table in
      for case .update(let id, let progress, _) in writes where progress.state.isFinal {
        ended += remove(from: &table, id) { _ in true }
      }
    }
    for waiter in ended { waiter.resume(.ended) }
  }

  /// Resumes the waits for these calls, whose end is on disk.
  func ended(_ ids: [CallID]) {
    guard count.load(ordering: .acquiring) > 0 else { return }
    let ended = table.withLock { table in ids.flatMap { remove(from: &table, $0) { _ in true } } }
    for waiter in ended { waiter.resume(.ended) }
  }

  /// Ends the waits of those who may not go on.
  func dismissTheRefused() {
    // A key is looked up without the table's lock.
    for (call, waiters) in table.withLock({ $0.waiters }) {
      for waiter in waiters where waiter.mayGoOn() != nil && giveUp(Ticket(call: call, number: waiter.number)) {
        waiter.resume(.timedOut)
      }
    }
  }

  /// Ends all waits: the service stops.
  func close() {
    let left = table.withLock { table in
      table.isClosed = true
      let left = table.waiters.values.flatMap { $0 }
      table.waiters = [:]
      table.count = 0
      count.store(0, ordering: .releasing)
      return left
    }
    for waiter in left { waiter.resume(.timedOut) }
  }

  /// Resumes the waits whose deadline has passed.
  private func sweep() {
    let now = clock.now
    let (late, goesOn) = table.withLock { table in
      var late: [Waiter] = []
      for call in Array(table.waiters.keys) { late += remove(from: &table, call) { $0.deadline <= now } }
      table.isSweeping = table.count > 0
      return (late, table.isSweeping)
    }
    for waiter in late { waiter.resume(.timedOut) }
    if goesOn { queue.asyncAfter(deadline: .now() + Self.sweepInterval) { self.sweep() } }
  }

  @discardableResult
  private func remove(from table: inout Table, _ call: CallID, _ isOut: (Waiter) -> Bool) -> [Waiter] {
    guard let waiters = table.waiters[call] else { return [] }
    let out = waiters.filter(isOut)
    guard !out.isEmpty else { return [] }
    let left = waiters.filter { !isOut($0) }
    table.waiters[call] = left.isEmpty ? nil : left
    table.count -= out.count
    count.store(table.count, ordering: .releasing)
    return out
  }
}
