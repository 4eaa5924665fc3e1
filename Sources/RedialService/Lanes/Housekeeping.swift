internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The work that nobody asks for: it removes expired data from the store, examines the store at intervals, and returns
/// free memory to the system.
final class Housekeeping: Sendable {
  let watch: StoreWatch
  private let watchInterval: Duration
  private let heap: HeapTrimming
  private let retention: Retention
  private let clock: Clock
  private let log: Log
  private let metrics: Metrics

  init(_ settings: ServiceSettings, reader: any CallReader, clock: Clock, log: Log, metrics: Metrics) {
    watch = StoreWatch(reader: reader)
    watchInterval = settings.storeWatchInterval
    heap = HeapTrimming(keptBytes: settings.keptFreeBytes)
    retention = settings.retention
    (self.clock, self.log, self.metrics) = (clock, log, metrics)
  }

  /// Starts to work.
  ///
  /// - Parameters:
  ///   - audit: Called with the due calls that the store shows in an engine's memory.
  ///   - erased: Called, on the lane, with erasures that are on disk.
  func start(
    on lane: StoreLane, audit: @escaping @Sendable ([HeldCall]) -> Void,
    erased: @escaping @Sendable ([StoreWrite]) -> Void
  ) {
    lane.tidy(retention, now: { [clock] in clock.now }) { [log, metrics] result in
      switch result {
      case .success(let step):
        metrics.count { $0.removed += step.removed }
        if !step.erased.isEmpty { erased(step.erased) }
      case .failure(let error): log.write(.error, "tidyFailed", [("error", error.message)])
      }
    }
    heap.start()
    watch.start(every: watchInterval, now: { [clock] in clock.now }, audit: audit) { [log] result in
      switch result {
      case .success(let finding):
        log.write(
          .error, "storeFinding",
          [("check", finding.check.rawValue), ("count", "\(finding.count)"), ("meaning", finding.check.meaning)])
      case .failure(let error): log.write(.error, "storeWatchFailed", [("error", error.message)])
      }
    }
  }

  /// Ends all work, so that the store can be closed.
  func stop(on lane: StoreLane?) {
    watch.stop()
    heap.stop()
    lane?.stopTidying()
  }
}
