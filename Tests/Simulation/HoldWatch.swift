internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// Checks that the pace does not starve a target that accepts everything, and that it recovers once nothing fails any
/// more: then no due call is held back for long.
struct HoldWatch {
  /// How long a call may be held back by the pace alone.
  static let longestHold = Duration.seconds(2)
  /// How long after the last failure the pace has to be fast enough for that.
  static let recovery = Duration.seconds(120)

  /// Targets with an attempt that did not succeed.
  private var troubled: Set<TargetKey> = []

  /// Before a step.
  mutating func willHear(_ events: [EngineEvent], _ engine: Engine) {
    for case .attemptEnded(let id, _, let result) in events {
      guard let call = engine.calls[id] else { continue }
      if result.outcome != .answered || result.status ?? 0 >= 300 { troubled.insert(call.record.spec.target) }
    }
  }

  /// The state after a step; returns a violation.
  ///
  /// - Parameters:
  ///   - slow: Targets whose response times alone are a reason for a low rate.
  ///   - healedAt: When the last failure can have been; nil while there are failures.
  func step(_ engine: Engine, slow: Set<TargetKey>, healedAt: Timestamp?, at now: Timestamp) -> String? {
    for place in engine.roster.places {
      let target = engine.roster.targets[place]
      guard target.occupancy.ready > 0, target.breaker.state == .closed, var pace = target.limits.pace,
        let until = pace.wait(at: now), until > now + Self.longestHold
      else { continue }
      let rate = pace.rate ?? 0
      if !troubled.contains(target.key), !slow.contains(target.key) {
        return "\(target.key) has accepted everything, and its pace of \(rate)/s holds calls until \(until.text)"
      }
      if let healedAt, now > healedAt + Self.recovery, !slow.contains(target.key) {
        return "nothing has failed since \(healedAt.text), and the pace of \(target.key), \(rate)/s, holds calls until "
          + until.text
      }
    }
    return nil
  }
}
