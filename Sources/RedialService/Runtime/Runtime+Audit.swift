internal import RedialEngine
internal import RedialModel
internal import Synchronization

/// How calls are found that the store shows in memory, and that no engine has. Nothing but a fault of the service makes
/// such a call. It would wait for the next start; so it is reported and reclaimed.
extension Runtime {
  /// Compares the store with the engine's memory.
  ///
  /// - Parameter held: Due calls that the store shows in memory.
  func audit(_ held: [HeldCall]) {
    ask {
      $0.missing(among: held)
    } then: { [weak self] in
      self?.audited(missing: $0)
    }
  }

  private func audited(missing: [HeldCall]) {
    for call in auditFindings.withLock({ $0.add(missing) }) {
      let token = replies.commands.add(.audit(call))
      post(.command(CallCommand(.reclaim, call.id, in: call.target.namespace, reply: token)))
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
