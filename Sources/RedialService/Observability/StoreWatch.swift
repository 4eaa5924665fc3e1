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

  /// The metrics of the latest examination, in the Prometheus text exposition format; none before the first.
  func exposition() -> String {
    guard let figures = latest.withLock({ $0 }) else { return "" }
    var text = ""
    func family(_ name: String, _ help: String, _ lines: [String]) {
      text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n"
      for line in lines { text += "\(name)\(line)\n" }
    }
    family(
      "redial_store_findings", "Overdue and stuck calls, as redial doctor counts them; must be 0.",
      figures.findings.map { "{check=\"\($0.check.rawValue)\"} \($0.count)" })
    family(
      "redial_store_finished_calls", "Finished calls in the store, by kind and state.",
      CallKind.allCases.flatMap { kind in
        [CallState.succeeded, .failed, .cancelled].map { state in
          let count = figures.usage.finished.first { $0.kind == kind && $0.state == state }?.count ?? 0
          return "{kind=\"\(kind.name)\",state=\"\(state.rawValue)\"} \(count)"
        }
      })
    family("redial_store_used_bytes", "Bytes of the store that are in use.", [" \(figures.usage.usedBytes)"])
    family(
      "redial_store_free_bytes", "Bytes that removed calls left in the store's file.", [" \(figures.usage.freeBytes)"])
    return text
  }
}
