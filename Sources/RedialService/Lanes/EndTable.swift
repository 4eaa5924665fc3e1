internal import Dispatch
internal import RedialCore
internal import RedialModel
internal import Synchronization

/// Those who wait for calls to end, each for a time at most.
final class EndTable: Sendable {
  /// How a wait came out.
  enum Outcome: Sendable {
    /// The call has ended, and that is on disk.
    case ended
    /// It has not.
    case timedOut
  }

  /// One wait, so that it can be given up.
  struct Ticket: Sendable {
    fileprivate let call: CallID
    fileprivate let number: UInt64
  }

  private struct Waiter: Sendable {
    let number: UInt64
    let deadline: Timestamp
    let resume: @Sendable (Outcome) -> Void
  }

  private struct Table: Sendable {
    var waiters: [CallID: [Waiter]] = [:]
    var count = 0
    var last: UInt64 = 0
    var isSweeping = false
    var isClosed = false
  }

  /// Deadlines are kept to this.
  private static let sweepInterval = DispatchTimeInterval.milliseconds(50)

  private let table = Mutex(Table())
  /// How many wait: nearly always none, which is then all that a commit looks at.
  private let count = Atomic<Int>(0)
  private let limit: Int
  private let clock: Clock
  private let queue = DispatchQueue(label: "redial.waits")

  /// How many wait now.
  var waiting: Int { count.load(ordering: .relaxed) }

  /// - Parameter limit: The most who may wait at a time.
  init(limit: Int, clock: Clock) {
    self.limit = limit
    self.clock = clock
  }

  /// Waits for a call to end.
  ///
  /// - Parameters:
  ///   - deadline: Until when.
  ///   - resume: Called once, from any thread, unless the wait is given up.
  /// - Returns: Nil, and `resume` is never called, when too many wait or the service stops.
  func wait(
    for call: CallID, until deadline: Timestamp, _ resume: @escaping @Sendable (Outcome) -> Void
  ) -> Ticket? {
    let (ticket, startsSweep) = table.withLock { table -> (Ticket?, Bool) in
      guard table.count < limit, !table.isClosed else { return (nil, false) }
      table.last += 1
      table.waiters[call, default: []].append(Waiter(number: table.last, deadline: deadline, resume: resume))
      table.count += 1
      count.store(table.count, ordering: .releasing)
      defer { table.isSweeping = true }
      return (Ticket(call: call, number: table.last), !table.isSweeping)
    }
    if startsSweep { queue.asyncAfter(deadline: .now() + Self.sweepInterval) { self.sweep() } }
    return ticket
  }

  /// Gives a wait up.
  ///
  /// - Returns: Whether it was still on; otherwise `resume` has been called, or is about to be.
  func giveUp(_ ticket: Ticket) -> Bool {
    table.withLock { table in
      let before = table.count
      remove(from: &table, ticket.call) { $0.number == ticket.number }
      return table.count < before
    }
  }

  /// Resumes those who wait for calls that these changes, which are on disk, have ended.
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

  /// Resumes those who wait for these calls, whose end is on disk.
  func ended(_ ids: [CallID]) {
    guard count.load(ordering: .acquiring) > 0 else { return }
    let ended = table.withLock { table in ids.flatMap { remove(from: &table, $0) { _ in true } } }
    for waiter in ended { waiter.resume(.ended) }
  }

  /// Lets nobody wait any longer: the service stops.
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

  /// Resumes those whose time is up.
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
