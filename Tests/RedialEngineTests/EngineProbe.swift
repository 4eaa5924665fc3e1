@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Synchronization

/// An engine under a test's hand: time goes on when the test says so, and the store answers when the test says so.
struct EngineProbe {
  static let target: TargetKey = "http://target.example"

  var engine: Engine
  var now = Timestamp(microseconds: 1_796_083_200_000_000)
  /// What the store has been asked and has not answered.
  var requests: [StoreRequest] = []
  /// What is on disk, in order.
  var written: [StoreWrite] = []
  /// What was done, in order.
  var actions: [Action] = []
  var wakeAt: Timestamp?
  private var tokens: UInt64 = 0

  init(_ settings: EngineSettings = EngineSettings(), recovered: RecoveredState = RecoveredState()) {
    engine = Engine(settings: settings, seed: 1)
    hear(.recovered(recovered))
    commit()
  }

  // MARK: Steps

  /// Has the engine make a step; the store answers nothing yet.
  mutating func hear(_ events: EngineEvent...) {
    hear(events)
  }

  mutating func hear(_ events: [EngineEvent]) {
    let effects = engine.handle(events, at: now)
    requests += effects.store
    actions += effects.actions
    wakeAt = effects.wakeAt
  }

  /// The store does all commits that it was asked for, and comes to what is to tell that it has; other requests stay.
  mutating func commit() {
    var barriers: [EngineEvent] = []
    for request in requests {
      switch request.body {
      case .commit(let writes, let then):
        written += writes
        actions += then
      case .barrier: barriers.append(.storeWritten(epoch: request.epoch))
      default: break
      }
    }
    requests.removeAll {
      switch $0.body {
      case .commit, .barrier: true
      default: false
      }
    }
    guard !barriers.isEmpty else { return }
    hear(barriers)
    commit()
  }

  /// The store fails in everything that it was asked and is asked meanwhile.
  mutating func fail(isFull: Bool = false) {
    while !requests.isEmpty {
      let failed = requests
      requests = []
      hear(
        failed.map { .storeFailed($0, StoreError(kind: isFull ? .full : .unavailable, message: "the disk is gone")) })
    }
  }

  /// Lets time pass, with a step whenever the engine asked for one, and a store that commits at once.
  mutating func advance(_ time: Duration) {
    let end = now + time
    var steps = 0
    while let wake = wakeAt, wake <= end, steps < 10_000 {
      now = max(now, wake)
      steps += 1
      hear()
      commit()
    }
    precondition(steps < 10_000, "the engine asks for step after step")
    now = end
    hear()
    commit()
  }

  /// The store grants the lease that was requested: on all shards.
  mutating func join() {
    let asks = requests.compactMap { if case .lease(let ask) = $0.body { ask } else { nil } }
    requests.removeAll { if case .lease = $0.body { true } else { false } }
    let session = LeaseSession(id: 7, instance: 3)
    for ask in asks {
      hear(
        .leased(
          LeaseGrant(session: session, shards: .all, gained: .all, share: ShardSet.count, state: RecoveredState()), ask)
      )
    }
  }

  // MARK: Clients

  mutating func token<Answer>(for answer: Answer.Type = Answer.self) -> ReplyToken<Answer> {
    tokens += 1
    return ReplyToken(rawValue: tokens)
  }

  /// A client submits a call, which is on disk when this returns.
  @discardableResult
  mutating func submit(
    _ policy: RetryPolicy = .test, to target: TargetKey = Self.target, after delay: Duration = .zero,
    callback: Bool = false, priority: Int = CallSpec.defaultPriority, orderingKey: String? = nil
  ) -> CallID {
    let reply = submitOnly(
      policy, to: target, after: delay, callback: callback, priority: priority, orderingKey: orderingKey)
    commit()
    guard case .accepted(let record) = self.reply(to: reply) else { return CallID(rawValue: 0) }
    return record.id
  }

  /// A client submits a call with this spec, which is on disk when this returns.
  @discardableResult
  mutating func submit(_ spec: CallSpec) -> CallID {
    let reply = token(for: SubmissionReply.self)
    hear(.submit(CallDescriptor(spec: spec, body: [], start: .after(.zero)), reply))
    commit()
    guard case .accepted(let record) = self.reply(to: reply) else { return CallID(rawValue: 0) }
    return record.id
  }

  /// A client submits a call; nothing is on disk yet.
  mutating func submitOnly(
    _ policy: RetryPolicy = .test, to target: TargetKey = Self.target, after delay: Duration = .zero,
    callback: Bool = false, priority: Int = CallSpec.defaultPriority, orderingKey: String? = nil
  ) -> ReplyToken<SubmissionReply> {
    let reply = token(for: SubmissionReply.self)
    let descriptor = Self.descriptor(
      policy, to: target, after: delay, callback: callback, priority: priority, orderingKey: orderingKey)
    hear(.submit(descriptor, reply))
    return reply
  }

  /// A client submits a call with credentials, to a path.
  mutating func submit(_ policy: RetryPolicy, token: String, path: String = "/") -> CallID {
    submit(
      .test(policy, url: Self.target.bare + path, headers: [HeaderField("authorization", "Bearer \(token)")]))
  }

  /// A client submits a call; why it was refused, if it was.
  ///
  /// Apart from ``refusal(of:)``, of whose probe an expression that submits within it has made a copy by then.
  mutating func refusalOfSubmission(_ policy: RetryPolicy = .test, to target: TargetKey = Self.target) -> Problem? {
    let reply = submitOnly(policy, to: target)
    return refusal(of: reply)
  }

  static func descriptor(
    _ policy: RetryPolicy = .test, to target: TargetKey = Self.target, after delay: Duration = .zero,
    callback: Bool = false, priority: Int = CallSpec.defaultPriority, orderingKey: String? = nil
  ) -> CallDescriptor {
    CallDescriptor(
      spec: .test(policy, to: target, callback: callback, priority: priority, orderingKey: orderingKey), body: [],
      start: .after(delay))
  }

  /// A client wants something done; the store has committed when this returns, and has answered nothing else.
  @discardableResult
  mutating func command(_ kind: CallCommand.Kind, _ id: CallID) -> ReplyToken<CallCommand.Reply> {
    let reply = token(for: CallCommand.Reply.self)
    hear(.command(CallCommand(kind, id, reply: reply)))
    commit()
    return reply
  }

  /// An operator wants something done to a target; it is on disk when this returns.
  @discardableResult
  mutating func control(_ kind: TargetCommand.Kind, _ target: TargetKey = Self.target) -> ReplyToken<
    TargetCommand.Reply
  > {
    let reply = token(for: TargetCommand.Reply.self)
    hear(.targetCommand(TargetCommand(kind, target, reply: reply)))
    commit()
    return reply
  }

  // MARK: Targets

  /// The last attempt of a call that was started ends.
  mutating func end(
    _ id: CallID, _ outcome: OutcomeClass = .answered, status: Int? = nil, head: String = "",
    code: String = "connectionRefused", took: Duration = .seconds(1), phase: ExchangeFigures.Phase? = nil,
    thenCommit commits: Bool = true
  ) {
    guard let start = starts.last(where: { $0.call.id == id }) else { return }
    var result = AttemptResult(outcome: outcome, status: status, duration: took)
    result.figures = phase.map(ExchangeFigures.init(phase:))
    if outcome == .answered {
      result.response = CapturedResponse(head: HeaderBlock(bytes: Array(head.utf8)), body: [], truncated: false)
    } else {
      result.failure = AttemptFailure(code: code, message: "")
    }
    hear(.attemptEnded(id, number: start.number, result))
    if commits { commit() }
  }

  // MARK: Results

  var starts: [AttemptStart] { actions.compactMap { if case .start(let start) = $0 { start } else { nil } } }

  var notices: [Notice] { actions.compactMap { if case .notice(let notice) = $0 { notice } else { nil } } }

  /// What is on disk of a target; nil if nothing was ever written.
  func stored(of target: TargetKey) -> TargetRecord? {
    for case .target(target, let record) in written.reversed() { return record }
    return nil
  }

  /// Until when the target has asked to be left alone, in each record of it that was written.
  var storedPauses: [Timestamp?] {
    var pauses: [Timestamp?] = []
    for case .target(Self.target, let record) in written { pauses.append(record.askedUntil) }
    return pauses
  }

  func starts(of id: CallID) -> Int { starts.count { $0.call.id == id } }

  func reply<Answer>(to token: ReplyToken<Answer>) -> Answer? {
    // The latest first: a test asks for an answer soon after it.
    for case .reply(let reply) in actions.reversed() { if let answer = reply.answer(to: token) { return answer } }
    return nil
  }

  func isDone(_ token: ReplyToken<CallCommand.Reply>) -> Bool {
    switch reply(to: token) {
    case .done, .unchanged: true
    default: false
    }
  }

  func refusal<Answer>(of token: ReplyToken<Answer>) -> Problem? {
    for case .reply(let reply) in actions where reply.answer(to: token) != nil { return reply.refusal?.problem }
    return nil
  }

  /// What a call is shown to wait for: as it is on disk, by the engine's last notice about its target.
  func wait(of id: CallID) -> CallView.Wait? {
    guard let record = record(id) else { return nil }
    var standing = TargetStanding()
    for notice in notices {
      switch notice {
      case .breakerOpened(record.spec.target, let until, _, _, _): standing.breaker = .open(until: until)
      case .breakerHalfOpen(record.spec.target): standing.breaker = .halfOpen
      case .breakerClosed(record.spec.target): standing.breaker = .closed
      case .targetStands(record.spec.target, let new): standing = new
      default: break
      }
    }
    return CallView.Wait(of: record, for: standing, at: now)
  }

  /// A call as it is on disk.
  func record(_ id: CallID) -> CallRecord? {
    var found: CallRecord?
    for write in written {
      switch write {
      case .insert(let record) where record.id == id: found = record
      case .update(id, let progress, _): found?.progress = progress
      default: break
      }
    }
    return found
  }

  func progress(_ id: CallID) -> CallProgress? { record(id)?.progress }

  func state(_ id: CallID) -> StoredState? { progress(id)?.state }

  var webhooks: [CallRecord] {
    written.compactMap { if case .insert(let record) = $0, record.kind == .webhook { record } else { nil } }
  }

  /// The engine's report.
  mutating func report() -> EngineReport? {
    ask { $0.report() }
  }

  private final class Answer<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
  }

  /// Asks the engine something; nil if it gives no answer.
  mutating func ask<Value: Sendable>(_ question: @escaping @Sendable (inout Engine) -> Value) -> Value? {
    let answer = Answer<Value>()
    hear(.question(Question(question) { value in answer.value.withLock { $0 = value } }))
    for case .answer(let tell) in actions { tell() }
    actions.removeAll { if case .answer = $0 { true } else { false } }
    return answer.value.withLock { $0 }
  }

  /// Whether the engine says that new calls are accepted.
  mutating func isReady() -> Bool? {
    ask { $0.unreadiness == nil }
  }
}

extension Reply {
  /// The answer for a token, if this is the answer for it.
  fileprivate func answer<Wanted>(to token: ReplyToken<Wanted>) -> Wanted? {
    func own<Answer>(_ other: ReplyToken<Answer>, _ answer: Answer) -> Wanted? {
      other.rawValue == token.rawValue ? answer as? Wanted : nil
    }
    return switch self {
    case .submission(let token, let answer): own(token, answer)
    case .command(let token, let answer): own(token, answer)
    case .targetCommand(let token, let answer): own(token, answer)
    }
  }
}

extension RetryPolicy {
  /// Three attempts within a minute, a second apart. `Retry-After` counts for 502, too: that makes a call wait, and leaves
  /// its target alone.
  static let test = RetryPolicy(
    maxAttempts: 3, deadline: .seconds(60), attemptTimeout: .seconds(10),
    backoff: Backoff(initial: .seconds(1), multiplier: 1, jitter: .none),
    retryAfter: RetryAfterRule(statuses: StatusSet(statuses: [413, 429, 502, 503])))

  /// The same for up to an hour.
  static func patient(attempts: Int = 3) -> RetryPolicy {
    var policy = RetryPolicy.test
    policy.maxAttempts = attempts
    policy.deadline = .seconds(3600)
    return policy
  }

  static let tripping = {
    var policy = RetryPolicy.test
    policy.onTrip = .fail
    return policy
  }()
}

extension CallSpec {
  static func test(
    _ policy: RetryPolicy = .test, to target: TargetKey = EngineProbe.target, callback: Bool = false,
    priority: Int = CallSpec.defaultPriority, orderingKey: String? = nil, url: String? = nil,
    headers: [HeaderField] = [], labels: [CallSpec.Label] = [], credential: String? = nil
  ) -> CallSpec {
    CallSpec(
      url: url ?? target.bare, method: "POST", headers: headers, target: target, policy: policy, captureLimit: 100
    ) {
      $0.labels = labels
      $0.credential = credential
      $0.callback = callback ? Callback(url: "http://receiver.example/hook") : nil
      $0.priority = priority
      $0.orderingKey = orderingKey
    }
  }
}

extension EngineSettings {
  /// A breaker that opens after two failures, for five seconds.
  static func tripsAfterTwo(maxReadyPerTarget: Int = 2000, maxHeld: Int = 20_000, probes: Int = 1) -> EngineSettings {
    EngineSettings(
      maxHeld: maxHeld, maxReadyPerTarget: maxReadyPerTarget,
      breaker: CircuitBreakerSettings(
        consecutiveFailures: 2, significance: 1, openInterval: .seconds(5), openMultiplier: 2, halfOpenProbes: probes))
  }
}
