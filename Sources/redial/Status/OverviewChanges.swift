import RedialModel

/// What is new in an overview, in lines for an output that is no terminal.
///
/// Numbers change all the time. So only this counts: a target gets better or worse, calls are accepted or not, and
/// the database has lost some.
struct OverviewChanges: Sendable {
  let before: Overview
  let now: Overview

  var lines: [String] {
    var lines: [String] = []
    if before.readiness != now.readiness {
      switch now.readiness {
      case .ready: lines.append("the service accepts calls")
      case .notReady(let reason): lines.append("the service accepts no calls" + (reason.map { ": \($0)" } ?? ""))
      case nil: break
      }
    }
    if let start = now.service.startedAt, let earlier = before.service.startedAt, start != earlier {
      lines.append("the service was started again")
    }
    if let loss = now.service.lostCommits, loss != before.service.lostCommits {
      lines.append("the database has lost \(loss.amount)")
    }
    guard let targets = before.targets, now.targets != nil else { return lines }
    let (known, troubled) = (targets.filter { $0.condition != .up }, now.troubled)
    for target in troubled where target.condition != known.first(where: { $0.key == target.key })?.condition {
      lines.append(Self.text(target))
    }
    for target in known.sorted(by: { $0.isWorse(than: $1) }) where !troubled.contains(where: { $0.key == target.key }) {
      lines.append("\(PlainText.escaped(target.key)) is up")
    }
    return lines
  }

  private static func text(_ target: TargetStanding) -> String {
    var text = PlainText.escaped(target.key)
    switch target.condition {
    case .down: text += " is down"
    case .heldOpen: text += " is held open by hand"
    case .paused: text += " is paused"
    case .late: text += " is up, but its calls are late"
    case .degraded, .up: text += target.outage?.closedAt == nil ? " is degraded" : " answers again"
    }
    if target.condition == .down, let cause = target.outage?.cause { text += ": \(SpokenWords.of(cause))" }
    let count = target.waiting
    return count == 0 ? text : text + "; \(count.grouped) \(count == 1 ? "call waits" : "calls wait")"
  }
}
