internal import Dispatch
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialTransport
internal import Synchronization

/// How the service ends.
extension Runtime {
  /// How long a stop waits for a store that does not answer, each time.
  static let storePatience = Duration.seconds(2)

  /// Starts nothing more, waits for attempts in flight, aborts them after `bound`, and closes the store.
  func drain(within bound: Duration, storePatience: Duration = Runtime.storePatience) {
    ends.close()
    events.close()
    forecastWatch.stop()
    post(.drain)
    var isOver = true
    if drained.wait(timeout: .now() + .microseconds(Int(bound.wholeMicroseconds))) == .timedOut {
      let left = attemptLane?.inFlight ?? 0
      log.write(.warning, "drainTimedOut", [("interrupted", "\(left)")])
      attemptLane?.shutdown()
      // Aborted attempts are recorded as interrupted. A store that does not answer does not keep the process alive.
      isOver = drained.wait(timeout: .now() + .microseconds(Int(storePatience.wholeMicroseconds))) == .success
    } else {
      attemptLane?.shutdown()
    }
    forwardLane?.shutdown()
    endWatch?.shutdown()
    endStatistics()
    // A lane that did not end in time still uses this object when it does, perhaps just before the process exits.
    if !closeStore(isDrained: isOver, within: storePatience) || !isOver { _ = Unmanaged.passRetained(self) }
    tracer?.close()
    spans?.close()
  }

  /// Ends a runtime that has not begun.
  func abandon() {
    statistics.stop()
    forecastWatch.stop()
    attemptLane?.shutdown()
    forwardLane?.shutdown()
    endWatch?.shutdown()
    _ = closeStore(isDrained: false)
  }

  /// Closes the store after all earlier requests; false if it does not get there in time.
  private func closeStore(isDrained: Bool, within patience: Duration = Runtime.storePatience) -> Bool {
    housekeeping.stop(on: storeLane)
    deadlines.stop()
    let closed = DispatchSemaphore(value: 0)
    storeLane?.afterwards { [log, clock] store in
      if isDrained {
        do throws(StoreError) {
          try store.leave(at: clock.now)
        } catch {
          // The next process takes over as after a kill.
          log.write(.warning, "leaseNotReturned", [("error", error.message)])
        }
      }
      store.close()
      closed.signal()
    }
    return closed.wait(timeout: .now() + .microseconds(Int(patience.wholeMicroseconds))) == .success
  }
}
