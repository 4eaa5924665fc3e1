internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// The service's own engine in virtual time, with a store that commits at once.
struct VirtualService {
  private(set) var engine: Engine
  private var store = VirtualStore()
  /// When the engine needs a step if nothing happens before; nil for never.
  private(set) var wakeAt: Timestamp?

  /// - Parameter seed: Of the backoff's jitter.
  init(_ settings: EngineSettings, seed: UInt64) {
    engine = Engine(settings: settings, seed: seed)
  }

  /// Begins, with a target that was never there before.
  mutating func begin(_ target: TargetKey, at now: Timestamp) -> Effect {
    step(
      [.recovered(RecoveredState(nextDue: nil, queued: [], targets: [(target, TargetRecord())], unfinished: 0))],
      at: now)
  }

  /// What a step has decided.
  struct Effect {
    /// Those that waited for the store too.
    var actions: [Action] = []
    var ends: [CallProgress] = []
  }

  /// Makes a step of the engine, and of the store what that asks for.
  mutating func step(_ events: [EngineEvent], at now: Timestamp) -> Effect {
    var events = events
    var effect = Effect()
    repeat {
      let effects = engine.handle(events, at: now)
      events = []
      for request in effects.store {
        switch request.body {
        case .commit(let writes, let then):
          effect.ends += store.commit(writes)
          effect.actions += then
        case .claimDue(let time, let limit): events.append(.claimedDue(store.claimDue(before: time, limit: limit)))
        case .claimQueued(let target, let limit):
          let calls = store.claimQueued(limit)
          events.append(.claimedQueued(target: target, calls: calls, complete: calls.count < limit))
        case .barrier: events.append(.storeWritten(epoch: request.epoch))
        // There are no commands, keys and other instances.
        case .fetch, .findKey, .lease: break
        }
      }
      effect.actions += effects.actions
      wakeAt = effects.wakeAt
    } while !events.isEmpty
    return effect
  }
}

extension CallSpec {
  /// A call of a simulation.
  convenience init(simulated policy: RetryPolicy, to target: TargetKey) {
    self.init(url: target.bare + "/", method: "POST", target: target, policy: policy, captureLimit: 0)
  }

  var submission: EngineEvent {
    .submit(CallDescriptor(spec: self, body: [], start: .after(.zero)), ReplyToken(rawValue: 0))
  }
}

extension EngineSettings {
  /// Those of a service with one target, of which only the target's own limits hold anything back.
  init(only target: TargetSettings) {
    self.init(maxInFlight: max(4096, 4 * target.maxInFlight), maxUnfinished: 1 << 40)
    maxConnectionsPerOrigin = maxInFlight
    self.target = target
  }
}

extension ModelTarget.Answer {
  /// The end of an attempt that gets this answer.
  func result(within timeout: Duration) -> AttemptResult {
    let took = min(latency, timeout)
    var result = AttemptResult(outcome: outcome, duration: took)
    if outcome == .answered, took < timeout {
      result.status = status
      if let retryAfter {
        let head = HeaderBlock(bytes: Array("Retry-After: \(retryAfter.components.seconds)\r\n".utf8))
        result.response = CapturedResponse(head: head, body: [], truncated: false)
      }
    } else if outcome == .notSent {
      result.failure = AttemptFailure(code: "connectionRefused", message: "")
    } else {
      result.outcome = .maybeSent
      result.failure = AttemptFailure(code: AttemptFailure.timeout, message: "")
    }
    return result
  }
}
