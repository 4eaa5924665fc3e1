internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// Checks that targets which hang do not use up the slots of those that answer.
struct SlotWatch {
  /// How long a call to the healthy target may wait for a slot.
  private static let longest = Duration.milliseconds(200)

  private let well: String?
  /// Targets with a result since the process began.
  private var heardOf: Set<String> = []
  /// Whether the last result of the healthy target was an answer.
  private var isWell = false
  /// Since when its calls wait only for a slot.
  private var waitingSince: Timestamp?

  init(well: String?) {
    self.well = well
  }

  /// The events before a step.
  mutating func willHear(_ events: [EngineEvent], _ engine: Engine) {
    for case .attemptEnded(let result) in events {
      guard let call = engine.calls[result.id], call.isRunning else { continue }
      let key = call.record.spec.target
      let timedOut = result.failure?.code == AttemptFailure.timeout
      if result.outcome != .cancelled, !timedOut { heardOf.insert(key) }
      if key == well { isWell = result.outcome == .answered }
    }
  }

  /// Checks a step.
  ///
  /// - Returns: A violation.
  mutating func turn(_ effects: Effects, _ engine: Engine, at now: Timestamp) -> String? {
    for action in effects.actions {
      switch action {
      // A new owner of a target knows nothing about it.
      case .tookOver, .notice(.leaseLost), .notice(.shardsReleased): (isWell, waitingSince) = (false, nil)
      default: break
      }
    }
    return pool(effects, engine) ?? patience(engine, at: now)
  }

  /// Targets without any result have at most the pool together.
  private func pool(_ effects: Effects, _ engine: Engine) -> String? {
    let settings = engine.settings
    guard settings.unprovenShare < 1 else { return nil }
    let new = BreakerWatch.starts(effects.store).filter { !heardOf.contains($0.call.spec.target) }
    guard let start = new.first else { return nil }
    let borrowed = engine.targets.reduce(0) { $1.isForgotten || heardOf.contains($1.key) ? $0 : $0 + $1.inFlight }
    if borrowed > max(1, Int(Double(settings.maxInFlight) * settings.unprovenShare)) {
      return "\(start.call.spec.target) began one of \(borrowed) attempts to targets that never answered"
    }
    return nil
  }

  /// A call to the healthy target gets a slot at once, unless targets that answer have them all.
  private mutating func patience(_ engine: Engine, at now: Timestamp) -> String? {
    guard isWaiting(engine, at: now) else {
      waitingSince = nil
      return nil
    }
    let since = waitingSince ?? now
    waitingSince = since
    if now - since <= Self.longest { return nil }
    let target = well.flatMap { engine.targetIndex[$0] }.map { engine.targets[$0] }
    let proven = target?.proven ?? 0
    return "\(well ?? "") has waited for a slot for \(now - since), with \(engine.borrowed) of \(engine.inFlight) "
      + "attempts under way borrowed, and has proven \(proven)"
  }

  private func isWaiting(_ engine: Engine, at now: Timestamp) -> Bool {
    guard isWell, let well, let index = engine.targetIndex[well], engine.trouble == nil, engine.leases.canWork,
      !engine.isDraining
    else { return false }
    let target = engine.targets[index]
    guard target.inFlight == 0, target.ready > 0, !target.isLeaving, target.breaker.state == .closed else {
      return false
    }
    // Slots that a namespace borrowed before there was another are its own, and count.
    let share = engine.settings.namespaceShare
    let left = Double(engine.settings.mostUnproven - engine.borrowed)
    let borrowed = Double(engine.namespaces[target.namespace].borrowed - 1)
    if engine.isShared, borrowed * (1 - share) >= max(1, left) * share { return false }
    let busy = engine.targets.reduce(0) { sum, target in
      target.isForgotten || QualifiedKey.bare(target.key).contains("//hang") ? sum : sum + target.inFlight
    }
    return busy < engine.settings.maxInFlight / 4
  }
}
