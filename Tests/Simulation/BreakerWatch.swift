internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// Follows the breakers by the engine's notices, and counts the calls that they let through.
struct BreakerWatch {
  private enum State {
    case closed
    case open(until: Timestamp)
    case halfOpen
    case tripped
  }

  private struct Attempt: Hashable {
    var id: CallID
    var number: Int
  }

  /// What the calls of a target have in common: paths, credentials and labels; and since the last success of each, which of
  /// them have failed at all, and in probes.
  private struct Kinds {
    var failed: Set<String> = []
    var probed: Set<String> = []
    var lastProbe: Timestamp?
    /// When the last probe of the interval began, and the last of those that can only have gone beside it.
    var lastUsual: Timestamp?
    var lastBeside: Timestamp?
    /// Whether there was an outage, after which failures may count for one kind alone.
    var hadOutage = false

    /// If the clock steps back, nobody waits until it reaches its old time, and what was let through then may begin a moment later.
    mutating func clockIs(_ now: Timestamp) {
      if let last = lastUsual, now < last { lastUsual = .epoch }
      if let last = lastBeside, now < last { lastBeside = .epoch }
    }

    static func of(_ spec: CallSpec) -> Set<String> {
      Set([spec.url] + spec.headers.map(\.value) + spec.labels.map { "\($0.name)=\($0.value)" })
    }
  }

  private var kinds: [TargetKey: Kinds] = [:]
  private var kindsOf: [Attempt: Set<String>] = [:]
  /// Probes in flight, and those among them that did not wait for the interval.
  private var probing: Set<Attempt> = []
  private var early: Set<Attempt> = []
  /// Probes in flight that may be such.
  private var maybeEarly: Set<Attempt> = []
  /// Targets to which such a probe has succeeded in this step, or whose settings have changed.
  private var mayClose: Set<TargetKey> = []

  /// The numbers of attempts in flight, in the order in which they were started.
  private var numbers: [Attempt: Int] = [:]
  private var started = 0

  private struct Breaker {
    var state = State.closed
    /// Probes let through since it became half-open, except those without a result.
    var probes: Set<Attempt> = []
    /// Attempts that certainly count for the closed breaker.
    var judged: Set<Attempt> = []
    /// The calls of the failures in a row among those; the breaker may count more.
    var failures: Set<CallID> = []
    /// The calls of all failures that the breaker may count, by the number of their attempts, and the highest number of an
    /// attempt that has succeeded.
    var mayCount: [(number: Int, call: CallID)] = []
    var succeeded = 0
    /// Whether there were enough failures in this step before a success.
    var couldOpen = false
    /// The number of the last attempt before its last change.
    var since: Int
    /// Its settings, and how many probes it has let through since it became half-open.
    var settings: CircuitBreakerSettings
    var permitted: Int

    init(state: State = .closed, _ settings: CircuitBreakerSettings, since: Int) {
      self.state = state
      self.since = since
      self.settings = settings
      permitted = settings.halfOpenProbes
    }

    mutating func succeed(_ number: Int) {
      // Ends of attempts that began before its last change do not count.
      guard number > since else { return }
      couldOpen = couldOpen || mayOpen
      succeeded = max(succeeded, number)
      mayCount.removeAll { $0.number <= succeeded }
    }

    /// Whether there are enough failures since the last success; a rate that was set needs no run of them.
    var mayOpen: Bool {
      settings.failureRate <= 1 || Set(mayCount.map(\.call)).count >= settings.consecutiveFailures
    }
  }

  private let defaults: TargetSettings
  /// The breaker settings that operators have changed in this step.
  private var configured: [ReplyToken<TargetCommand.Reply>: (target: TargetKey, overrides: TargetOverrides)] = [:]
  /// Targets that have reached their maximum of failures.
  private var due: Set<TargetKey> = []
  private var breakers: [TargetKey: Breaker] = [:]
  /// Attempts with less than their own time, because their deadline is near: their timeouts say nothing, unless the
  /// silence was long.
  private var hurried: Set<Attempt> = []
  /// The targets of attempts in flight, and those that have answered.
  private var targets: [Attempt: TargetKey] = [:]
  private var answered: Set<TargetKey> = []
  private let longSilence: Duration
  /// When targets have last processed a request, and the longest time that one took.
  private var deliveries: [TargetKey: (at: Timestamp, longest: Duration)] = [:]

  init(settings: EngineSettings, recovered: RecoveredState) {
    defaults = settings.target
    longSilence = settings.longSilence
    goOn(recovered)
  }

  /// The instance has gained shards.
  private mutating func tookOver(_ shards: ShardSet, _ state: RecoveredState) {
    forget(shards)
    goOn(state)
  }

  private mutating func goOn(_ state: RecoveredState) {
    for (target, record) in state.targets where record.breaker != nil || record.controls != TargetControls() {
      let settings = record.controls.overrides.applied(to: defaults).breaker
      let open = record.breaker.map { State.open(until: $0.until) } ?? .closed
      breakers[target] = Breaker(state: record.controls.isTripped ? .tripped : open, settings, since: started)
    }
  }

  private mutating func forget(_ shards: ShardSet) {
    for target in breakers.keys where shards.contains(target: target) {
      breakers[target] = nil
      due.remove(target)
    }
    // What has failed in an outage is not in the store.
    for target in kinds.keys where shards.contains(target: target) { kinds[target] = nil }
  }

  /// The events and the effects of a step.
  private mutating func follow(_ effects: Effects, gains: Bool) {
    for action in effects.actions {
      switch action {
      case .tookOver(let shards, let state) where gains: tookOver(shards, state)
      case .notice(.shardsReleased(let shards)) where !gains: forget(shards)
      case .notice(.leaseLost) where !gains: forget(.all)
      default: break
      }
    }
  }

  private func settings(_ target: TargetKey) -> CircuitBreakerSettings {
    breakers[target]?.settings ?? defaults.breaker
  }

  /// The events before a step: probes that say nothing about the target are given back.
  mutating func willHear(_ events: [EngineEvent], at now: Timestamp) {
    configured = [:]
    mayClose = []
    for target in breakers.keys { breakers[target]?.couldOpen = false }
    for target in kinds.keys { kinds[target]?.clockIs(now) }
    for event in events {
      switch event {
      case .targetCommand(let control):
        if case .configure(let overrides) = control.kind {
          configured[control.reply] = (control.target, overrides)
        }
      case .attemptTooLate(let id, let number):
        let attempt = Attempt(id: id, number: number)
        targets[attempt] = nil
        numbers[attempt] = nil
        hurried.remove(attempt)
        kindsOf[attempt] = nil
        probing.remove(attempt)
        early.remove(attempt)
        maybeEarly.remove(attempt)
        giveBack(attempt)
      case .attemptEnded(let id, let number, let result):
        let attempt = Attempt(id: id, number: number)
        let target = targets.removeValue(forKey: attempt)
        if let target { learn(attempt, result, of: target) }
        let order = numbers.removeValue(forKey: attempt) ?? 0
        func mayCount() { if let target { breakers[target]?.mayCount.append((order, id)) } }
        let wasHurried = hurried.remove(attempt) != nil && result.failure?.code == AttemptFailure.timeout
        if wasHurried || result.outcome == .cancelled {
          // A long silence counts; for a target that has answered, only the engine knows how long that is.
          mayCount()
          if wasHurried, let target, !answered.contains(target), result.duration >= longSilence {
            judge(attempt, order, isFailure: true)
          } else {
            giveBack(attempt)
          }
          continue
        }
        switch result.outcome {
        case .cancelled, .localFault, .interrupted, .unusable, .blocked: giveBack(attempt)
        case .notSent, .maybeSent:
          judge(attempt, order, isFailure: true)
          mayCount()
        case .answered:
          if let target { answered.insert(target) }
          let status = result.status ?? 0
          let isFailure = status >= 500 || status == 429
          // The refusals of a target that processes others are about its load, and do not count with an adaptive pace.
          if isFailure, let target, isDelivering(target, at: now) {
            spare(attempt)
          } else {
            judge(attempt, order, isFailure: isFailure)
          }
          if isFailure {
            mayCount()
          } else if let target {
            breakers[target]?.succeed(order)
            let longest = max(result.duration, deliveries[target]?.longest ?? .zero)
            deliveries[target] = (now, longest)
          }
        }
      case .storeFailed(let request, _):
        for start in Self.starts([request]) { giveBack(Attempt(id: start.call.id, number: start.number)) }
      default: break
      }
    }
  }

  /// What the end of an attempt says about the kinds of its call.
  private mutating func learn(_ attempt: Attempt, _ result: AttemptResult, of target: TargetKey) {
    let (own, wasProbe) = (kindsOf.removeValue(forKey: attempt) ?? [], probing.remove(attempt) != nil)
    early.remove(attempt)
    let wasEarly = maybeEarly.remove(attempt) != nil
    let status = result.status ?? 0
    if result.outcome == .answered, status < 500, status != 429 {
      kinds[target, default: Kinds()].failed.subtract(own)
      kinds[target, default: Kinds()].probed.subtract(own)
      if wasEarly { mayClose.insert(target) }
    } else {
      kinds[target, default: Kinds()].failed.formUnion(own)
      let isCertain =
        switch result.outcome {
        case .notSent, .maybeSent: !hurried.contains(attempt)
        case .answered: true
        default: false
        }
      if wasProbe, isCertain { kinds[target, default: Kinds()].probed.formUnion(own) }
    }
  }

  /// Whether a call may be a probe that does not wait for the interval: it is of a kind that has not failed in one, and the
  /// last began long enough ago.
  private func mayBeEarly(_ call: CallSpec, at now: Timestamp) -> Bool {
    let known = kinds[call.target] ?? Kinds()
    return !Kinds.of(call).isSubset(of: known.probed)
      && known.lastProbe.map { now - $0 >= .milliseconds(500) || now < $0 } ?? true
  }

  /// Whether a call may be a probe beside those that have all places, and no answer for two seconds.
  private func mayGoBeside(_ target: TargetKey, at now: Timestamp) -> Bool {
    // What was let through begins a moment later if it has to wait for a connection. Of one that may have been early it is not known
    // whether it was of the interval.
    return [kinds[target]?.lastUsual, kinds[target]?.lastBeside].compactMap(\.self).allSatisfy {
      now < $0 || now - $0 >= .milliseconds(1900)
    }
  }

  private mutating func probe(
    _ attempt: Attempt, of target: TargetKey, isEarly: Bool, maybe: Bool = true, at now: Timestamp
  ) {
    probing.insert(attempt)
    if maybe { maybeEarly.insert(attempt) }
    if isEarly { early.insert(attempt) }
    kinds[target, default: Kinds()].lastProbe = now
  }

  private func isDelivering(_ target: TargetKey, at now: Timestamp) -> Bool {
    deliveries[target].map { now - $0.at <= max(.seconds(1), $0.longest * 4) } ?? false
  }

  /// It is not known whether a result counts. That of a probe does.
  private mutating func spare(_ attempt: Attempt) {
    for target in breakers.keys { breakers[target]?.judged.remove(attempt) }
  }

  private mutating func giveBack(_ attempt: Attempt) {
    for target in breakers.keys {
      breakers[target]?.probes.remove(attempt)
      breakers[target]?.judged.remove(attempt)
    }
  }

  /// - Parameter order: The number of the attempt.
  private mutating func judge(_ attempt: Attempt, _ order: Int, isFailure: Bool) {
    for (target, breaker) in breakers {
      guard breaker.judged.contains(attempt) else { continue }
      breakers[target]?.judged.remove(attempt)
      // What began before a success does not count.
      guard isFailure, order > breaker.succeeded else { continue }
      let failures = breaker.failures.union([attempt.id])
      breakers[target]?.failures = failures
      let isStrict =
        breaker.settings.significance == 1 && breaker.settings.failureTime == .zero
        && breaker.settings.consecutiveFailures > 0
      if isStrict, failures.count >= breaker.settings.consecutiveFailures { due.insert(target) }
    }
    // A result that does not certainly count may count all the same.
    if !isFailure { for target in breakers.keys { breakers[target]?.failures = [] } }
  }

  static func starts(_ requests: [StoreRequest]) -> [AttemptStart] {
    requests.flatMap { request -> [AttemptStart] in
      guard case .commit(_, let then) = request.body else { return [] }
      return then.compactMap { if case .start(let start) = $0 { start } else { nil } }
    }
  }

  /// The engine's memory of targets that it has forgotten: none.
  mutating func remember(only isRemembered: (TargetKey) -> Bool) {
    for target in breakers.keys where !isRemembered(target) {
      breakers[target]?.failures = []
      due.remove(target)
    }
  }

  /// The effects of a step. A step may let calls through before it opens a breaker and after it closes one, so it is
  /// compared with the most open of its states.
  mutating func step(
    _ effects: Effects, putOff: Set<ReplyToken<TargetCommand.Reply>>, at now: Timestamp
  ) -> String? {
    follow(effects, gains: true)
    defer { follow(effects, gains: false) }
    // The engine no longer receives the results of its attempts.
    for case .notice(.leaseLost) in effects.actions { return nil }
    if let fault = configure(effects, putOff) { return fault }
    var wasClosed: Set<TargetKey> = []
    var changed: Set<TargetKey> = []
    var wasHalfOpen: Set<TargetKey> = []
    for action in effects.actions {
      guard case .notice(let notice) = action else { continue }
      switch notice {
      case .breakerOpened(let target, _, _, _, _), .breakerHalfOpen(let target), .breakerClosed(let target),
        .targetControlled(let target, action: "trip"), .targetControlled(let target, action: "reset"),
        .targetControlled(let target, action: "release"), .targetControlled(let target, action: "configure"):
        changed.insert(target)
        due.remove(target)
      default: continue
      }
      switch notice {
      case .breakerOpened(let target, let until, _, _, _):
        if case .closed = state(target) {
          wasClosed.insert(target)
          if let breaker = breakers[target], !breaker.mayOpen, !breaker.couldOpen {
            return
              "\(target) delivers, and its breaker opened after the failures of \(Set(breaker.mayCount.map(\.call)).count) calls, "
              + "not \(breaker.settings.consecutiveFailures)"
          }
        }
        if case .halfOpen = state(target) { wasHalfOpen.insert(target) }
        kinds[target, default: Kinds()].hadOutage = true
        breakers[target] = Breaker(state: .open(until: until), settings(target), since: started)
      case .breakerHalfOpen(let target):
        guard case .open(let until) = state(target) else { return "\(target) became half-open and was not open" }
        if now < until, !mayClose.contains(target) { return "\(target) became half-open \(until - now) early" }
        breakers[target] = Breaker(state: .halfOpen, settings(target), since: started)
      case .breakerClosed(let target):
        if case .halfOpen = state(target) {
        } else if !mayClose.contains(target) {
          return "\(target) closed and was not half-open"
        }
        breakers[target] = Breaker(settings(target), since: started)
        kinds[target, default: Kinds()].probed = []
        wasClosed.insert(target)
      case .targetControlled(let target, action: "trip"):
        if case .closed = state(target) { wasClosed.insert(target) }
        if case .halfOpen = state(target) { wasHalfOpen.insert(target) }
        breakers[target] = Breaker(state: .tripped, settings(target), since: started)
      case .targetControlled(let target, action: "reset"), .targetControlled(let target, action: "release"):
        breakers[target] = Breaker(settings(target), since: started)
        kinds[target] = nil
        wasClosed.insert(target)
      default: break
      }
    }
    if let target = due.first {
      return "\(target) failed \(settings(target).consecutiveFailures) times in a row and its breaker is closed"
    }
    for start in Self.starts(effects.store) {
      let target = start.call.spec.target
      let attempt = Attempt(id: start.call.id, number: start.number)
      targets[attempt] = target
      started += 1
      numbers[attempt] = started
      kindsOf[attempt] = Kinds.of(start.call.spec)
      if start.timeout < start.call.spec.policy.attemptTimeout { hurried.insert(attempt) }
      if wasClosed.contains(target) || wasHalfOpen.contains(target) {
        // It may have begun after the change, too.
        if case .open = state(target), mayBeEarly(start.call.spec, at: now) {
          probe(attempt, of: target, isEarly: true, at: now)
        }
      }
      if wasClosed.contains(target) { continue }
      switch state(target) {
      case .closed:
        // With its first attempt it has begun.
        let new = Breaker(defaults.breaker, since: started - 1)
        if !changed.contains(target), isJudged(start.call.spec) {
          breakers[target, default: new].judged.insert(attempt)
        }
      case .open where wasHalfOpen.contains(target): break
      case .tripped where wasHalfOpen.contains(target): break
      case .tripped: return "\(start.call.id) was started at \(target), whose breaker somebody holds open"
      case .open where mayBeEarly(start.call.spec, at: now): probe(attempt, of: target, isEarly: true, at: now)
      case .open(let until): return "\(start.call.id) was started at \(target), which is open until \(until.text)"
      case .halfOpen:
        let (maybe, maybeBeside) = (mayBeEarly(start.call.spec, at: now), mayGoBeside(target, at: now))
        let isBeyond = breakers[target].map { $0.probes.count >= $0.permitted } == true
        let isEarly = isBeyond && (maybe || maybeBeside)
        // Of one that may have gone beside others it is not known which of them it delays: an early success takes a place, too.
        let known = kinds[target]?.lastProbe
        probe(attempt, of: target, isEarly: isEarly, maybe: maybe || isEarly, at: now)
        if maybeBeside {
          kinds[target]?.lastProbe = known
          if isEarly, !maybe { kinds[target]?.lastBeside = now }
        }
        if isEarly { continue }
        // Or it was early, and delays none of the others.
        if !maybe { kinds[target]?.lastUsual = now }
        breakers[target]?.probes.insert(attempt)
        let count = breakers[target]?.probes.count ?? 0
        let permitted = breakers[target]?.permitted ?? 1
        if count > permitted { return "\(target) is half-open and let \(count) probes through, not \(permitted)" }
      }
    }
    return nil
  }

  /// Whether a failure of a call certainly counts for the breaker: after an outage it may be a matter of its own kind.
  private func isJudged(_ call: CallSpec) -> Bool {
    guard let known = kinds[call.target], known.hadOutage else { return true }
    return known.failed.isDisjoint(with: Kinds.of(call))
  }

  /// Applies the settings of operators. A closed breaker forgets its counts; a half-open one may have the new number of
  /// probes, too. One that is open may close by them.
  private mutating func configure(_ effects: Effects, _ putOff: Set<ReplyToken<TargetCommand.Reply>>) -> String? {
    for token in putOff { configured[token] = nil }
    for case .reply(.targetCommand(let token, let reply)) in effects.actions where reply.refusal != nil {
      configured[token] = nil
    }
    for (_, word) in configured.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let new = word.overrides.applied(to: defaults).breaker
      var breaker = breakers[word.target] ?? Breaker(defaults.breaker, since: started)
      guard new != breaker.settings else { continue }
      breaker.settings = new
      mayClose.insert(word.target)
      let hasProbes = probing.contains { targets[$0] == word.target && !early.contains($0) }
      if case .halfOpen = breaker.state, !hasProbes { (breaker.permitted, breaker.probes) = (new.halfOpenProbes, []) }
      switch breaker.state {
      case .open where new.isOff, .halfOpen where new.isOff:
        let isTold = effects.actions.contains {
          if case .notice(.breakerClosed(word.target)) = $0 { true } else { false }
        }
        if !isTold { return "the breaker of \(word.target) is turned off and stays open" }
      default: break
      }
      // It has its interval by the new settings.
      for case .notice(.targetStands(word.target, let standing)) in effects.actions {
        if case .open = breaker.state, case .open(let until) = standing.breaker { breaker.state = .open(until: until) }
      }
      breaker.judged = []
      breaker.failures = []
      breaker.since = started
      breakers[word.target] = breaker
      due.remove(word.target)
    }
    return nil
  }

  private func state(_ target: TargetKey) -> State { breakers[target]?.state ?? .closed }
}

extension Timestamp {
  /// Seconds within the run.
  var text: String { "\((self - World.start).inSeconds)s" }
}
