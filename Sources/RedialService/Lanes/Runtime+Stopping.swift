internal import Dispatch
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialTransport
internal import Synchronization

/// How the service ends.
extension Runtime {
  /// Starts nothing more, waits for what is under way, aborts it when that takes too long, and closes the store.
  func drain(within bound: Duration) {
    ends.close()
    events.close()
    post(CollectionOfOne(.drain))
    let microseconds = Int(bound.wholeMicroseconds)
    var isOver = true
    if drained.wait(timeout: .now() + .microseconds(microseconds)) == .timedOut {
      let left = underWay.withLock { $0.count }
      log.write(.warning, "drainTimedOut", [("interrupted", "\(left)")])
      transport?.shutdown()
      // What was aborted is recorded as interrupted; a store that does not answer does not keep the process.
      isOver = drained.wait(timeout: .now() + .seconds(2)) == .success
    } else {
      transport?.shutdown()
    }
    endStatistics()
    // A lane that did not end in its time still reaches for this when it does, and it may be the last that happens
    // before the process exits.
    if !closeStore(isDrained: isOver) || !isOver { _ = Unmanaged.passRetained(self) }
    spans?.close()
  }

  /// Ends what has not begun.
  func abandon() {
    statistics.stop()
    transport?.shutdown()
    _ = closeStore(isDrained: false)
  }

  /// Closes the store behind everything that was asked of it; false when it does not come to that in its time.
  private func closeStore(isDrained: Bool) -> Bool {
    watch.stop()
    heap.stop()
    storeLane?.stopTidying()
    let closed = DispatchSemaphore(value: 0)
    storeLane?.afterwards { [log] store in
      if isDrained {
        do throws(StoreError) {
          try store.leave()
        } catch {
          // Whoever comes next takes it over as from a process that was killed.
          log.write(.warning, "leaseNotReturned", [("error", error.message)])
        }
      }
      store.close()
      closed.signal()
    }
    return closed.wait(timeout: .now() + .seconds(2)) == .success
  }
}
