internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// Checks that a pause for which a target asked outlives its process, unless it is short: it is on disk. `TargetWatch` checks
/// that the target's next owner keeps it.
enum PauseWatch {
  /// The state before a step: while the store has nothing to do, each long pause is on disk.
  static func check(_ instance: Instance, _ events: [EngineEvent], _ store: SimulatedStore, at now: Timestamp)
    -> String?
  {
    guard instance.lane.isIdle, instance.engine.desk.trouble == nil else { return nil }
    for case .storeFailed in events { return nil }
    for place in instance.engine.roster.places {
      let target = instance.engine.roster.targets[place]
      guard let until = target.limits.pause.until, until - now >= TargetPause.leastSaved,
        store.owns(target.key, instance.lane.session)
      else { continue }
      if store.targets[target.key]?.askedUntil.map({ until - $0 >= TargetPause.leastExtension }) ?? true {
        return "\(target.key) asked to be left alone until \(until.text), which is not on disk"
      }
    }
    return nil
  }
}
