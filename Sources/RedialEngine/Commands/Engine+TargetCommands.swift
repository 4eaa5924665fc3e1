internal import RedialCore
internal import RedialModel

/// Commands of operators about targets: on disk first, and then at once for waiting calls too.
extension Engine {
  /// Executes an operator's command.
  mutating func execute(_ command: TargetCommand) {
    // The store may be closed by now.
    if hasDrained { return refuse(command, .draining) }
    if let trouble = desk.trouble { return refuse(command, trouble.refusal) }
    guard desk.leases.canWork else { return refuse(command, .leaseLost) }
    let key = command.target
    guard owns(key) else {
      effects.actions.append(.reply(.targetCommand(command.reply, .elsewhere(key))))
      return
    }
    if roster.place(of: key) == nil {
      let place = roster.place(of: command.target.namespace)
      if refusalOfTarget(at: place) != nil { forgetIdleTargets() }
      if let refusal = refusalOfTarget(at: place) { return refuse(command, refusal) }
    }
    var controls = roster.place(of: key).map { roster.targets[$0].controls } ?? TargetControls()
    do throws(Problem) { try command.kind.change(&controls, of: key) } catch { return refuse(command, .found(error)) }
    keep(command.audit)
    let index = target(key)
    let privacy = roster.targets[index].controls.overrides.privacy
    if command.kind == .release {
      roster[index].changePause(at: now) { $0.release() }
      savePause(index)
    }
    save(index) { $0.controls = controls }
    tell(controls.overrides.privacy, of: key, before: privacy)
    if apply(controls, to: index) {
      savePace(index, .change)
      report(.breakerClosed(target: key), of: index)
    }
    // Without a slot nobody will look soon for what holds its calls back.
    roster[index].hold(command.kind.reason, at: now)
    switch command.kind {
    case .trip:
      roster[index].trip()
      roster[index].useNewBreakerSettings()
      tripReady(index)
      parkReady(index)
    case .reset, .release:
      roster[index].release(forgets: command.kind == .reset, at: now)
      save(index) { record in
        record.breaker = nil
        if command.kind == .reset { record.usual = nil }
      }
      savePace(index, .change)
    case .pause: parkReady(index)
    case .configure, .patch, .resume: break
    }
    followOutage(index)
    reportStanding(index, always: true)
    roster.enterRotation(index)
    afterCommit.append(.reply(.targetCommand(command.reply, .done(describe(index)))))
    // Last: their webhooks may have targets that take the place of one that is forgotten.
    report(.targetControlled(target: key, action: command.kind.name), of: index)
    if roster.place(of: key) == index { examineOutage(index) }
  }

  mutating func refuse(_ command: TargetCommand, _ refusal: Refusal) {
    effects.actions.append(.reply(.targetCommand(command.reply, .refused(refusal))))
  }

  /// Applies an operator's settings to a target. Returns whether its breaker, which was open, closes because it would not
  /// have opened by them: then nothing waits for it or the pace any longer.
  @discardableResult
  private mutating func apply(_ controls: TargetControls, to index: Int) -> Bool {
    let key = roster.targets[index].key
    var overrides = controls.overrides
    overrides.tls = applicableTLS(controls, of: key).tls
    let new = overrides.applied(to: settings.target(by: settings.rule(for: key)))
    originTLS.set(overrides.tls, of: key)
    let wasClosed = roster.targets[index].breaker.state == .closed
    roster[index].apply(new, most: settings.mostPerTarget, in: calls.table, at: now)
    if case .open(let until, let trips) = roster.targets[index].breaker.state,
      roster.targets[index].record.breaker != nil
    {
      save(index) { $0.breaker = OpenBreaker(until: until, trips: trips) }
    }
    guard !wasClosed, roster.targets[index].breaker.state == .closed else { return false }
    roster[index].release(forgets: false, at: now)
    save(index) { $0.breaker = nil }
    return true
  }

  /// Goes on with what operators had set before this process.
  mutating func recover(_ controls: TargetControls, of index: Int) {
    let key = roster.targets[index].key
    apply(controls, to: index)
    if controls.isTripped { roster[index].trip() }
    let leftOut = applicableTLS(controls, of: key).leftOut
    if !leftOut.isEmpty { effects.actions.append(.notice(.tlsFilesLeftOut(target: key, members: leftOut))) }
    if controls.overrides.tls?.origins(of: key).isEmpty == true {
      effects.actions.append(.notice(.tlsWithoutOrigins(target: key)))
    }
  }

  private func applicableTLS(_ controls: TargetControls, of key: TargetKey) -> (tls: TargetTLS?, leftOut: [String]) {
    controls.overrides.tls?.applicable(in: key.namespace.tlsDirectory(in: settings.tlsDirectory)) ?? (nil, [])
  }
}

extension TargetCommand.Kind {
  /// Changes what operators have set for a target.
  ///
  /// - Throws: A problem if a patch and the settings that are there do not go together.
  func change(_ controls: inout TargetControls, of key: TargetKey) throws(Problem) {
    switch self {
    case .configure(let overrides): controls.overrides = overrides
    case .patch(let patch): controls.overrides = try patch.applied(to: controls.overrides, of: key)
    case .pause: controls.isPaused = true
    case .resume: controls.isPaused = false
    case .trip: controls.isTripped = true
    case .reset, .release: controls.isTripped = false
    }
  }

  /// What holds calls back after it, unless something else does too.
  var reason: WaitReason {
    switch self {
    case .pause: .paused
    case .trip: .breaker
    case .configure, .patch, .resume, .reset, .release: .concurrency
    }
  }

  /// The word in the API.
  var name: String {
    switch self {
    case .configure, .patch: "configure"
    case .pause: "pause"
    case .resume: "resume"
    case .trip: "trip"
    case .reset: "reset"
    case .release: "release"
    }
  }
}
