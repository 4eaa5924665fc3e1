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

  /// Whether what begins for several at once is one incident. Not where others judge some of them, and which ones changes.
  private let groups: Bool

  /// Nothing was found so far.
  public init(groups: Bool = true) { self.groups = groups }

  /// Judges the alerts of a namespace.
  ///
  /// - Parameters:
  ///   - findings: What is true now, of each condition that was looked at. Of one that could not be looked at nothing is
  ///     concluded.
  ///   - open: The incidents that have not ended, of what was looked at.
  ///   - marks: The statements about incidents, by their ids.
  ///   - mute: The names of alerts that cannot send messages now.
  public mutating func judge(
    _ alerts: [Alert], _ findings: [AlertCondition: [AlertFinding]], open: [Incident], marks: [String: IncidentMark],
    mute: Set<String> = [], at now: Timestamp
  ) -> [Step] {
    var steps: [Step] = []
    var (stillFound, stillGone): ([Key: Timestamp], [Key: Timestamp]) = ([:], [:])
    var known = Dictionary(
      open.map { (Key(alert: $0.alert, condition: $0.condition, subject: $0.subject), $0) },
      uniquingKeysWith: { one, _ in one })
    for alert in alerts {
      let isQuiet = mute.contains(alert.name) || alert.isSilenced(at: now)
      for condition in AlertCondition.allCases {
        guard let found = findings[condition] else {
          // It was not examined, so its earlier times stay.
          for (key, since) in foundSince where key.isOf(alert, condition) { stillFound[key] = since }
          for (key, since) in goneSince where key.isOf(alert, condition) { stillGone[key] = since }
          known = known.filter { !$0.key.isOf(alert, condition) }
          continue
        }
        var (begun, covered): ([(AlertFinding, since: Timestamp)], Set<String>) = ([], [])
        for (key, incident) in known where key.isOf(alert, condition) && !incident.members.isEmpty {
          let members = Set(incident.members)
          let left = found.filter { members.contains($0.subject) && alert.watches(condition, of: $0.target) }
          guard !left.isEmpty else { continue }
          known[key] = nil
          var going = incident
          let gone = members.subtracting(left.map(\.subject)).map {
            Key(alert: alert.name, condition: condition, subject: $0)
          }
          for key in gone { stillGone[key] = goneSince[key] ?? now }
          // Of one that was over for a while, what begins again is news.
          let calm = Set(gone.filter { now - (stillGone[$0] ?? now) >= condition.calmTime }.map(\.subject))
          going.members.removeAll { calm.contains($0) }
          covered.formUnion(going.members)
          if !isQuiet, let step = goOn(going, .together(left), marks[incident.id], at: now) {
            steps.append(step)
          } else if !calm.isEmpty {
            steps.append(Step(incident: going, message: nil))
          }
        }
        for finding in found where alert.watches(condition, of: finding.target) && !covered.contains(finding.subject) {
          let key = Key(alert: alert.name, condition: condition, subject: finding.subject)
          if let incident = known.removeValue(forKey: key) {
            if !isQuiet, let step = goOn(incident, finding, marks[incident.id], at: now) { steps.append(step) }
            continue
          }
          let since = min(finding.since ?? now, foundSince[key] ?? now)
          // Also of one that is opened now: if it cannot be stored, it is opened again.
          stillFound[key] = since
          guard now - since >= alert.after(condition), !finding.isEnding else { continue }
          begun.append((finding, since))
        }
        steps += (groups ? Self.grouped(begun) : begun).map { finding, since in
          let incident = Incident(finding, of: alert, since: since, at: now, isNotified: !isQuiet)
          return Step(incident: incident, message: isQuiet ? nil : .opened)
        }
      }
    }
    // What is left is not true any more, or no alert wants it.
    for (key, incident) in known.sorted(by: { $0.value.id < $1.value.id }) {
      let since = goneSince[key] ?? now
      guard let alert = alerts.first(where: { $0.name == key.alert }) else { continue }
      let isWatched =
        key.condition.isOfTarget && !incident.members.isEmpty
        ? incident.members.contains { alert.watches(key.condition, of: $0) }
        : alert.watches(key.condition, of: incident.target)
      // Also of one that ends now: if that cannot be stored or sent yet, it ends at the next look.
      stillGone[key] = since
      guard now - since >= key.condition.calmTime || !isWatched else { continue }
      var incident = incident
      incident.endedAt = isWatched ? since : now
      let isSaid = incident.notifiedAt != nil && !mute.contains(alert.name)
      // Also during a silence: whoever was notified that it is open waits for its end.
      steps.append(Step(incident: incident, message: isSaid ? (isWatched ? .ended : .unwatched) : nil))
    }
    (foundSince, goneSince) = (stillFound, stillGone)
    return steps
  }

  /// What begins now, with what several have in common as one.
  private static func grouped(_ begun: [(AlertFinding, since: Timestamp)]) -> [(AlertFinding, Timestamp)] {
    guard begun.count >= AlertFinding.fewestTogether else { return begun }
    let sorted = begun.sorted { $0.0.subject < $1.0.subject }
    return stride(from: 0, to: sorted.count, by: AlertFinding.mostTogether).map { start in
      let part = sorted[start..<min(start + AlertFinding.mostTogether, sorted.count)]
      return (AlertFinding.together(part.map(\.0)), part.map(\.since).min() ?? .epoch)
    }
  }

  /// Reports an open incident that a silence has kept back, or once more one whose acknowledgement is over.
  private func goOn(
    _ incident: Incident, _ finding: AlertFinding, _ mark: IncidentMark?, at now: Timestamp
  ) -> Step? {
    if let mark, mark.until > now { return nil }
    if let notifiedAt = incident.notifiedAt {
      guard let mark, mark.until > notifiedAt else { return nil }
    }
    var incident = incident
    incident.take(finding)
    incident.notifiedAt = now
    return Step(incident: incident, message: .opened)
  }
}
