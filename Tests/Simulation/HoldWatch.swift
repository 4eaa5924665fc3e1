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

  /// When an attempt to a target failed last: also a healthy target may take longer than a call allows.
  private var troubled: [TargetKey: Timestamp] = [:]
  /// Targets that get nothing, because they are paused or to be left alone; and when that ended last. Until then the
  /// pace learns nothing.
  private var stopped: Set<TargetKey> = []
  private var released: [TargetKey: Timestamp] = [:]
  /// Since when the pace holds calls of a target back, with pauses up to `longestPause`, and when it last did. A target
  /// that gets a call now and then shows nothing about what it can take.
  private var held: [TargetKey: (since: Timestamp, last: Timestamp)] = [:]
  private static let longestPause = Duration.seconds(20)

  /// Before a step.
  mutating func willHear(_ events: [EngineEvent], _ engine: Engine, at now: Timestamp) {
    for case .attemptEnded(let id, _, let result) in events {
      guard let call = engine.calls[id] else { continue }
      if result.outcome != .answered || result.status ?? 0 >= 300 { troubled[call.record.spec.target] = now }
    }
  }

  /// The state after a step; returns a violation.
  ///
  /// - Parameters:
  ///   - slow: Targets whose response times alone are a reason for a low rate.
  ///   - healedAt: When the last failure can have been; nil while there are failures.
  mutating func step(
    _ engine: Engine, slow: Set<TargetKey>, healedAt: Timestamp?, at now: Timestamp
  ) -> String? {
    for place in engine.roster.places {
      let target = engine.roster.targets[place]
      if !target.canRun(at: now) {
        stopped.insert(target.key)
      } else if stopped.remove(target.key) != nil {
        released[target.key] = now
      }
      guard target.occupancy.ready > 0, target.breaker.state == .closed, var pace = target.limits.pace,
        let until = pace.wait(at: now), until > now + Self.longestHold
      else { continue }
      let rate = pace.rate ?? 0
      let trouble = troubled[target.key]
      if trouble == nil, !slow.contains(target.key) {
        return "\(target.key) has accepted everything, and its pace of \(rate)/s holds calls until \(until.text)"
      }
      guard let healedAt, !slow.contains(target.key) else { continue }
      let before = held[target.key].flatMap { now - $0.last <= Self.longestPause ? $0.since : nil } ?? now
      held[target.key] = (before, now)
      let last = max(healedAt, trouble ?? healedAt, released[target.key] ?? healedAt, before)
      if now > last + Self.recovery {
        return "nothing has failed since \(last.text), and the pace of \(target.key), \(rate)/s, holds calls until "
          + until.text
      }
    }
    return nil
  }
}
