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
    var lostCommits = 0
    var accept = Histogram()
    var attempt = Histogram()
  }

  /// How a call ended.
  struct End: Sendable, Hashable, Comparable {
    var state: CallState
    var reason: StopReason?

    private var words: (String, String) { (state.rawValue, reason.map { "\($0.name)" } ?? "") }

    var labels: [MetricFamily.Label] { [MetricFamily.Label("state", words.0), MetricFamily.Label("reason", words.1)] }

    static func < (a: End, b: End) -> Bool { a.words < b.words }
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

  /// All metrics of the engine and the API.
  ///
  /// - Parameter sampling: Which calls without a client's trace have one.
  func families(
    _ report: EngineReport, version: String, store: String, clockOffset: Duration = .zero, clockError: Duration = .zero,
    waits: Int = 0, abandonedConnections: Int = 0, sampling: TraceSampling = .none
  ) -> [MetricFamily] {
    let counts = counts.withLock { $0 }
    var build = MetricFamily(
      "redial_build_info", .gauge, "The running version and the kind of its store; always 1.")
    build.add([MetricFamily.Label("version", version), MetricFamily.Label("store", store)], 1)
    var finished = MetricFamily(
      "redial_calls_finished_total", .counter, "Calls and webhooks that ended, by state and failure reason.")
    for (end, count) in counts.finished.sorted(by: { $0.key < $1.key }) { finished.add(end.labels, count) }
    var attempts = MetricFamily("redial_attempts_total", .counter, "Attempts that ended, by outcome class.")
    for outcome in OutcomeClass.allCases {
      attempts.add([MetricFamily.Label("outcome", "\(outcome.name)")], counts.attempts[Int(outcome.rawValue)])
    }
    var breakers = MetricFamily("redial_breakers", .gauge, "Targets by the state of their breaker.")
    for state in TargetSnapshot.BreakerState.allCases {
      breakers.add([MetricFamily.Label("state", state.rawValue)], report.targets.count { $0.breaker == state })
    }
    var responses = MetricFamily("redial_http_responses_total", .counter, "Answers of the API, by class of status.")
    for hundreds in 1...5 { responses.add([MetricFamily.Label("class", "\(hundreds)xx")], counts.requests[hundreds]) }
    let oldest = report.targets.compactMap { target in target.oldestDueAt.map { target.time - $0 } }.max() ?? .zero
    return [
      build,
      MetricFamily("redial_calls_accepted_total", .counter, "Calls accepted.", counts.accepted),
      MetricFamily("redial_calls_refused_total", .counter, "Calls refused.", counts.refused),
      finished,
      CallDurationFigures(report.durations, sampling: sampling).family,
      attempts,
      MetricFamily("redial_attempts_in_flight", .gauge, "Attempts in flight.", report.inFlight),
      MetricFamily(
        "redial_connections_abandoned_total", .counter,
        "Kept connections to targets that were not used again, because the target had sent something or ended them.",
        abandonedConnections),
      MetricFamily("redial_waiting_clients", .gauge, "Clients that wait for a call to end.", waits),
      MetricFamily("redial_backlog_calls", .gauge, "Calls that have not ended.", report.unfinished),
      MetricFamily(
        "redial_oldest_due_seconds", .gauge, "For how long the oldest due call has been due; 0 if none is.",
        max(.zero, oldest).inSeconds),
      MetricFamily("redial_held_calls", .gauge, "Calls in memory.", report.held),
      breakers,
      MetricFamily(
        "redial_store_failing", .gauge, "Whether the last write failed and calls are refused.",
        report.storeFailing ? 1 : 0),
      MetricFamily(
        "redial_clock_offset_seconds", .gauge,
        "How far the wall clock is ahead of the service's time. A restart adopts the wall clock, or the database's.",
        clockOffset.inSeconds),
      MetricFamily(
        "redial_clock_error_seconds", .gauge,
        "How far the service's time may be from the database's, at most; 0 if no database is shared.",
        clockError.inSeconds),
      MetricFamily(
        "redial_store_checkpoint_failing", .gauge,
        "Whether the store's log could not be moved into its file the last time, and grows.",
        counts.isCheckpointFailing ? 1 : 0),
      MetricFamily("redial_store_commits_total", .counter, "Transactions committed.", counts.commits),
      MetricFamily(
        "redial_store_commits_lost_total", .counter,
        "Transactions that a failover of the database has lost, as far as this instance knew them; must be 0.",
        counts.lostCommits),
      MetricFamily("redial_store_writes_total", .counter, "Changes committed.", counts.writes),
      MetricFamily(
        "redial_calls_removed_total", .counter, "Finished calls and webhooks removed by retention.", counts.removed),
      MetricFamily(
        "redial_calls_damaged_total", .counter, "Stored calls that could not be read and have failed.", counts.damaged),
      MetricFamily(
        "redial_calls_reclaimed_total", .counter,
        "Calls that no engine had in memory though the store said so, and that go on again; must be 0.",
        counts.reclaimed),
      responses,
      MetricFamily("redial_accept_seconds", "Time from a call's submission to its answer.", counts.accept.figures),
      MetricFamily("redial_attempt_seconds", "Duration of attempts.", counts.attempt.figures),
    ] + TargetFigures(report.targets, limit: namedTargets).families
  }
}
