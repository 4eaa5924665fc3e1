internal import RedialEngine
internal import RedialModel
internal import Synchronization

/// How calls are found that the store shows in memory, and that no engine has. Nothing but a fault of the service makes
/// such a call. It would wait for the next start; so it is reported and reclaimed.
final class MemoryAudit: Sendable {
  private let findings = Mutex(AuditFindings())
  private let engine: EngineLane
  private let waiting: ReplyTables
  private let metrics: Metrics
  private let log: Log

  init(_ engine: EngineLane, _ waiting: ReplyTables, _ metrics: Metrics, _ log: Log) {
    (self.engine, self.waiting, self.metrics, self.log) = (engine, waiting, metrics, log)
  }

  /// Compares the store with the engine's memory.
  ///
  /// - Parameter held: Due calls that the store shows in memory.
  func compare(_ held: [HeldCall]) {
    engine.ask {
      $0.missing(among: held)
    } then: { [self] missing in
      for call in findings.withLock({ $0.add(missing) }) {
        let token = waiting.commands.add(.audit(call))
        engine.post(.command(CallCommand(.reclaim, call.id, in: call.target.namespace, reply: token)))
      }
    }
  }

  /// A call is in memory again.
  func reclaimed(_ call: HeldCall) {
    metrics.count { $0.reclaimed += 1 }
    log.write(
      .error, "callReclaimed",
      [
        ("callId", "\(call.id)"), ("target", call.target.bare),
        ("meaning", "the store had it in memory, and no engine did, which is a fault of Redial; it goes on now"),
      ])
  }
}
