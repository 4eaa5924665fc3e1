internal import Dispatch
internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Estimates at intervals how many calls of each backlog will miss their deadlines, for the log, `/metrics` and lists of
/// targets: so a scrape costs no query.
///
/// Only the targets with the longest backlogs are looked at, as many as have metrics of their own.
final class DeadlineWatch: Sendable {
  /// Deadlines that are read of one queue; see ``DeadlineForecast``.
  static let mostRead = 1000

  /// How many targets are looked at.
  let limit: Int
  private let interval: Duration
  private let reader: any CallReader
  private let log: Log
  private let queue = DispatchQueue(label: "redial.deadlines", qos: .utility)
  private let isStopped = Atomic(false)
  private let latest = Mutex<[TargetKey: DeadlineForecast]>([:])

  /// - Parameters:
  ///   - limit: How many targets are looked at.
  ///   - interval: The time between two looks.
  init(reader: any CallReader, limit: Int, every interval: Duration, log: Log) {
    self.reader = reader
    self.limit = limit
    self.interval = interval
    self.log = log
  }

  /// Asks for a look after each interval, until ``stop()``.
  func start(_ ask: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: .now() + .microseconds(Int(interval.wholeMicroseconds))) { [weak self] in
      guard let self, !isStopped.load(ordering: .relaxed) else { return }
      ask()
      start(ask)
    }
  }

  /// Ends the looks, and waits for one that reads the store.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    queue.sync {}
  }

  /// A target with the estimate for its whole backlog: in memory, which the engine knows, and in the store.
  static func estimated(_ target: TargetSnapshot, by reader: any CallReader) throws(StoreError) -> TargetSnapshot {
    guard target.backlog.deadlines != nil, target.storedCalls > 0 else { return target }
    var target = target
    let deadlines = try reader.deadlines(of: target.key, limit: mostRead)
    target.backlog.deadlines?.add(deadlines.first, last: deadlines.last, count: target.storedCalls, at: target.time)
    return target
  }

  /// Looks at the targets with the longest backlogs.
  func look(_ targets: [TargetSnapshot]) {
    queue.async { [self] in
      guard !isStopped.load(ordering: .relaxed) else { return }
      var found: [TargetKey: DeadlineForecast] = [:]
      do throws(StoreError) {
        for target in targets where target.backlog.deadlines != nil {
          found[target.key] = try Self.estimated(target, by: reader).backlog.deadlines
        }
      } catch {
        log.write(.error, "deadlineWatchFailed", [("error", error.message)])
        return
      }
      let before = latest.withLock { latest in
        defer { latest = found }
        return latest
      }
      report(found, before)
    }
  }

  /// Logs what has begun, and what is over.
  private func report(_ found: [TargetKey: DeadlineForecast], _ before: [TargetKey: DeadlineForecast]) {
    for (key, forecast) in found.sorted(by: { $0.key < $1.key }) {
      let (was, isNow) = (before[key]?.missing ?? 0, forecast.missing)
      if was == 0, isNow > 0 {
        log.write(
          .warning, "backlogMissesDeadlines",
          [
            ("target", key.bare), ("namespace", key.namespace.name), ("calls", "\(isNow)"),
            ("perSecond", "\(forecast.shownRate)"),
            ("meaning", "at this rate about so many calls will not be attempted before their deadlines"),
          ])
      } else if was > 0, isNow == 0 {
        log.write(
          .info, "backlogMeetsDeadlines", [("target", key.bare), ("namespace", key.namespace.name)])
      }
    }
  }

  /// The latest estimate for a target; nil if there is none.
  subscript(key: TargetKey) -> DeadlineForecast? { latest.withLock { $0[key] } }

  /// The metrics of the latest look.
  var family: MetricFamily {
    var family = MetricFamily(
      "redial_target_missed_deadlines", .gauge,
      "Calls of the target's backlog that will miss their deadlines at the current rate; the busiest targets, without those whose rate is unknown."
    )
    for (key, forecast) in latest.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      family.add(TargetFigures.labels(key), forecast.missing)
    }
    return family
  }
}
