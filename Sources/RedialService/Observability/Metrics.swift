internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialTransport
internal import Synchronization

/// The counters for `/metrics`. They are counted in batches, under one lock.
final class Metrics: Sendable {
  struct Counts: Sendable {
    var accepted = 0
    var refused = 0
    var finished: [End: Int] = [:]
    var attempts = [Int](repeating: 0, count: OutcomeClass.allCases.count)
    var requests = [Int](repeating: 0, count: 6)
    var commits = 0
    var writes = 0
    var removed = 0
    var damaged = 0
    var reclaimed = 0
    var isCheckpointFailing = false
    var accept = Histogram()
    var attempt = Histogram()
  }

  /// How a call ended.
  struct End: Sendable, Hashable {
    var state: CallState
    var reason: StopReason?

    var labels: String { "state=\"\(state.rawValue)\",reason=\"\(reason.map { "\($0.name)" } ?? "")\"" }
  }

  private let counts = Mutex(Counts())
  private let namedTargets: Int

  /// - Parameter namedTargets: How many targets have their own gauges.
  init(namedTargets: Int = 20) {
    self.namedTargets = namedTargets
  }

  /// Counts in `body`.
  func count(_ body: (inout Counts) -> Void) {
    counts.withLock { body(&$0) }
  }

  /// Counts a transaction, and the calls that ended in it.
  func committed(_ writes: [StoreWrite]) {
    counts.withLock { counts in
      counts.commits += 1
      counts.writes += writes.count
      for place in writes.indices {
        guard let progress = writes[place].end else { continue }
        counts.finished[End(state: progress.state.visible, reason: progress.failure), default: 0] += 1
      }
    }
  }

  /// Counts attempts that have ended.
  func ended(_ results: [Transport.Ended]) {
    counts.withLock { counts in
      for (_, result) in results {
        counts.attempts[Int(result.outcome.rawValue)] += 1
        counts.attempt.record(result.duration.inSeconds)
      }
    }
  }

  /// Counts calls that the store could not read and made failed, without a reason of the call itself.
  func countSetAside(_ number: Int) {
    counts.withLock { $0.finished[End(state: .failed), default: 0] += number }
  }

  /// All metrics, in the Prometheus text exposition format 0.0.4.
  func exposition(
    _ report: EngineReport, version: String, clockOffset: Duration = .zero, clockError: Duration = .zero, waits: Int = 0
  ) -> String {
    let counts = counts.withLock { $0 }
    var text = ""
    func family(_ name: String, _ type: String, _ help: String, _ lines: [String]) {
      text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
      for line in lines { text += "\(name)\(line)\n" }
    }
    family("redial_build_info", "gauge", "The running version; always 1.", ["{version=\"\(version)\"} 1"])
    family("redial_calls_accepted_total", "counter", "Calls accepted.", [" \(counts.accepted)"])
    family("redial_calls_refused_total", "counter", "Calls refused.", [" \(counts.refused)"])
    family(
      "redial_calls_finished_total", "counter", "Calls and webhooks that ended, by state and failure reason.",
      counts.finished.map { "{\($0.key.labels)} \($0.value)" }.sorted())
    family(
      "redial_attempts_total", "counter", "Attempts that ended, by outcome class.",
      OutcomeClass.allCases.map { "{outcome=\"\($0.name)\"} \(counts.attempts[Int($0.rawValue)])" })
    family("redial_attempts_in_flight", "gauge", "Attempts in flight.", [" \(report.inFlight)"])
    family("redial_waiting_clients", "gauge", "Clients that wait for a call to end.", [" \(waits)"])
    family("redial_backlog_calls", "gauge", "Calls that have not ended.", [" \(report.unfinished)"])
    family("redial_held_calls", "gauge", "Calls in memory.", [" \(report.held)"])
    family(
      "redial_breakers", "gauge", "Targets by the state of their breaker.",
      TargetSnapshot.BreakerState.allCases.map { state in
        "{state=\"\(state.rawValue)\"} \(report.targets.count { $0.breaker == state })"
      })
    family(
      "redial_store_failing", "gauge", "Whether the last write failed and calls are refused.",
      [" \(report.storeFailing ? 1 : 0)"])
    family(
      "redial_clock_offset_seconds", "gauge",
      "How far the wall clock is ahead of the service's time. A restart adopts the wall clock, or the database's.",
      [" \(clockOffset.inSeconds)"])
    family(
      "redial_clock_error_seconds", "gauge",
      "How far the service's time may be from the database's, at most; 0 if no database is shared.",
      [" \(clockError.inSeconds)"])
    family(
      "redial_store_checkpoint_failing", "gauge",
      "Whether the store's log could not be moved into its file the last time, and grows.",
      [" \(counts.isCheckpointFailing ? 1 : 0)"])
    family("redial_store_commits_total", "counter", "Transactions committed.", [" \(counts.commits)"])
    family("redial_store_writes_total", "counter", "Changes committed.", [" \(counts.writes)"])
    family(
      "redial_calls_removed_total", "counter", "Finished calls and webhooks removed by retention.",
      [" \(counts.removed)"])
    family(
      "redial_calls_damaged_total", "counter", "Stored calls that could not be read and have failed.",
      [" \(counts.damaged)"])
    family(
      "redial_calls_reclaimed_total", "counter",
      "Calls that no engine had in memory though the store said so, and that go on again; must be 0.",
      [" \(counts.reclaimed)"])
    family(
      "redial_http_responses_total", "counter", "Answers of the API, by class of status.",
      (1...5).map { "{class=\"\($0)xx\"} \(counts.requests[$0])" })
    text += "# HELP redial_accept_seconds Time from a call's submission to its answer.\n"
    text += "# TYPE redial_accept_seconds histogram\n" + counts.accept.lines("redial_accept_seconds")
    text += "# HELP redial_attempt_seconds Duration of attempts.\n"
    text += "# TYPE redial_attempt_seconds histogram\n" + counts.attempt.lines("redial_attempt_seconds")
    return text + TargetFigures(report.targets, limit: namedTargets).exposition() + ProcessFigures.exposition()
  }
}
