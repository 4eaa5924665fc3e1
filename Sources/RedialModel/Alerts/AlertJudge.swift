public import RedialCore

/// Decides when an alert reports an issue, and that it is over.
///
/// A value: the findings, the notices in the store and the time come in, and steps come out. Between two judgements it keeps
/// only since when an issue is found, and since when one that is reported is not; after a restart both begin anew.
public struct AlertJudge: Sendable {
  /// What distinguishes notices of one namespace.
  private struct Key: Hashable {
    let alert: String
    let kind: IssueKind
    let subject: String

    func isOf(_ alert: Alert, _ kind: IssueKind) -> Bool {
      self.alert == alert.name && self.kind == kind
    }
  }

  /// What is to be done: store the notice, and with it the message, if there is one.
  public struct Step: Sendable, Hashable {
    public var notice: AlertNotice
    public var message: AlertMessage.Kind?
  }

  private var foundSince: [Key: Timestamp] = [:]
  private var goneSince: [Key: Timestamp] = [:]

  /// Nothing was found so far.
  public init() {}

  /// Judges the alerts of a namespace.
  ///
  /// - Parameters:
  ///   - findings: The issues of each kind that was looked at. Of one that could not be looked at nothing is concluded.
  ///   - examined: The shards of the targets that were looked at. Of others nothing is concluded.
  ///   - groups: Whether several that begin at once are one notice. Not where others judge some of them.
  ///   - open: The notices that have not ended, of what was looked at.
  ///   - room: How many notices may be opened.
  ///   - marks: The statements about issues, by their ids.
  ///   - mute: The names of alerts that cannot send messages now.
  public mutating func judge(
    _ alerts: [Alert], _ findings: [IssueKind: [AlertFinding]], in examined: ShardSet = .all, groups: Bool = true,
    open: [AlertNotice], room: Int = .max, marks: [String: IssueMark], mute: Set<String> = [], at now: Timestamp
  ) -> [Step] {
    var judgement = Judgement(
      before: self, findings: findings, examined: examined, groups: groups, marks: marks, mute: mute, now: now,
      room: max(0, room),
      known: Dictionary(
        open.map { (Key(alert: $0.alert, kind: $0.kind, subject: $0.subject), $0) },
        uniquingKeysWith: { one, _ in one }))
    for alert in alerts {
      for kind in IssueKind.allCases { judgement.judge(kind, of: alert) }
    }
    judgement.endRest(of: alerts)
    self = judgement.after
    return judgement.steps
  }

  /// One judgement, while it is made.
  private struct Judgement {
    let before: AlertJudge
    let findings: [IssueKind: [AlertFinding]]
    let examined: ShardSet
    let groups: Bool
    let marks: [String: IssueMark]
    let mute: Set<String>
    let now: Timestamp
    var room: Int
    /// The open notices of which nothing is decided yet.
    var known: [Key: AlertNotice]
    var after = AlertJudge()
    var steps: [Step] = []

    mutating func judge(_ kind: IssueKind, of alert: Alert) {
      guard let found = findings[kind] else {
        // It was not examined, so its earlier times stay.
        keepTimes { $0.isOf(alert, kind) }
        known = known.filter { !$0.key.isOf(alert, kind) }
        return
      }
      let isUnseen = { [examined] (subject: String) in
        kind.isOfTarget && !examined.contains(target: TargetKey(AlertSubject(subject).target, in: alert.namespace))
      }
      if examined != .all { keepTimes { $0.isOf(alert, kind) && isUnseen($0.subject) } }
      let watched = found.filter { alert.watches(kind, of: $0.target) }
      let isQuiet = mute.contains(alert.name) || alert.isSilenced(at: now)
      let covered = goOnTogether(kind, of: alert, watched, isQuiet: isQuiet, isUnseen)
      var begun: [(AlertFinding, since: Timestamp)] = []
      for finding in watched where !covered.contains(finding.subject) {
        let key = Key(alert: alert.name, kind: kind, subject: finding.subject)
        if let notice = known.removeValue(forKey: key) {
          goOn(notice, finding, isQuiet: isQuiet)
          continue
        }
        let since = min(finding.since ?? now, before.foundSince[key] ?? now)
        // Also of one that is opened now: if it cannot be stored, it is opened again.
        after.foundSince[key] = since
        guard now - since >= alert.after(kind), !finding.isEnding,
          AlertSubject.acknowledgedUntil([finding.subject], marks) <= now
        else {
          continue
        }
        begun.append((finding, since))
      }
      let opened = fit(groups ? Self.grouped(begun) : begun, kind, of: alert, isQuiet: isQuiet)
      steps += opened.map { finding, since in
        let notice = AlertNotice(finding, of: alert, since: since, at: now, isNotified: !isQuiet)
        return Step(notice: notice, message: isQuiet ? nil : .opened)
      }
    }

    private mutating func keepTimes(where isKept: (Key) -> Bool) {
      for (key, since) in before.foundSince where isKept(key) { after.foundSince[key] = since }
      for (key, since) in before.goneSince where isKept(key) { after.goneSince[key] = since }
    }

    /// Judges the notices that are about several.
    ///
    /// - Returns: The subjects that have no notice of their own for that.
    private mutating func goOnTogether(
      _ kind: IssueKind, of alert: Alert, _ found: [AlertFinding], isQuiet: Bool,
      _ isUnseen: (String) -> Bool
    ) -> Set<String> {
      var covered: Set<String> = []
      for (key, notice) in known where key.isOf(alert, kind) && !notice.members.isEmpty {
        let members = Set(notice.members)
        let left = found.filter { members.contains($0.subject) }
        let unseen = members.filter(isUnseen)
        guard !left.isEmpty || !unseen.isEmpty else { continue }
        known[key] = nil
        var going = notice
        let gone = members.subtracting(left.map(\.subject)).subtracting(unseen).map {
          Key(alert: alert.name, kind: kind, subject: $0)
        }
        for key in gone { after.goneSince[key] = before.goneSince[key] ?? now }
        // One that was over for a while and begins again is news.
        let calm = Set(gone.filter { now - (after.goneSince[$0] ?? now) >= kind.calmTime }.map(\.subject))
        going.members.removeAll { calm.contains($0) }
        covered.formUnion(going.members)
        let isSaid = !isQuiet && !left.isEmpty && goOn(going, .together(left), isQuiet: isQuiet)
        if !isSaid, !calm.isEmpty { steps.append(Step(notice: going, message: nil)) }
      }
      return covered
    }

    /// Reports one that a silence has held back, or again after an acknowledgement has expired.
    ///
    /// - Returns: Whether it is reported.
    @discardableResult
    private mutating func goOn(_ notice: AlertNotice, _ finding: AlertFinding, isQuiet: Bool) -> Bool {
      let until = AlertSubject.acknowledgedUntil(
        finding.members.isEmpty ? [finding.subject] : finding.members, marks)
      guard !isQuiet, !finding.isEnding, until <= now, notice.notifiedAt.map({ until > $0 }) ?? true else {
        return false
      }
      var notice = notice
      notice.take(finding)
      notice.notifiedAt = now
      steps.append(Step(notice: notice, message: .opened))
      return true
    }

    /// What begins now, with several as one.
    private static func grouped(_ begun: [(AlertFinding, since: Timestamp)]) -> [(AlertFinding, since: Timestamp)] {
      guard begun.count >= AlertFinding.fewestTogether else { return begun }
      let sorted = begun.sorted { $0.0.order < $1.0.order }
      return stride(from: 0, to: sorted.count, by: AlertFinding.mostTogether).map { start in
        let part = sorted[start..<min(start + AlertFinding.mostTogether, sorted.count)]
        return (AlertFinding.together(part.map(\.0)), part.map(\.since).min() ?? .epoch)
      }
    }

    /// What begins now, as far as there is room; the rest has one notice, which begins with the first for which there is none.
    private mutating func fit(
      _ begun: [(AlertFinding, since: Timestamp)], _ kind: IssueKind, of alert: Alert, isQuiet: Bool
    ) -> [(AlertFinding, since: Timestamp)] {
      let (opened, rest) = (begun.prefix(room), begun.dropFirst(room))
      room -= opened.count
      guard !rest.isEmpty else { return Array(opened) }
      let beyond = AlertFinding.beyond(rest.map(\.0))
      let key = Key(alert: alert.name, kind: kind, subject: beyond.subject)
      if let notice = known.removeValue(forKey: key) {
        goOn(notice, beyond, isQuiet: isQuiet)
        return Array(opened)
      }
      return opened + [(beyond, rest.map(\.since).min() ?? now)]
    }

    /// Ends what is left: it is over, or no alert watches for it.
    mutating func endRest(of alerts: [Alert]) {
      for (key, notice) in known.sorted(by: { $0.value.id < $1.value.id }) {
        let since = before.goneSince[key] ?? now
        guard let alert = alerts.first(where: { $0.name == key.alert }) else { continue }
        let isWatched =
          key.kind.isOfTarget && !notice.members.isEmpty
          ? notice.members.contains { alert.watches(key.kind, of: AlertSubject($0).target) }
          : alert.watches(key.kind, of: notice.target)
        // Also of one that ends now: if that cannot be stored or sent yet, it ends at the next look.
        after.goneSince[key] = since
        guard now - since >= key.kind.calmTime || !isWatched else { continue }
        var notice = notice
        notice.endedAt = isWatched ? since : now
        let isSaid = notice.notifiedAt != nil && !mute.contains(alert.name)
        // Also during a silence: whoever was notified that it is open waits for its end.
        steps.append(Step(notice: notice, message: isSaid ? (isWatched ? .ended : .unwatched) : nil))
      }
    }
  }
}
