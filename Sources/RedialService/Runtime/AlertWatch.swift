internal import Dispatch
internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Looks at intervals whether what alerts watch for is true, and has messages sent when an notice begins and ends.
///
/// The leader judges, and asks each instance what it finds of the targets whose calls it runs: so what begins together is one
/// message. An instance that nobody has asked for a while judges its own targets, so no silence between instances is one of
/// the alerts. A notice and its message are one commit of the engine, so no crash parts them; and whoever leads next finds
/// in the store what was sent.
final class AlertWatch: Sendable {
  private struct State: Sendable {
    var judges: [Namespace: AlertJudge] = [:]
    /// Notices whose step is on its way to the store, and until when it is not decided again.
    var busy: [String: Timestamp] = [:]
    /// The documents of alerts that cannot send messages.
    var mute: Set<String> = []
    /// The messages that were sent lately.
    var rate = MessageRate()
    /// The sessions whose last answers to this instance, the leader, have arrived.
    var heard: Set<Int64> = []
    /// Until when the leader judges what this instance finds.
    var judgedElsewhereUntil: ContinuousClock.Instant
    /// Looks so far.
    var looks = 0
    var hasFailed = false
    var isStopped = false
  }

  /// The path on which the leader asks.
  static let path = "/v1/alerts/findings"
  /// How long the leader waits for what an instance finds.
  private static let patience = Duration.seconds(2)
  /// An instance judges its targets when it was not asked for as long.
  private static func patience(of interval: Duration) -> Duration { interval * 3 + .seconds(10) }

  /// How many looks at targets there are for one at failed calls, which costs a query.
  private static let looksPerFailure = 6
  /// The most notices that are kept of a namespace.
  private static let mostNotices = 1000
  /// A notice without its alert is removed, unless it is as young: another instance may know the alert already.
  private static let youngest = Duration.seconds(60)

  private let issues: IssueAnswers
  private let messenger: AlertMessenger
  /// Nil if no others can share the store.
  private let link: PeerLink?
  /// After this time without an answer a step is on disk, or never will be, because the engine lost its lease. Nil if it has
  /// none to lose.
  private let doubt: Duration?
  private let log: Log
  private let interval: Duration
  private let state: Mutex<State>
  private let queue = DispatchQueue(label: "redial.alerts", qos: .utility)

  private var table: PeerTable? { link?.table }

  private var clock: Clock { issues.clock }
  private var engine: EngineLane { issues.engine }
  private var reader: any CallReader { issues.queries.reader }

  /// - Parameters:
  ///   - lease: How long a lease lasts.
  ///   - interval: The time between two looks.
  init(
    _ issues: IssueAnswers, _ messenger: AlertMessenger,
    _ link: PeerLink?, lease: Duration, every interval: Duration, _ log: Log
  ) {
    (self.issues, self.messenger) = (issues, messenger)
    (self.link, self.interval, self.log) = (link, interval, log)
    doubt = link == nil ? nil : lease + lease + .seconds(30)
    state = Mutex(State(judgedElsewhereUntil: .now + Self.patience(of: interval)))
  }

  /// Looks after each interval, until ``stop()``.
  func start() {
    queue.asyncAfter(deadline: .now() + .microseconds(Int(interval.wholeMicroseconds))) { [weak self] in
      guard let self, !isStopped else { return }
      look()
      start()
    }
  }

  /// Ends the looks, and waits for one that reads the store.
  func stop() {
    state.withLock { $0.isStopped = true }
    queue.sync {}
  }

  private var isStopped: Bool { state.withLock { $0.isStopped } }

  /// Finds what is true of targets of some namespaces, for the leader, which judges it.
  ///
  /// - Parameter then: Called on any thread.
  func find(_ request: FindRequest, then: @escaping @Sendable (FoundOfTargets) -> Void) {
    // An answer that comes too late, or is too long, reaches no alert.
    if request.wasHeard { state.withLock { $0.judgedElsewhereUntil = .now + Self.patience(of: interval) } }
    find(in: request.all, then: then)
  }

  private func find(in namespaces: Set<Namespace>, then: @escaping @Sendable (FoundOfTargets) -> Void) {
    let before = table?.own ?? .all
    engine.ask { engine in
      engine.troubled(in: namespaces)
    } then: { [self] targets in
      // Those of a shard that came or went meanwhile are not all there.
      let shards = before.intersection(table?.own ?? .all)
      then(FoundOfTargets(targets.flatMap(findings), in: shards))
    }
  }

  /// Asks the engine for the targets of all namespaces that have alerts.
  private func look() {
    if let table {
      let isJudgedElsewhere = state.withLock { state in
        if table.isLeading { state.judgedElsewhereUntil = .now + Self.patience(of: interval) }
        return !table.isLeading && state.judgedElsewhereUntil > .now
      }
      // Who judges next begins anew, too.
      if isJudgedElsewhere { return state.withLock { $0.judges = [:] } }
    }
    let alerts: [Alert]
    do throws(StoreError) {
      alerts = try reader.readable(.alert, as: Alert.self)
    } catch {
      return fail(error)
    }
    let byNamespace = Dictionary(grouping: alerts, by: \.namespace)
    state.withLock { $0.judges = $0.judges.filter { byNamespace[$0.key] != nil } }
    let namespaces = Set(byNamespace.keys)
    find(in: namespaces) { [weak self] own in
      self?.queue.async { [weak self] in
        guard let self else { return }
        judge(byNamespace, gathered(own, in: namespaces))
      }
    }
  }

  /// What this instance has found, and with it, if this one leads, what the others have.
  private func gathered(_ own: FoundOfTargets, in namespaces: Set<Namespace>) -> FoundOfTargets {
    var all = own
    guard let link, link.table.isLeading, !namespaces.isEmpty else { return all }
    let before = state.withLock { $0.heard }
    var heard: Set<Int64> = []
    for peer in link.table.all where !peer.isSelf && !isStopped {
      let session = peer.session.id
      let request = FindRequest(namespaces, wasHeard: before.contains(session))
      let asked = ForwardableRequest(.post, Self.path, json: request.bytes, of: Caller())
      guard case .served(let answer) = link.answer(to: asked, from: peer, within: Self.patience),
        answer.status == 200, let found = FoundOfTargets(document: answer.body)
      else { continue }
      all.add(found)
      heard.insert(session)
    }
    state.withLock { [heard] in $0.heard = heard }
    return all
  }

  private func judge(_ alerts: [Namespace: [Alert]], _ found: FoundOfTargets) {
    // What is busy now is decided again only after it was looked for in the store.
    let (looks, busy) = state.withLock { state in
      state.looks += 1
      return (state.looks, state.busy)
    }
    let (now, leads) = (clock.now, table?.isLeading ?? true)
    guard leads || !alerts.isEmpty else { return }
    do throws(StoreError) {
      var notices = try reader.readable(.notice, as: AlertNotice.self)
      let allMarks = alerts.isEmpty ? [:] : try issues.marks()
      if leads { removeOrphans(of: alerts, notices, at: now) }
      for (namespace, alerts) in alerts.sorted(by: { $0.key < $1.key }) where !isStopped {
        let marks = allMarks[namespace] ?? [:]
        var findings = Dictionary(
          uniqueKeysWithValues: IssueKind.allCases.filter(\.isOfTarget).map { ($0, [AlertFinding]()) })
        for finding in found.findings where finding.namespace == namespace {
          findings[finding.kind, default: []].append(finding)
        }
        if leads {
          if namespace.isDefault { findings[.stuck] = issues.stuck()?.map(AlertFinding.init(ofCheck:)) }
          if !alerts.contains(where: { $0.kinds.contains(.failed) }) {
            findings[.failed] = []
          } else if looks % Self.looksPerFailure == 1 {
            findings[.failed] = try failed(in: namespace, marks, at: now)
          }
        }
        let open = notices.filter { $0.namespace == namespace && $0.endedAt == nil }
        let judged = open.filter { $0.shard.map(found.shards.contains) ?? leads }
        let room = Self.mostNotices - open.count
        let mute = mute(among: alerts)
        let byName = Dictionary(alerts.map { ($0.name, $0) }) { first, _ in first }
        let (steps, heldBack) = state.withLock { state in
          let steps = state.judges[namespace, default: AlertJudge()].judge(
            alerts, findings, in: found.shards, groups: leads, open: judged, room: room, marks: marks,
            mute: mute, at: now)
          let free = steps.filter { busy[$0.notice.occasion].map { $0 <= now } ?? true }
          // What is left is decided again at the next look, and what then begins together is one message.
          let sent = free.filter { step in
            guard step.message != nil, let alert = byName[step.notice.alert] else { return true }
            return state.rate.take(alert.destination, at: now)
          }
          for step in sent { state.busy[step.notice.occasion] = doubt.map { now + $0 } ?? .distantFuture }
          return (sent, free.count - sent.count)
        }
        if heldBack > 0 {
          log.write(.warning, "alertMessagesHeldBack", [("count", "\(heldBack)"), ("namespace", namespace.name)])
        }
        for step in steps { take(step, byName[step.notice.alert], &notices, leads: leads, at: now) }
      }
      state.withLock { state in
        state.hasFailed = false
        state.rate.forgetOld(at: now)
      }
    } catch {
      fail(error)
    }
  }

  /// What is true of a target.
  private func findings(_ target: TargetSnapshot) -> [AlertFinding] {
    AlertFinding.of(
      target, lateAfter: issues.lateAfter, at: clock.now)
  }

  private func failed(
    in namespace: Namespace, _ marks: IssueAnswers.Marks, at now: Timestamp
  ) throws(StoreError) -> [AlertFinding] {
    let since = now + (.zero - IssueKind.recentFailure)
    let found = try issues.failed(since: since, in: namespace, marks)
    return found.issues.compactMap { AlertFinding($0, at: now) } + (found.isComplete ? [] : [.manyErrors])
  }

  /// The alerts that cannot send messages, by their names; logs each once.
  private func mute(among alerts: [Alert]) -> Set<String> {
    let mute = alerts.filter { !messenger.hasReceiver($0) }
    let new = state.withLock { state in
      let new = mute.filter { !state.mute.contains($0.document.id) }
      for alert in alerts { state.mute.remove(alert.document.id) }
      state.mute.formUnion(mute.map(\.document.id))
      return new
    }
    for alert in new {
      let fields: [(StaticString, String)] = [
        ("alert", alert.name), ("namespace", alert.namespace.name), ("error", messenger.problem(of: alert) ?? ""),
      ]
      log.write(.error, "alertNotSent", fields)
    }
    return Set(mute.map(\.name))
  }

  /// Removes notices whose alerts were removed when they were just opened.
  private func removeOrphans(of alerts: [Namespace: [Alert]], _ notices: [AlertNotice], at now: Timestamp) {
    let orphans = notices.filter { notice in
      now - notice.openedAt > Self.youngest
        && !(alerts[notice.namespace] ?? []).contains { $0.name == notice.alert }
    }
    guard let first = orphans.first else { return }
    messenger.send(
      nil, about: first, with: orphans.map(\.removal), to: nil, ofShard: PeerTable.leadersShard, then: { _ in })
  }

  /// Has a step stored, with its message.
  private func take(
    _ step: AlertJudge.Step, _ alert: Alert?, _ notices: inout [AlertNotice], leads: Bool, at now: Timestamp
  ) {
    let notice = step.notice
    var writes: [StoreWrite] = [.put(notice.document)]
    let known = notices.filter { $0.namespace == notice.namespace }
    if !known.contains(where: { $0.id == notice.id }) { writes += Self.room(among: known) }
    // The next step finds it so.
    notices.removeAll { $0.id == notice.id }
    notices.append(notice)
    let done = { @Sendable [weak self] (isStored: Bool) in
      guard let self else { return }
      state.withLock { $0.busy[notice.occasion] = nil }
      if isStored { log.write(.info, notice.event, Self.fields(of: notice)) }
    }
    let message = step.message.map { AlertMessage($0, notice, at: now) }
    let shard = leads ? PeerTable.leadersShard : notice.shard ?? PeerTable.leadersShard
    messenger.send(message, about: notice, with: writes, to: alert, ofShard: shard, then: done)
  }

  /// Removes the oldest notices that ended, for a new one.
  private static func room(among known: [AlertNotice]) -> [StoreWrite] {
    let ended = known.filter { $0.endedAt != nil }.sorted { $0.openedAt < $1.openedAt }
    return ended.prefix(max(0, known.count + 1 - mostNotices)).map(\.removal)
  }

  private static func fields(of notice: AlertNotice) -> [(StaticString, String)] {
    [
      ("alert", notice.alert), ("kind", notice.kind.rawValue), ("notice", notice.id),
      ("namespace", notice.namespace.name), ("summary", notice.summary),
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

extension AlertNotice {
  /// What distinguishes it among those that are open.
  fileprivate var occasion: String { "\(namespace.name)/\(alert)/\(kind.rawValue)/\(subject)" }

  /// What has happened to it, in the log.
  fileprivate var event: StaticString {
    if endedAt != nil { return "alertEnded" }
    return notifiedAt == nil || notifiedAt == openedAt ? "alertOpened" : "alertRepeated"
  }

  /// The shard of its target; nil if it is about none, or about several.
  fileprivate var shard: Int? {
    guard kind.isOfTarget, !isOfSeveral, let target else { return nil }
    return ShardSet.shard(of: TargetKey(target, in: namespace))
  }

  /// What removes it.
  var removal: StoreWrite { .remove(.notice, id: document.id) }
}
