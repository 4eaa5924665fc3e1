internal import RedialCore
internal import RedialModel

/// A call in the engine's memory.
struct ActiveCall: Sendable {
  /// Its phase.
  enum Phase: Sendable {
    /// It waits for its time; a timer fires then. Leads to `ready`, or out of memory.
    case waiting
    /// It is in its target's queue. Leads to `running`, or out of memory.
    case ready
    /// An attempt is in flight, with a permit of the target's breaker; these clients want it cancelled. Leads to
    /// `waiting`, or out of memory.
    case running(CircuitBreaker.Permit, cancelledBy: [ReplyToken<CallCommand.Reply>])
  }

  var record: CallRecord
  let target: Int
  private(set) var phase: Phase
  /// The cost of the attempt in flight in its target's retry budget.
  var withdrawal: RetryBudget.Withdrawal?
  /// The round of the target's pace in which the attempt in flight started.
  var paceTicket: AdaptivePace.Ticket?
  /// The connection of the attempt in flight.
  var connection: OriginTable.Connection?
  /// Whether the attempt in flight counts among the slots of its caller.
  var holdsCallerSlot = false
  /// Changes with the phase; timers with an older stamp are void. A stamp is never used twice in the engine's life,
  /// so that a call which comes back into memory does not meet timers of its earlier stay.
  private(set) var stamp: UInt32

  init(record: consuming CallRecord, target: Int, stamp: UInt32) {
    self.record = record
    self.target = target
    self.stamp = stamp
    phase = .waiting
  }

  /// A client wants the attempt in flight cancelled. The stamp stays: it is the same attempt.
  mutating func cancel(for reply: ReplyToken<CallCommand.Reply>) {
    guard case .running(let permit, let cancelledBy) = phase else { return }
    phase = .running(permit, cancelledBy: cancelledBy + [reply])
  }

  /// Takes out the cost of the attempt in flight, which was never made.
  mutating func takeWithdrawal() -> RetryBudget.Withdrawal? {
    defer { withdrawal = nil }
    return withdrawal
  }

  /// Takes out the connection of the attempt in flight, which has ended.
  mutating func takeConnection() -> OriginTable.Connection? {
    defer { connection = nil }
    return connection
  }

  /// Enters the next phase.
  mutating func enter(_ next: Phase, stamp: UInt32) {
    phase = next
    self.stamp = stamp
  }

  /// Whether it is a client's call to a target of webhooks.
  var isStrangerInLane: Bool { record.kind == .call && record.spec.isInWebhookLane }

  var isRunning: Bool {
    if case .running = phase { true } else { false }
  }
}
