internal import Dispatch
internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Examines the store at intervals, on one of its read connections, for `/metrics`: so a scrape costs no query.
///
/// `@unchecked Sendable`: `start` sets `timer` once, before anything else can see it; everything else is constant or
/// locked.
final class StoreWatch: @unchecked Sendable {
  private let reader: any CallReader
  private let queue = DispatchQueue(label: "redial.watch", qos: .utility)
  private let latest = Mutex<Figures?>(nil)
  private var timer: (any DispatchSourceTimer)?

  private struct Figures: Sendable {
    var usage: StoreUsage
    var findings: [StoreFinding]
  }

  init(reader: any CallReader) {
    self.reader = reader
  }

  /// Examines now, and then at intervals.
  ///
  /// - Parameters:
  ///   - now: The clock of the calls' due times.
  ///   - audit: Called with the due calls that the store shows in an engine's memory.
  ///   - report: Called with a problem if the previous examination did not find it.
  func start(
    every interval: Duration, now: @escaping @Sendable () -> Timestamp,
    audit: @escaping @Sendable ([HeldCall]) -> Void,
    report: @escaping @Sendable (Result<StoreFinding, StoreError>) -> Void
  ) {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler { [weak self] in self?.look(at: now(), audit, report) }
    timer.schedule(deadline: .now(), repeating: .microseconds(Int(interval.wholeMicroseconds)))
    self.timer = timer
    timer.activate()
  }

  /// Ends the examinations.
  func stop() {
    timer?.cancel()
  }

  private func look(
    at now: Timestamp, _ audit: ([HeldCall]) -> Void, _ report: (Result<StoreFinding, StoreError>) -> Void
  ) {
    do throws(StoreError) {
      let usage = try reader.usage()
      let late = try reader.lateness(at: now)
      audit(late.held)
      let figures = Figures(usage: usage, findings: late.findings)
      let before = latest.withLock { latest in
        defer { latest = figures }
        return latest
      }
      for finding in figures.findings where finding.count > 0 {
        let known = before?.findings.first { $0.check == finding.check }?.count ?? 0
        if known == 0 { report(.success(finding)) }
      }
    } catch {
      report(.failure(error))
    }
  }

  /// The findings of the latest examination; nil before the first.
  var latestFindings: [StoreFinding]? { latest.withLock { $0?.findings } }

  /// The metrics of the latest examination; none before the first.
  var families: [MetricFamily] {
    guard let figures = latest.withLock({ $0 }) else { return [] }
    var findings = MetricFamily(
      "redial_store_findings", .gauge, "Overdue and stuck calls, as redial doctor counts them; must be 0.")
    for finding in figures.findings {
      findings.add([MetricFamily.Label("check", finding.check.rawValue)], finding.count)
    }
    var finished = MetricFamily(
      "redial_store_finished_calls", .gauge, "Finished calls in the store, by kind and state.")
    for kind in CallKind.allCases {
      for state in [CallState.succeeded, .failed, .cancelled] {
        let count = figures.usage.finished.first { $0.kind == kind && $0.state == state }?.count ?? 0
        finished.add(
          [MetricFamily.Label("kind", "\(kind.name)"), MetricFamily.Label("state", state.rawValue)], count)
      }
    }
    return [
      findings, finished,
      MetricFamily(
        "redial_store_used_bytes", .gauge, "Bytes of the store that are in use.", Double(figures.usage.usedBytes)),
      MetricFamily(
        "redial_store_free_bytes", .gauge, "Bytes that removed calls left in the store's file.",
        Double(figures.usage.freeBytes)),
    ]
  }
}
