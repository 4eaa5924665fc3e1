internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// Checks that each outage of a target is reported once when it begins and once when it is over, that it begins with the
/// breaker and ends when that has stayed closed, and that the next owner goes on with it.
enum OutageWatch {
  /// The outages of the targets that an engine knows.
  static func outages(_ engine: Engine) -> [TargetKey: TargetOutage] {
    var outages: [TargetKey: TargetOutage] = [:]
    for place in engine.roster.places {
      outages[engine.roster.targets[place].key] = engine.roster.targets[place].record.outage
    }
    return outages
  }

  /// The state after a step.
  ///
  /// - Parameter before: The outages before it.
  static func step(
    before: [TargetKey: TargetOutage], _ engine: Engine, _ events: [EngineEvent], _ effects: Effects, at now: Timestamp
  ) -> String? {
    var known = before
    var cameOver = false
    for case .recovered in events { cameOver = true }
    for action in effects.actions {
      switch action {
      case .tookOver: cameOver = true
      case .notice(.targetDown(let key, let outage)):
        if known[key] != nil { return "\(key) is reported as down, and its outage had begun" }
        known[key] = outage
      case .notice(.targetRecovered(let key, let outage)):
        // One that comes over may be over by then.
        guard let begun = known.removeValue(forKey: key) else {
          if cameOver { continue }
          return "\(key) is reported as recovered, and had no outage"
        }
        if begun.since != outage.since { return "an outage of \(key) is reported to have begun at another time" }
        if let over = outage.overAt, over > now { return "\(key) is reported as recovered after too short a time" }
      default: break
      }
    }
    for place in engine.roster.places {
      let target = engine.roster.targets[place]
      let outage = target.record.outage
      if outage?.since != known[target.key]?.since, !cameOver {
        return "the outage of \(target.key) began or ended, and that was not reported"
      }
      if let over = outage?.overAt, over <= now, engine.desk.canDecide {
        return "the outage of \(target.key) should have been over at \(over.text)"
      }
      switch target.breaker.state {
      case .open(let until, _) where until > now:
        if outage == nil { return "the breaker of \(target.key) is open, and it has no outage" }
        if outage?.closedAt != nil { return "the breaker of \(target.key) is open, and its outage has it closed" }
      case .closed:
        if let outage, outage.closedAt == nil {
          return "the breaker of \(target.key) is closed, and its outage has it open"
        }
      case .open, .halfOpen, .forced: break
      }
    }
    return nil
  }
}
