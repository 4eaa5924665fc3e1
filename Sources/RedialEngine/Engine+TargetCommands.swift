internal import RedialCore
internal import RedialModel

/// Commands of operators about targets: on disk first, and then at once for waiting calls too.
extension Engine {
  /// Executes an operator's command.
  mutating func execute(_ command: TargetCommand) {
    if let trouble { return refuse(command.reply, trouble.problem) }
    guard leases.canWork else { return refuse(command.reply, Self.leaseLost) }
    guard owns(command.target) else { return refuse(command.reply, Self.ownedElsewhere(command.target)) }
    if targetIndex[command.target] == nil {
      let place = place(of: QualifiedKey.namespace(of: command.target))
      if refusalOfTarget(at: place) != nil { forgetIdleTargets() }
      if let problem = refusalOfTarget(at: place) { return refuse(command.reply, problem) }
    }
    let index = target(command.target)
    var controls = targets[index].controls
    switch command.kind {
    case .configure(let overrides): controls.overrides = overrides
    case .pause: controls.isPaused = true
    case .resume: controls.isPaused = false
    case .trip: controls.isTripped = true
    case .reset: controls.isTripped = false
    case .release:
      controls.isTripped = false
      targets[index].retryAfterUntil = nil
    }
    apply(controls, to: index)
    switch command.kind {
    case .trip:
      targets[index].breaker.force(.open)
      useNewBreakerSettings(index)
      tripReady(index)
      parkReady(index)
    case .reset, .release:
      targets[index].breaker.reset()
      useNewBreakerSettings(index)
      writes.append(.breaker(target: command.target, nil))
    case .pause: parkReady(index)
    case .configure, .resume: break
    }
    writes.append(.controls(target: command.target, controls))
    effects.actions.append(.notice(.targetControlled(target: command.target, action: command.kind.name)))
    reportStanding(index, always: true)
    enterRotation(index)
    afterCommit.append(.reply(command.reply, .controlled(describe(index))))
  }

  /// Applies an operator's settings to a target.
  mutating func apply(_ controls: TargetControls, to index: Int) {
    let old = targets[index].settings
    let new = controls.overrides.applied(to: settings.target(by: settings.rule(for: targets[index].key)))
    targets[index].controls = controls
    targets[index].settings = new
    originTLS.set(controls.overrides.tls, of: targets[index].key)
    targets[index].maxInFlight = min(new.maxInFlight, settings.mostPerTarget)
    useNewBreakerSettings(index)
    // A limit that does not change keeps its counts.
    if new.ratePerSecond != old.ratePerSecond || new.rateBurst != old.rateBurst {
      targets[index].rate = new.rateLimiter
    }
    if new.retryShare != old.retryShare || new.retriesPerSecond != old.retriesPerSecond {
      targets[index].budget = new.retryBudget
      targets[index].retriesUntil = nil
      sortReady(index)
    }
    if new.slowStart != old.slowStart { targets[index].slowStart = SlowStart(duration: new.slowStart) }
    targets[index].noteLimits(at: now)
  }

  /// Takes over the settings that operators made before this process.
  mutating func recover(_ controls: [(target: String, controls: TargetControls)]) {
    for (key, controls) in controls {
      let index = target(key)
      apply(controls, to: index)
      if controls.isTripped { targets[index].breaker.force(.open) }
      reportStanding(index, always: true)
    }
  }

  /// Gives a breaker the settings of its target. A half-open breaker gets them when it has left that state: its
  /// probes are in flight, and with other settings it would let more through beside them.
  mutating func useNewBreakerSettings(_ index: Int) {
    let settings = targets[index].settings.breaker
    guard targets[index].breaker.settings != settings else { return }
    if case .halfOpen = targets[index].breaker.state { return }
    targets[index].breaker.change(to: settings)
  }

  /// Separates retries from first attempts, or joins them, depending on whether there is a retry budget.
  private mutating func sortReady(_ index: Int) {
    let places = targets[index].readyPlaces.sorted { $0.isOlder(than: $1) }
    targets[index].queue = ReadyQueue()
    targets[index].retries = ReadyQueue()
    targets[index].readyRetries = 0
    for place in places {
      guard let call = calls[place.id], call.stamp == place.stamp else { continue }
      enqueue(place, of: index, isRetry: call.record.progress.isRetry)
      if targets[index].budget != nil, call.record.progress.isRetry { targets[index].readyRetries += 1 }
    }
  }
}

extension TargetCommand.Kind {
  /// The word in the API.
  var name: String {
    switch self {
    case .configure: "configure"
    case .pause: "pause"
    case .resume: "resume"
    case .trip: "trip"
    case .reset: "reset"
    case .release: "release"
    }
  }
}
