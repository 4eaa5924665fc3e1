public import RedialCore

/// Decides when an incident of an alert begins, when it is over, and when somebody is notified.
///
/// A value: the findings, the incidents in the store and the time come in, and steps come out. Between two judgements it keeps
/// only since when what was found is true, and since when what was open is not; after a restart both begin anew.
public struct AlertJudge: Sendable {
  /// What distinguishes incidents of one namespace.
  private struct Key: Hashable {
    let alert: String
    let condition: AlertCondition
    let subject: String

    func isOf(_ alert: Alert, _ condition: AlertCondition) -> Bool {
      self.alert == alert.name && self.condition == condition
    }
  }

  /// What is to be done: store the incident, and with it the message, if there is one.
  public struct Step: Sendable, Hashable {
    public var incident: Incident
    public var message: AlertMessage.Kind?
  }

  private var foundSince: [Key: Timestamp] = [:]
  private var goneSince: [Key: Timestamp] = [:]

  /// Nothing was found so far.
  public init() {}

  /// Judges the alerts of a namespace.
  ///
  /// - Parameters:
  ///   - findings: What is true now, of each condition that was looked at. Of one that could not be looked at nothing is
  ///     concluded.
  ///   - examined: The shards of the targets that were looked at. Of others nothing is concluded.
  ///   - groups: Whether what begins for several at once is one incident. Not where others judge some of them.
  ///   - open: The incidents that have not ended, of what was looked at.
  ///   - room: How many incidents may be opened.
  ///   - marks: The statements about incidents, by their ids.
  ///   - mute: The names of alerts that cannot send messages now.
  public mutating func judge(
    _ alerts: [Alert], _ findings: [AlertCondition: [AlertFinding]], in examined: ShardSet = .all, groups: Bool = true,
    open: [Incident], room: Int = .max, marks: [String: IncidentMark], mute: Set<String> = [], at now: Timestamp
  ) -> [Step] {
    var judgement = Judgement(
      before: self, findings: findings, examined: examined, groups: groups, marks: marks, mute: mute, now: now,
      room: max(0, room),
      known: Dictionary(
        open.map { (Key(alert: $0.alert, condition: $0.condition, subject: $0.subject), $0) },
        uniquingKeysWith: { one, _ in one }))
    for alert in alerts {
      for condition in AlertCondition.allCases { judgement.judge(condition, of: alert) }
    }
    judgement.endRest(of: alerts)
    self = judgement.after
    return judgement.steps
  }

  /// One judgement, while it is made.
  private struct Judgement {
    let before: AlertJudge
    let findings: [AlertCondition: [AlertFinding]]
    let examined: ShardSet
    let groups: Bool
    let marks: [String: IncidentMark]
    let mute: Set<String>
    let now: Timestamp
    var room: Int
    /// The open incidents of which nothing is decided yet.
    var known: [Key: Incident]
    var after = AlertJudge()
    var steps: [Step] = []

    mutating func judge(_ condition: AlertCondition, of alert: Alert) {
      guard let found = findings[condition] else {
        // It was not examined, so its earlier times stay.
        keepTimes { $0.isOf(alert, condition) }
        known = known.filter { !$0.key.isOf(alert, condition) }
        return
      }
      let isUnseen = { [examined] (subject: String) in
        condition.isOfTarget && !examined.contains(target: TargetKey(subject, in: alert.namespace))
      }
      if examined != .all { keepTimes { $0.isOf(alert, condition) && isUnseen($0.subject) } }
      let watched = found.filter { alert.watches(condition, of: $0.target) }
      let isQuiet = mute.contains(alert.name) || alert.isSilenced(at: now)
      let covered = goOnTogether(condition, of: alert, watched, isQuiet: isQuiet, isUnseen)
      var begun: [(AlertFinding, since: Timestamp)] = []
      for finding in watched where !covered.contains(finding.subject) {
        let key = Key(alert: alert.name, condition: condition, subject: finding.subject)
        if let incident = known.removeValue(forKey: key) {
          goOn(incident, finding, isQuiet: isQuiet)
          continue
        }
        let since = min(finding.since ?? now, before.foundSince[key] ?? now)
        // Also of one that is opened now: if it cannot be stored, it is opened again.
        after.foundSince[key] = since
        guard now - since >= alert.after(condition), !finding.isEnding else { continue }
        begun.append((finding, since))
      }
      let opened = fit(groups ? Self.grouped(begun) : begun, condition, of: alert, isQuiet: isQuiet)
      steps += opened.map { finding, since in
        let incident = Incident(finding, of: alert, since: since, at: now, isNotified: !isQuiet)
        return Step(incident: incident, message: isQuiet ? nil : .opened)
      }
    }

    private mutating func keepTimes(where isKept: (Key) -> Bool) {
      for (key, since) in before.foundSince where isKept(key) { after.foundSince[key] = since }
      for (key, since) in before.goneSince where isKept(key) { after.goneSince[key] = since }
    }

    /// Judges the incidents that are about several.
    ///
    /// - Returns: The subjects that have no incident of their own for that.
    private mutating func goOnTogether(
      _ condition: AlertCondition, of alert: Alert, _ found: [AlertFinding], isQuiet: Bool,
      _ isUnseen: (String) -> Bool
    ) -> Set<String> {
      var covered: Set<String> = []
      for (key, incident) in known where key.isOf(alert, condition) && !incident.members.isEmpty {
        let members = Set(incident.members)
        let left = found.filter { members.contains($0.subject) }
        let unseen = members.filter(isUnseen)
        guard !left.isEmpty || !unseen.isEmpty else { continue }
        known[key] = nil
        var going = incident
        let gone = members.subtracting(left.map(\.subject)).subtracting(unseen).map {
          Key(alert: alert.name, condition: condition, subject: $0)
        }
        for key in gone { after.goneSince[key] = before.goneSince[key] ?? now }
        // Of one that was over for a while, what begins again is news.
        let calm = Set(gone.filter { now - (after.goneSince[$0] ?? now) >= condition.calmTime }.map(\.subject))
        going.members.removeAll { calm.contains($0) }
        covered.formUnion(going.members)
        let isSaid = !isQuiet && !left.isEmpty && goOn(going, .together(left), isQuiet: isQuiet)
        if !isSaid, !calm.isEmpty { steps.append(Step(incident: going, message: nil)) }
      }
      return covered
    }

    /// Reports an open incident that a silence has kept back, or once more one whose acknowledgement is over.
    ///
    /// - Returns: Whether it is reported.
    @discardableResult
    private mutating func goOn(_ incident: Incident, _ finding: AlertFinding, isQuiet: Bool) -> Bool {
      guard !isQuiet else { return false }
      let mark = marks[incident.id]
      if let mark, mark.until > now { return false }
      if let notifiedAt = incident.notifiedAt {
        guard let mark, mark.until > notifiedAt else { return false }
      }
      var incident = incident
      incident.take(finding)
      incident.notifiedAt = now
      steps.append(Step(incident: incident, message: .opened))
      return true
    }

    /// What begins now, with what several have in common as one.
    private static func grouped(_ begun: [(AlertFinding, since: Timestamp)]) -> [(AlertFinding, since: Timestamp)] {
      guard begun.count >= AlertFinding.fewestTogether else { return begun }
      let sorted = begun.sorted { $0.0.subject < $1.0.subject }
      return stride(from: 0, to: sorted.count, by: AlertFinding.mostTogether).map { start in
        let part = sorted[start..<min(start + AlertFinding.mostTogether, sorted.count)]
        return (AlertFinding.together(part.map(\.0)), part.map(\.since).min() ?? .epoch)
      }
    }

    /// What begins now, as far as there is room; the rest has one incident, which begins with the first for which there is
    /// none.
    private mutating func fit(
      _ begun: [(AlertFinding, since: Timestamp)], _ condition: AlertCondition, of alert: Alert, isQuiet: Bool
    ) -> [(AlertFinding, since: Timestamp)] {
      let (opened, rest) = (begun.prefix(room), begun.dropFirst(room))
      room -= opened.count
      guard !rest.isEmpty else { return Array(opened) }
      let beyond = AlertFinding.beyond(rest.map(\.0))
      let key = Key(alert: alert.name, condition: condition, subject: beyond.subject)
      if let incident = known.removeValue(forKey: key) {
        goOn(incident, beyond, isQuiet: isQuiet)
        return Array(opened)
      }
      return opened + [(beyond, rest.map(\.since).min() ?? now)]
    }

    /// Ends what is left: it is not true any more, or no alert wants it.
    mutating func endRest(of alerts: [Alert]) {
      for (key, incident) in known.sorted(by: { $0.value.id < $1.value.id }) {
        let since = before.goneSince[key] ?? now
        guard let alert = alerts.first(where: { $0.name == key.alert }) else { continue }
        let isWatched =
          key.condition.isOfTarget && !incident.members.isEmpty
          ? incident.members.contains { alert.watches(key.condition, of: $0) }
          : alert.watches(key.condition, of: incident.target)
        // Also of one that ends now: if that cannot be stored or sent yet, it ends at the next look.
        after.goneSince[key] = since
        guard now - since >= key.condition.calmTime || !isWatched else { continue }
        var incident = incident
        incident.endedAt = isWatched ? since : now
        let isSaid = incident.notifiedAt != nil && !mute.contains(alert.name)
        // Also during a silence: whoever was notified that it is open waits for its end.
        steps.append(Step(incident: incident, message: isSaid ? (isWatched ? .ended : .unwatched) : nil))
      }
    }
  }
}
