internal import Dispatch
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Looks at intervals whether what alerts watch for is true, and has messages sent when an incident begins and ends.
///
/// Each instance looks at the targets whose calls it runs, the leader at all else. An incident and its message are one
/// commit of the engine, so no crash parts them; and whoever takes a target over finds in the store what was sent.
final class AlertWatch: Sendable {
  private struct State: Sendable {
    var judges: [Namespace: AlertJudge] = [:]
    /// Incidents whose step is on its way to the store, and until when it is not decided again: an end of that time means
    /// that nobody knows whether it got there, and by then it is in the store, or will not be.
    var busy: [String: Timestamp] = [:]
    /// Looks so far.
    var looks = 0
    var hasFailed = false
    var isStopped = false
  }

  /// How many looks at targets there are for one at failed calls, which costs a query.
  private static let looksPerFailure = 6
  /// The most targets of a namespace that are looked at, those with the lowest keys.
  private static let mostTargets = 1000
  /// The most incidents that are kept of a namespace.
  private static let mostIncidents = 1000
  /// How long a step that was not confirmed is not decided again.
  private static let doubt = Duration.seconds(60)

  private let issues: IssueAnswers
  private let deadlines: DeadlineWatch
  private let storeWatch: StoreWatch
  private let messenger: AlertMessenger
  /// Nil if no others can share the store.
  private let table: PeerTable?
  private let log: Log
  private let interval: Duration
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "redial.alerts", qos: .utility)

  private var clock: Clock { issues.clock }
  private var engine: EngineLane { issues.engine }
  private var reader: any CallReader { issues.queries.reader }

  /// - Parameter interval: The time between two looks.
  init(
    _ issues: IssueAnswers, _ deadlines: DeadlineWatch, _ storeWatch: StoreWatch, _ messenger: AlertMessenger,
    _ table: PeerTable?, every interval: Duration, _ log: Log
  ) {
    (self.issues, self.deadlines, self.storeWatch, self.messenger) = (issues, deadlines, storeWatch, messenger)
    (self.table, self.interval, self.log) = (table, interval, log)
  }

  /// Looks after each interval, until ``stop()``.
  func start() {
    queue.asyncAfter(deadline: .now() + .microseconds(Int(interval.wholeMicroseconds))) { [weak self] in
      guard let self, !state.withLock({ $0.isStopped }) else { return }
      look()
      start()
    }
  }

  /// Ends the looks, and waits for one that reads the store.
  func stop() {
    state.withLock { $0.isStopped = true }
    queue.sync {}
  }

  /// Asks the engine for the targets of all namespaces that have alerts.
  private func look() {
    let alerts: [Alert]
    do throws(StoreError) {
      alerts = try reader.readable(.alert, as: Alert.self)
    } catch {
      return fail(error)
    }
    let byNamespace = Dictionary(grouping: alerts, by: \.namespace)
    state.withLock { $0.judges = $0.judges.filter { byNamespace[$0.key] != nil } }
    guard !byNamespace.isEmpty else { return }
    let queries = byNamespace.keys.map {
      TargetQuery(namespace: $0, limit: Self.mostTargets, isActive: true)
    }
    engine.ask { engine in
      queries.flatMap { engine.describe($0).targets }
    } then: { [weak self] targets in
      guard let self else { return }
      queue.async { [weak self] in self?.judge(byNamespace, targets) }
    }
  }

  private func judge(_ alerts: [Namespace: [Alert]], _ targets: [TargetSnapshot]) {
    let looks = state.withLock { state in
      state.looks += 1
      return state.isStopped ? nil : state.looks
    }
    guard let looks else { return }
    let (now, leads) = (clock.now, table?.isLeading ?? true)
    do throws(StoreError) {
      let incidents = try reader.readable(.incident, as: Incident.self)
      let marks = try self.marks()
      for (namespace, alerts) in alerts.sorted(by: { $0.key < $1.key }) {
        let own = targets.filter { $0.key.namespace == namespace }
        var findings = findings(own, at: now)
        if leads {
          if namespace.isDefault { findings[.callsStuck] = storeWatch.findings }
          if looks % Self.looksPerFailure == 1 { findings[.callsFailed] = try failed(in: namespace, at: now) }
        }
        let known = incidents.filter { $0.namespace == namespace }
        let open = known.filter { $0.endedAt == nil && isOwn($0, leads) }
        let steps = state.withLock { state in
          let steps = state.judges[namespace, default: AlertJudge()].judge(
            alerts, findings, open: open, marks: marks, at: now)
          let free = steps.filter { state.busy[$0.incident.occasion].map { $0 <= now } ?? true }
          for step in free { state.busy[step.incident.occasion] = now + Self.doubt }
          return free
        }
        for step in steps { take(step, alerts.first { $0.name == step.incident.alert }, known, marks, at: now) }
      }
      state.withLock { $0.hasFailed = false }
    } catch {
      fail(error)
    }
  }

  private func marks() throws(StoreError) -> [String: IncidentMark] {
    let marks = try reader.readable(.incidentMark, as: IncidentMark.self)
    return Dictionary(marks.map { ($0.incident, $0) }, uniquingKeysWith: { one, _ in one })
  }

  /// Whether this instance says when an incident is over.
  private func isOwn(_ incident: Incident, _ leads: Bool) -> Bool {
    guard incident.condition.isOfTarget, let target = incident.target else { return leads }
    return table?.owns(TargetKey(target, in: incident.namespace)) ?? true
  }

  /// What is true of targets.
  private func findings(_ targets: [TargetSnapshot], at now: Timestamp) -> [AlertCondition: [AlertFinding]] {
    var findings: [AlertCondition: [AlertFinding]] = [:]
    for condition in AlertCondition.allCases where condition.isOfTarget { findings[condition] = [] }
    for target in targets {
      let missed = deadlines[target.key]?.missing ?? 0
      for finding in AlertFinding.of(target, missed: missed, lateAfter: issues.lateAfter, at: now) {
        findings[finding.condition, default: []].append(finding)
      }
    }
    return findings
  }

  private func failed(in namespace: Namespace, at now: Timestamp) throws(StoreError) -> [AlertFinding] {
    let wanted = IssueQuery(namespace: namespace, states: [.open])
    return try issues.failed(wanted, besides: [], issues.marks(in: namespace)).issues.compactMap {
      AlertFinding($0, at: now)
    }
  }

  /// Has a step stored, with its message.
  private func take(
    _ step: AlertJudge.Step, _ alert: Alert?, _ known: [Incident], _ marks: [String: IncidentMark], at now: Timestamp
  ) {
    let incident = step.incident
    var writes: [StoreWrite] = [.put(incident.document)]
    if incident.endedAt == nil, !known.contains(where: { $0.id == incident.id }) {
      guard known.count(where: { $0.endedAt == nil }) < Self.mostIncidents else {
        return log.write(.warning, "tooManyIncidents", Self.fields(of: incident))
      }
      // The oldest make room.
      let ended = known.filter { $0.endedAt != nil }.sorted { $0.openedAt < $1.openedAt }
      for old in ended.prefix(max(0, known.count + 1 - Self.mostIncidents)) {
        writes += [.remove(.incident, id: old.documentID), .remove(.incidentMark, id: old.documentID)]
      }
    }
    let done = { @Sendable [weak self] (isStored: Bool) in
      guard let self, isStored else { return }
      let event: StaticString = incident.endedAt == nil ? "alertOpened" : "alertEnded"
      log.write(.info, event, Self.fields(of: incident))
      state.withLock { $0.busy[incident.occasion] = nil }
    }
    guard let alert, let message = step.message else { return messenger.store(writes, then: done) }
    messenger.send(
      AlertMessage(message, incident, marks[incident.id], at: now), about: incident, with: writes, to: alert, then: done
    )
  }

  private static func fields(of incident: Incident) -> [(StaticString, String)] {
    [
      ("alert", incident.alert), ("condition", incident.condition.rawValue), ("incident", incident.id),
      ("namespace", incident.namespace.name), ("summary", incident.summary),
    ]
  }

  /// Logs the first of failures in a row.
  private func fail(_ error: StoreError) {
    let isFirst = state.withLock { state in
      defer { state.hasFailed = true }
      return !state.hasFailed
    }
    if isFirst { log.write(.error, "alertWatchFailed", [("error", error.message)]) }
  }
}

extension Incident {
  /// What distinguishes it among those that are open.
  fileprivate var occasion: String { "\(namespace.name)/\(alert)/\(condition.rawValue)/\(subject)" }
}

extension StoreWatch {
  /// What the latest examination found, for alerts; nil before the first.
  fileprivate var findings: [AlertFinding]? {
    latestFindings.map { $0.filter { $0.count > 0 }.map { AlertFinding(check: $0.check.rawValue, calls: $0.count) } }
  }
}
