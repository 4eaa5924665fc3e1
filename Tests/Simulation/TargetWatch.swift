internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// Follows the changes of operators and the pauses that targets ask for, and compares each attempt, when it is decided,
/// with the pauses, forced breakers, limits and budgets.
///
/// A step has several events and several decisions, so an attempt is compared with the more lenient of the states
/// before and after the step.
struct TargetWatch {
  /// An attempt of a call.
  struct Attempt: Hashable {
    var id: CallID
    var number: Int
  }

  /// A pause.
  struct Rest {
    private(set) var until: Timestamp?
    private var from = Timestamp.epoch
    /// How many calls of sources have been tried of which the target had taken none lately.
    var trials = 0

    mutating func ask(until end: Timestamp, from start: Timestamp, at now: Timestamp) {
      if until ?? now <= now { trials = 0 }
      until = max(end, until ?? end)
      from = max(from, start)
    }

    /// An attempt was taken, or an operator ends it.
    mutating func end(from start: Timestamp = .distantFuture) {
      if start > from { until = nil }
    }
  }

  /// The state of a target as seen from outside the engine.
  struct Target {
    var controls = TargetControls()
    var settings: TargetSettings
    var inFlight: Set<Attempt> = []
    /// Attempts begun since the rate was last set.
    var begun: [Timestamp] = []
    /// First attempts and retries begun since the budget was last set.
    var firsts: [Timestamp] = []
    var retries: [(attempt: Attempt, at: Timestamp)] = []
    /// When its breaker closed.
    var recoveredAt: Timestamp?
    /// Until when it must be left alone, because it has refused requests, and until when it may be, also because of fields
    /// that show an exhausted quota. With each, when the latest attempt began that was answered so.
    var mustRest = Rest()
    var mayRest = Rest()
    /// The sources whose calls it has taken since it last refused one of them.
    var welcome: Set<CallSource> = []
    /// When the latest attempt began that was taken.
    var takenFrom = Timestamp.epoch
    /// Whether it has refused a request for its number.
    var hasRefused = false
    /// Calls that left its queue since one left it by age and not by priority.
    var departures = 0
    /// The wait that its calls show, and since when.
    var told = TargetStanding()
    var toldAt = Timestamp.epoch
    /// The operator who changed it last.
    var lastWord: ReplyToken<TargetCommand.Reply>?

    /// The maximum number of attempts in flight.
    func limit(at now: Timestamp) -> Int {
      guard settings.pace == .fixed, let recoveredAt, settings.slowStart > .zero, now - recoveredAt < settings.slowStart
      else {
        return settings.maxInFlight
      }
      let share = max(0.1, (now - recoveredAt).inSeconds / settings.slowStart.inSeconds)
      return max(1, Int(Double(settings.maxInFlight) * share + 1e-9))
    }

    func isHeld(at now: Timestamp) -> Bool { mustRest.until ?? now > now }

    mutating func configure(_ overrides: TargetOverrides, _ defaults: TargetSettings) {
      let new = overrides.applied(to: defaults)
      if new.ratePerSecond != settings.ratePerSecond || new.rateBurst != settings.rateBurst { begun = [] }
      if new.retryShare != settings.retryShare || new.retriesPerSecond != settings.retriesPerSecond {
        firsts = []
        retries = []
      }
      if new.slowStart != settings.slowStart { recoveredAt = nil }
      controls.overrides = overrides
      settings = new
    }
  }

  private let settings: EngineSettings
  private(set) var targets: [TargetKey: Target] = [:]
  private var starts: [Attempt: AttemptStart] = [:]

  // The state of one step.
  private var before: [TargetKey: Target] = [:]
  private var calls = CallTable()
  private var heard: [TargetCommand] = []
  /// Targets with an event that may change when their calls run.
  private var stirred: Set<TargetKey> = []
  private var released: Set<TargetKey> = []
  private var operated: Set<CallID> = []
  private var storeFailed = false

  init(settings: EngineSettings, recovered: RecoveredState) {
    self.settings = settings
    for (key, record) in recovered.targets {
      var target = Target(settings: settings.target)
      target.configure(record.controls.overrides, settings.target)
      target.controls = record.controls
      if let breaker = record.breaker { target.told.breaker = .open(until: breaker.until) }
      targets[key] = target
    }
  }

  /// The events of a step.
  private mutating func takeOver(_ effects: Effects, at now: Timestamp) {
    for case .tookOver(let shards, let state) in effects.actions {
      forget(shards)
      var recovered = Self(settings: settings, recovered: state)
      recovered.recoverPauses(state, at: now)
      for (key, target) in recovered.targets {
        targets[key] = target
        before[key] = target
      }
    }
  }

  /// The pauses that targets had asked an earlier owner for. The clocks of two owners may differ.
  private mutating func recoverPauses(_ state: RecoveredState, at now: Timestamp) {
    for (key, record) in state.targets {
      guard let until = record.askedUntil else { continue }
      self[key].mustRest.ask(until: min(until, now + settings.maxRetryAfterPause), from: now, at: now)
      self[key].mayRest = self[key].mustRest
      self[key].hasRefused = true
    }
  }

  /// The effects of a step.
  private mutating func letGo(_ effects: Effects) {
    for case .notice(let notice) in effects.actions {
      switch notice {
      case .shardsReleased(let shards): forget(shards)
      case .leaseLost: forget(.all)
      default: break
      }
    }
  }

  private mutating func forget(_ shards: ShardSet) {
    for key in targets.keys where shards.contains(target: key) { targets[key] = nil }
    for (attempt, start) in starts where shards.contains(target: start.call.spec.target) { starts[attempt] = nil }
  }

  subscript(key: TargetKey) -> Target {
    get { targets[key] ?? Target(settings: settings.target) }
    set { targets[key] = newValue }
  }

  // MARK: Before a step

  mutating func willHear(_ events: [EngineEvent], calls: CallTable, at now: Timestamp) {
    before = targets
    self.calls = calls
    heard = []
    stirred = []
    released = []
    operated = []
    storeFailed = false
    for event in events {
      switch event {
      case .recovered(let state): recoverPauses(state, at: now)
      case .targetCommand(let control): heard.append(control)
      case .command(let operation), .fetched(let operation, _): operated.insert(operation.id)
      case .attemptEnded(let id, let number, let result): ended(Attempt(id: id, number: number), result, at: now)
      case .attemptTooLate(let id, let number): ended(Attempt(id: id, number: number))
      case .storeFailed(let request, _):
        storeFailed = true
        for start in BreakerWatch.starts([request]) { tookBack(start) }
      default: break
      }
    }
  }

  private mutating func ended(_ attempt: Attempt, _ result: AttemptResult, at now: Timestamp) {
    guard let start = ended(attempt) else { return }
    let key = start.call.spec.target
    let rule = start.call.spec.policy.retryAfter
    guard result.outcome == .answered, let status = result.status else { return }
    let from = start.call.progress.due
    let isRefusal = status == 429 || status == 503
    let source = CallSource(start.call.spec)
    if isRefusal {
      self[key].hasRefused = true
      self[key].welcome.remove(source)
    }
    let field = isRefusal ? result.response?.head.first("retry-after") : nil
    let asked = field.flatMap { RetryAfter.parse($0, at: now) } ?? result.response?.quotaWait(at: now)
    guard rule.isRespected, let asked, asked > .zero else {
      guard 200...299 ~= status else { return }
      self[key].welcome.insert(source)
      self[key].takenFrom = max(self[key].takenFrom, from)
      self[key].mustRest.end(from: from)
      self[key].mayRest.end(from: from)
      return
    }
    guard from >= self[key].takenFrom else { return }
    let until = now + min(asked, rule.maximum, settings.maxRetryAfterPause)
    self[key].mayRest.ask(until: until, from: from, at: now)
    if isRefusal { self[key].mustRest.ask(until: until, from: from, at: now) }
  }

  @discardableResult
  private mutating func ended(_ attempt: Attempt) -> AttemptStart? {
    guard let start = starts.removeValue(forKey: attempt) else { return nil }
    self[start.call.spec.target].inFlight.remove(attempt)
    stirred.insert(start.call.spec.target)
    return start
  }

  private mutating func tookBack(_ start: AttemptStart) {
    let attempt = Attempt(id: start.call.id, number: start.number)
    starts[attempt] = nil
    stirred.insert(start.call.spec.target)
    self[start.call.spec.target].inFlight.remove(attempt)
    self[start.call.spec.target].retries.removeAll { $0.attempt == attempt }
  }

  // MARK: After a step

  /// The result of a step; returns a violation.
  ///
  /// - Parameter putOff: Commands that the engine obeys, or refuses, in a later step.
  mutating func step(
    _ effects: Effects, _ engine: Engine, putOff: Set<ReplyToken<TargetCommand.Reply>>, at now: Timestamp
  ) -> String? {
    takeOver(effects, at: now)
    defer { letGo(effects) }
    obey(effects, putOff)
    let standings = targets.mapValues { ($0.told, $0.toldAt) }
    listen(effects, at: now)
    for request in effects.store {
      guard case .commit(let writes, let then) = request.body else { continue }
      var new: Set<CallID> = []
      for case .insert(let record) in writes { new.insert(record.id) }
      for case .start(let start) in then {
        let key = start.call.spec.target
        let shown = standings[key] ?? (TargetStanding(), .epoch)
        if let fault = begin(start, at: now) { return fault }
        // A call that is tried during a pause goes before those that wait for its end, and one of a kind that has not failed
        // before those that wait for the breaker or the pace.
        if let place = engine.roster.place(of: key) {
          let target = engine.roster.targets[place]
          if target.limits.pause.until != nil || target.breaker.state != .closed || target.failing.isUnproven {
            self[key].departures += 1
            continue
          }
        }
        let fault =
          checkPriority(start, isNew: new.contains(start.call.id), engine)
          ?? checkWait(start, shown.0, since: shown.1, at: now)
        if let fault { return fault }
      }
    }
    // The limit of a target that was idle for long ends when it is forgotten (seed 1762).
    for key in targets.keys where engine.roster.place(of: key) == nil { self[key].told.paceUntil = nil }
    return checkReported(engine, at: now)
  }

  /// Operators' changes that were neither refused nor put off.
  private mutating func obey(_ effects: Effects, _ putOff: Set<ReplyToken<TargetCommand.Reply>>) {
    var refused = putOff
    for case .reply(.targetCommand(let token, let reply)) in effects.actions where reply.refusal != nil {
      refused.insert(token)
    }
    for control in heard where !refused.contains(control.reply) {
      let key = control.target
      stirred.insert(key)
      self[key].lastWord = control.reply
      switch control.kind {
      case .configure(let overrides): self[key].configure(overrides, settings.target)
      case .patch(let patch):
        guard let overrides = try? patch.applied(to: self[key].controls.overrides, of: key) else { continue }
        self[key].configure(overrides, settings.target)
      case .pause: self[key].controls.isPaused = true
      case .resume: self[key].controls.isPaused = false
      case .trip: self[key].controls.isTripped = true
      case .reset: self[key].controls.isTripped = false
      case .release:
        self[key].controls.isTripped = false
        self[key].mustRest.end()
        released.insert(key)
      }
    }
  }

  /// Notices about targets.
  private mutating func listen(_ effects: Effects, at now: Timestamp) {
    for case .notice(let notice) in effects.actions {
      switch notice {
      case .breakerOpened(let key, let until, _, _, _): self[key].told.breaker = .open(until: until)
      case .breakerHalfOpen(let key): self[key].told.breaker = .halfOpen
      case .breakerClosed(let key):
        self[key].told.breaker = .closed
        // By other settings it closes without a slow start: the target was not out by them (seed 1831).
        self[key].recoveredAt = heard.contains { $0.target == key } ? nil : now
      case .targetStands(let key, let standing):
        self[key].told = standing
        self[key].toldAt = now
      default: break
      }
    }
  }

  private mutating func begin(_ start: AttemptStart, at now: Timestamp) -> String? {
    let key = start.call.spec.target
    let attempt = Attempt(id: start.call.id, number: start.number)
    let old = before[key] ?? Target(settings: settings.target)
    var target = self[key]
    defer {
      starts[attempt] = start
      target.inFlight.insert(attempt)
      target.begun.append(now)
      self[key] = target
    }
    if old.controls.isPaused, target.controls.isPaused {
      return "\(start.call.id) was started at \(key), which is paused"
    }
    if old.isHeld(at: now), target.isHeld(at: now) {
      let until = target.mustRest.until?.text ?? ""
      // One call of another source than the refused one is tried.
      let isWelcome = target.welcome.contains(CallSource(start.call.spec))
      guard isWelcome || target.mustRest.trials == 0 else {
        return "\(start.call.id) was started at \(key), which is to be left alone until \(until)"
      }
      if !isWelcome { target.mustRest.trials += 1 }
    }
    let limit = max(old.limit(at: now), target.limit(at: now))
    if target.inFlight.count >= limit {
      return "\(target.inFlight.count + 1) attempts are in flight to \(key), not \(limit)"
    }
    if start.timeout > max(old.settings.attemptTimeout, target.settings.attemptTimeout) {
      return "an attempt of \(start.call.id) may take longer than \(key) allows"
    }
    return checkRate(old, target, key, at: now) ?? checkBudget(&target, key, start, at: now)
  }

  /// - Parameter old: The target before this step. An attempt may have started before a command changed the rate in the
  ///   same step (found at seed 12614).
  private func checkRate(_ old: Target, _ target: Target, _ key: TargetKey, at now: Timestamp) -> String? {
    guard old.settings.ratePerSecond > 0, target.settings.ratePerSecond > 0 else { return nil }
    let rate = max(old.settings.ratePerSecond, target.settings.ratePerSecond)
    let burst = Double(max(old.settings.rateBurst, target.settings.rateBurst))
    for (index, first) in target.begun.enumerated() {
      let count = target.begun.count - index + 1
      let allowed = burst + (now - first).inSeconds * rate
      if Double(count) > allowed + 0.01 {
        return "\(count) attempts to \(key) within \(now - first), \(allowed) allowed"
      }
    }
    return nil
  }

  private func checkBudget(_ target: inout Target, _ key: TargetKey, _ start: AttemptStart, at now: Timestamp)
    -> String?
  {
    guard target.settings.retriesPerSecond > 0 else { return nil }
    guard start.number > start.call.progress.attemptsBefore + 1 else {
      target.firsts.append(now)
      return nil
    }
    target.retries.append((Attempt(id: start.call.id, number: start.number), now))
    // The budget covers ten seconds, or up to a second less, depending on its steps.
    let firsts = target.firsts.count { now - $0 <= .seconds(10) }
    let retries = target.retries.count { now - $0.at < .seconds(9) }
    let allowed = Double(target.settings.retriesPerSecond * 10) + target.settings.retryShare * Double(firsts)
    return Double(retries) <= allowed ? nil : "\(retries) retries to \(key) in 9 s, \(allowed) allowed"
  }

  /// The highest priority is first, except for one call in ten.
  private mutating func checkPriority(_ start: AttemptStart, isNew: Bool, _ engine: Engine) -> String? {
    let key = start.call.spec.target
    defer { self[key].departures += 1 }
    guard !isNew, engine.suspects.last != start.call.id else { return nil }
    // Retries that wait for their budget are skipped.
    guard self[key].settings.retriesPerSecond == 0, before[key]?.settings.retriesPerSecond ?? 0 == 0,
      let own = calls[start.call.id], case .ready = own.phase
    else { return nil }
    let priority = start.call.spec.priority
    let passed = calls.values.first { other in
      guard other.record.spec.priority > priority, other.record.spec.target == key, case .ready = other.phase else {
        return false
      }
      // Calls of a caller that has too many slots are passed over, or stay while others start beside it.
      let target = engine.roster.targets[other.target]
      return engine.calls[other.record.id]?.stamp == other.stamp && target.due.passedOver == 0 && !target.beside.isShort
    }
    guard let passed else { return nil }
    let departures = self[key].departures
    self[key].departures = -1
    return departures >= 9
      ? nil
      : "\(start.call.id) of priority \(priority) went before \(passed.record.id) of \(passed.record.spec.priority)"
  }

  /// No call runs before the time that its wait shows, unless something happened.
  private func checkWait(_ start: AttemptStart, _ shown: TargetStanding, since: Timestamp, at now: Timestamp) -> String?
  {
    let key = start.call.spec.target
    guard let call = calls[start.call.id], !call.isRunning, !stirred.contains(key), !storeFailed,
      !operated.contains(start.call.id),
      let wait = CallView.Wait(of: call.record, for: shown, at: now), let until = wait.until, until > now
    else { return nil }
    // First attempts that have begun since pay for retries.
    if wait.reason == .retryBudget, self[key].firsts.contains(where: { $0 >= since }) { return nil }
    return "\(start.call.id) was shown to wait for \(wait.reason) until \(until.text) and ran"
  }

  /// Notices about targets are true.
  private func checkReported(_ engine: Engine, at now: Timestamp) -> String? {
    for index in engine.roster.places {
      let actual = engine.roster.targets[index]
      let told = self[actual.key].told
      let controls = self[actual.key].controls
      if actual.controls != controls { return "\(actual.key) is not what operators have made of it" }
      if told.isPaused != controls.isPaused {
        return "\(actual.key) is paused: \(controls.isPaused), and told otherwise"
      }
      if (told.breaker == .tripped) != controls.isTripped {
        return "\(actual.key) is held open: \(controls.isTripped), and told otherwise"
      }
      if let until = actual.limits.pause.until, until > self[actual.key].mayRest.until ?? now,
        !released.contains(actual.key)
      {
        return "\(actual.key) is left alone until \(until.text), longer than it asked for or than it may be"
      }
      if let until = actual.limits.pause.until, until > now, !self[actual.key].hasRefused {
        return "\(actual.key) has refused nothing, and is left alone until \(until.text)"
      }
      if let until = actual.limits.pause.until, until > now, told.retryAfterUntil != until {
        return "\(actual.key) is held until \(until.text), and told otherwise"
      }
      if case .open(let until, _) = actual.breaker.state, told.breaker != .open(until: until) {
        return "the breaker of \(actual.key) is open until \(until.text), and told otherwise"
      }
    }
    return nil
  }

  // MARK: Operators

  /// An operator got the answer that it is so.
  func controlled(_ control: TargetCommand, in store: SimulatedStore) -> String? {
    // Another operator may have changed it since.
    guard self[control.target].lastWord == control.reply else { return nil }
    return store.targets[control.target, default: TargetRecord()].controls == self[control.target].controls
      ? nil : "\(control.kind.name) of \(control.target) was told before it was on disk"
  }
}
