internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// Checks that targets which hang do not use up the slots of those that answer.
struct SlotWatch {
  /// How long a call to the healthy target may wait for a slot.
  private static let longest = Duration.milliseconds(200)

  private let well: TargetKey?
  /// Targets with a result since the process began.
  private var heardOf: Set<TargetKey> = []
  /// Whether the last result of the healthy target was an answer.
  private var isWell = false
  /// Since when its calls wait only for a slot.
  private var waitingSince: Timestamp?

  init(well: TargetKey?) {
    self.well = well
  }

  /// The events before a step.
  mutating func willHear(_ events: [EngineEvent], _ engine: Engine) {
    for case .attemptTooLate(let id, _) in events where engine.calls[id]?.record.spec.target == well { isWell = false }
    for case .attemptEnded(let id, _, let result) in events {
      guard let call = engine.calls[id], call.isRunning else { continue }
      let key = call.record.spec.target
      let timedOut = result.failure?.code == AttemptFailure.timeout
      if result.outcome != .cancelled, !timedOut { heardOf.insert(key) }
      if key == well { isWell = result.outcome == .answered }
    }
  }

  /// Checks a step.
  ///
  /// - Returns: A violation.
  mutating func step(_ effects: Effects, _ engine: Engine, at now: Timestamp) -> String? {
    for action in effects.actions {
      switch action {
      // A new owner of a target knows nothing about it.
      case .tookOver, .notice(.leaseLost), .notice(.shardsReleased): (isWell, waitingSince) = (false, nil)
      default: break
      }
    }
    return pool(effects, engine) ?? connections(engine) ?? patience(engine, at: now)
  }

  /// An origin has no more attempts in flight than it may have connections.
  private func connections(_ engine: Engine) -> String? {
    let most = engine.settings.maxConnectionsPerOrigin
    guard most < 256 else { return nil }
    var inFlight: [UInt64: Int] = [:]
    for call in engine.calls.values where call.isRunning { inFlight[call.record.spec.originHash, default: 0] += 1 }
    return inFlight.values.first { $0 > most }.map { "\($0) attempts to one origin are in flight, not \(most)" }
  }

  /// Targets without any result have at most the pool together.
  private func pool(_ effects: Effects, _ engine: Engine) -> String? {
    let settings = engine.settings
    guard settings.unprovenShare < 1 else { return nil }
    let new = BreakerWatch.starts(effects.store).filter { !heardOf.contains($0.call.spec.target) }
    guard let start = new.first else { return nil }
    let borrowed = engine.roster.targets.reduce(0) {
      $1.isForgotten || heardOf.contains($1.key) ? $0 : $0 + $1.occupancy.inFlight
    }
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
    let target = well.flatMap { engine.roster.place(of: $0) }.map { engine.roster.targets[$0] }
    let proven = target?.credit.proven ?? 0
    return
      "\(well ?? "") has waited for a slot for \(now - since), with \(engine.roster.occupancy.borrowed) of \(engine.roster.occupancy.inFlight) "
      + "attempts in flight borrowed, and has proven \(proven)"
  }

  private func isWaiting(_ engine: Engine, at now: Timestamp) -> Bool {
    guard isWell, let well, let index = engine.roster.place(of: well), engine.desk.trouble == nil,
      engine.desk.leases.canWork,
      !engine.isDraining, !engine.waitsForSuspects
    else { return false }
    let target = engine.roster.targets[index]
    guard target.occupancy.inFlight == 0, target.occupancy.ready > 0, !target.limits.isDeparting,
      target.breaker.state == .closed
    else {
      return false
    }
    // Slots that a namespace borrowed before there was another are its own, and count.
    let share = engine.settings.namespaceShare
    let left = Double(engine.settings.mostUnproven - engine.roster.occupancy.borrowed)
    let borrowed = Double(engine.roster.namespaces[target.namespace].occupancy.borrowed - 1)
    if engine.roster.isShared, borrowed * (1 - share) >= max(1, left) * share { return false }
    let busy = engine.roster.targets.reduce(0) { sum, target in
      target.isForgotten || target.key.bare.contains("//hang") ? sum : sum + target.occupancy.inFlight
    }
    return busy < min(engine.settings.maxInFlight, engine.settings.maxConnectionsPerOrigin) / 4
  }
}
