internal import RedialCore
internal import RedialModel

/// A call in the engine's memory.
struct ActiveCall: Sendable {
  /// What it is doing.
  enum Phase: Sendable {
    /// Its time has not come; a timer will tell. Leads to `ready`, or out of memory.
    case waiting
    /// It is in its target's queue. Leads to `running`, or out of memory.
    case ready
    /// An attempt is under way, with a permit of the target's breaker; these clients want it cancelled.
    /// Leads to `waiting`, or out of memory.
    case running(CircuitBreaker.Permit, cancelledBy: [ReplyToken])
  }

  var record: CallRecord
  var target: Int
  var phase: Phase
  /// What the attempt under way has cost its target's retry budget.
  var withdrawal: RetryBudget.Withdrawal?
  /// Changes with the phase; what was arranged under an older stamp is void. No two phases of the engine's life
  /// have the same, so that a call which comes back into memory does not meet timers of its earlier stay.
  var stamp: UInt32

  mutating func enter(_ next: Phase, stamp: UInt32) {
    phase = next
    self.stamp = stamp
  }

  /// Whether it is a client's call in a lane of webhooks.
  var isStrangerInLane: Bool { record.kind == .call && record.spec.isInWebhookLane }

  var isRunning: Bool {
    if case .running = phase { true } else { false }
  }
}
