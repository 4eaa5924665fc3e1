internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// Checks that limits of paces begin only after an outage, and that they outlive their process: they are on disk, and the
/// next owner of a target begins with them.
enum PaceWatch {
  /// The targets that have a limit.
  static func limited(_ engine: Engine) -> Set<TargetKey> {
    Set(engine.roster.places.map { engine.roster.targets[$0] }.filter(\.isPaced).map(\.key))
  }

  /// The state after a step: only a breaker that closes begins a limit, or a target that comes with one from its last owner.
  ///
  /// - Parameter before: The targets that had a limit before the step.
  static func checkBegin(
    before: Set<TargetKey>, _ engine: Engine, _ events: [EngineEvent], _ effects: Effects
  ) -> String? {
    var new = limited(engine).subtracting(before)
    guard !new.isEmpty else { return nil }
    for action in effects.actions {
      switch action {
      case .notice(.breakerClosed(let target)): new.remove(target)
      case .tookOver(_, let state): new.subtract(state.targets.filter { $0.record.pace != nil }.map(\.target))
      default: break
      }
    }
    for case .recovered(let state) in events {
      new.subtract(state.targets.filter { $0.record.pace != nil }.map(\.target))
    }
    return new.first.map { "\($0) has had no outage, and its pace has a limit" }
  }

  /// The state before a step: while the store has nothing to do, each limit is on disk.
  static func check(_ instance: Instance, _ events: [EngineEvent], _ store: SimulatedStore) -> String? {
    guard instance.lane.isIdle, instance.engine.desk.trouble == nil else { return nil }
    for case .storeFailed in events { return nil }
    for place in instance.engine.roster.places {
      let target = instance.engine.roster.targets[place]
      guard target.isPaced, store.owns(target.key, instance.lane.session) else { continue }
      if store.targets[target.key]?.pace?.isLimited != true { return "\(target.key) has a limit, which is not on disk" }
    }
    return nil
  }

  /// The state after a step in which targets were taken over.
  static func checkTakeover(_ engine: Engine, _ events: [EngineEvent], _ effects: Effects, at now: Timestamp) -> String?
  {
    var states: [RecoveredState] = []
    for case .recovered(let state) in events { states.append(state) }
    for case .tookOver(_, let state) in effects.actions { states.append(state) }
    for (key, record) in states.flatMap(\.targets) {
      guard let pace = record.pace, pace.isLimited, now - pace.at < AdaptivePace.memory else { continue }
      guard let place = engine.roster.place(of: key), engine.roster.targets[place].limits.pace != nil else { continue }
      if !engine.roster.targets[place].isPaced { return "\(key) had a limit, and its next owner does not know" }
    }
    return nil
  }
}
