internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// What the store reports by itself.
extension Runtime {
  /// Acts on the notices of the store.
  ///
  /// - Parameter reserveBytes: The size of the store's reserve on the disk.
  func receive(_ notices: StoreNotices, reserveBytes: Int) {
    // Weak: the store's lane may still run when the service is gone.
    notices.receive { [weak self, log] notice in
      switch notice {
      case .damaged(let id, let error):
        self?.metrics.count { $0.damaged += 1 }
        log.write(.error, "callDamaged", [("callId", id.description), ("error", error.message)])
      case .setAside(let calls): self?.didSetAside(calls)
      case .checkpoint(let failure):
        self?.metrics.count { $0.isCheckpointFailing = failure != nil }
        if let failure {
          log.write(.error, "checkpointFailed", [("error", failure.message)])
        } else {
          log.write(.info, "checkpointSucceeded")
        }
      case .shortage(let isShort):
        self?.post(.room(isShort: isShort))
        if isShort {
          log.write(
            .error, "reserveReleased",
            [
              ("bytes", "\(reserveBytes)"),
              ("meaning", "the disk is full; new calls are refused until it has room"),
            ])
        } else {
          log.write(.info, "reserveTaken", [("bytes", "\(reserveBytes)")])
        }
      case .clockSetBack(let shift, let calls):
        log.write(
          .warning, "clockSetBack",
          [
            ("seconds", "\(shift.inSeconds)"), ("calls", "\(calls)"),
            ("meaning", "the clock was ahead; these calls wait by the time of now"),
          ])
      case .misplaced(let failure):
        self?.post(.storeMisplaced(failure != nil))
        if let failure {
          log.write(.error, "storeMisplaced", [("error", failure.message)])
        } else {
          log.write(.info, "storeInPlace")
        }
      }
    }
  }

  /// Reports that the store has ended damaged calls by itself. That is on disk.
  private func didSetAside(_ calls: [(id: CallID, namespace: Namespace)]) {
    metrics.countSetAside(calls.count)
    post(calls.map { .setAside(1, in: $0.namespace) })
    ends.ended(calls.map(\.id))
  }
}
