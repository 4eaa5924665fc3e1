internal import RedialCore
internal import RedialModel

/// Outages of targets: one event at the beginning and one at the end of each, stored with the target, so that neither a
/// restart nor another owner makes two of one.
extension Engine {
  /// A breaker has opened. Begins an outage unless there is one.
  ///
  /// - Parameter cause: What the last attempt failed with.
  mutating func beginOutage(_ place: Int, cause: String) {
    let target = roster.targets[place]
    let isNew = target.record.outage == nil
    var outage =
      target.record.outage ?? TargetOutage(since: target.breaker.failingSince ?? now, cause: cause, waited: 0)
    outage.closedAt = nil
    outage.waited = max(outage.waited, target.dueCalls)
    save(place) { $0.outage = outage }
    if isNew { report(.targetDown(target: target.key, outage), of: place) }
  }

  /// Looks whether a target's outage is over, or when it will be. Call it whenever its breaker may have changed.
  mutating func examineOutage(_ place: Int) {
    followOutage(place)
    guard let outage = roster.targets[place].record.outage else { return }
    // Of a target that is not called any more nobody learns that it works again.
    let overAt = outage.overAt ?? roster.targets[place].outageLapsesAt
    guard let overAt, overAt <= now else { return lookAgain(place, at: overAt ?? now + TargetState.recentMemory) }
    endOutage(place)
  }

  /// Writes since when the breaker of an outage is closed, or that it is not.
  mutating func followOutage(_ place: Int) {
    guard var outage = roster.targets[place].record.outage else { return }
    // A breaker that an operator holds says nothing about the target.
    if case .forced = roster.targets[place].breaker.state { return }
    let isClosed = roster.targets[place].breaker.state == .closed
    guard isClosed != (outage.closedAt != nil) else { return }
    outage.closedAt = isClosed ? now : nil
    outage.waited = max(outage.waited, roster.targets[place].dueCalls)
    save(place) { $0.outage = outage }
  }

  /// Ends a target's outage, if there is one.
  mutating func endOutage(_ place: Int) {
    guard let outage = roster.targets[place].record.outage else { return }
    save(place) { [now] in $0.endOutage(at: now) }
    report(.targetRecovered(target: roster.targets[place].key, outage), of: place)
  }
}
