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
    case running(CircuitBreaker.Permit, cancelledBy: [ReplyToken])
  }

  var record: CallRecord
  var target: Int
  var phase: Phase
  /// The cost of the attempt in flight in its target's retry budget.
  var withdrawal: RetryBudget.Withdrawal?
  /// Changes with the phase; timers with an older stamp are void. A stamp is never used twice in the engine's life,
  /// so that a call which comes back into memory does not meet timers of its earlier stay.
  var stamp: UInt32

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
