internal import RedialCore
internal import RedialModel

/// A call in the engine's memory.
struct ActiveCall: Sendable {
  enum Phase: Sendable {
    /// It waits for its time; a timer fires then. Leads to `ready`, or out of memory.
    case waiting
    /// It is in its target's queue. Leads to `running`, or out of memory.
    case ready
    /// An attempt is in flight; these clients want it cancelled. Leads to `waiting`, or out of memory.
    case running(Flight, cancelledBy: [ReplyToken<CallCommand.Reply>])
  }

  /// What an attempt in flight has taken, and gives back at its end.
  struct Flight: Sendable {
    /// The permit of the target's breaker.
    let permit: CircuitBreaker.Permit
    /// The round of the target's pace in which it started; nil if it has none.
    let paceTicket: AdaptivePace.Ticket?
    /// Its cost in the target's retry budget.
    let withdrawal: RetryBudget.Withdrawal?
    let connection: OriginTable.Connection
    /// Its callers, if it counts among their slots.
    let callers: SlotHolders?
    /// What held it back; nil if nothing did for long.
    let held: HeldTimes?
    /// Since when it was due.
    let due: Timestamp
    /// What it waited for before that.
    let waiting: WaitReason?
  }

  var record: CallRecord
  let target: Int
  private(set) var phase: Phase
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
    guard case .running(let flight, let cancelledBy) = phase else { return }
    phase = .running(flight, cancelledBy: cancelledBy + [reply])
  }

  /// Enters the next phase.
  mutating func enter(_ next: Phase, stamp: UInt32) {
    if case .running = next { precondition(!isRunning, "A call has two attempts in flight.") }
    phase = next
    self.stamp = stamp
  }

  /// Whether it is a client's call to a target of webhooks.
  var isStrangerInLane: Bool { record.kind == .call && record.spec.isInWebhookLane }

  /// Whether it is in its target's queue.
  var isReady: Bool {
    if case .ready = phase { true } else { false }
  }

  var isRunning: Bool {
    if case .running = phase { true } else { false }
  }
}
