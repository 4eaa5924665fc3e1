/// One run of a retrier, from its first attempt to its end.
struct RetryCourse {
  private let retrier: Retrier
  private let startedAt: Timestamp
  private var random: RandomSource
  private var waits = WaitHistory.none
  private var history: [RetryError.Attempt] = []
  private var withdrawal: RetryBudget.Withdrawal?
  private(set) var attempts = 0

  init(_ retrier: Retrier) {
    self.retrier = retrier
    startedAt = retrier.clock.now
    random = RandomSource(seed: retrier.seed())
  }

  private var policy: RetryPolicy { retrier.policy }
  private var elapsed: Duration { retrier.clock.now - startedAt }

  mutating func run<Value: Sendable>(
    _ work: @escaping @Sendable (RetryAttempt) async throws -> Value
  ) async throws -> Value {
    var wait = try await initialWait()
    while true {
      try Task.checkCancellation()
      let permit = try await permission()
      attempts += 1
      if attempts == 1 { retrier.budget?.begin() }
      let began = retrier.clock.now
      let attempt = RetryAttempt(
        number: attempts, wait: wait, elapsed: began - startedAt, timeout: timeout(at: began))
      retrier.tell(.attemptStarted(name: retrier.name, number: attempts))
      let result = await Self.perform(attempt, retrier.clock, work)
      let took = retrier.clock.now - began
      switch result {
      case .success(let value):
        retrier.breaker?.record(.success, of: permit, took: took)
        settleBudget(.success)
        retrier.successes?.succeeded()
        retrier.tell(.succeeded(name: retrier.name, attempts: attempts, elapsed: elapsed))
        return value
      case .failure where Task.isCancelled:
        retrier.breaker?.record(.ignored, of: permit, took: took)
        settleBudget(.ignored)
        throw CancellationError()
      case .failure(let error):
        wait = try await failed(error, permit, began, took)
      }
    }
  }

  private mutating func initialWait() async throws -> Duration {
    guard let (wait, waits) = policy.initialWait(using: &random) else { throw error(.deadlineExceeded) }
    self.waits = waits
    guard wait > .zero else { return .zero }
    retrier.tell(.waiting(name: retrier.name, reason: .initialDelay, duration: wait))
    try await retrier.clock.sleep(for: wait)
    return wait
  }

  /// A deadline that counts the waits alone bounds no attempt.
  private func timeout(at now: Timestamp) -> Duration {
    guard policy.deadlineRule.measure == .elapsed else { return policy.attemptTimeout }
    return min(policy.attemptTimeout, max(.zero, startedAt + policy.deadline - now))
  }

  // MARK: The breaker

  /// Waits until the breaker lets an attempt through, as long as the deadline lets that be of use.
  private func permission() async throws -> CircuitBreaker.Permit? {
    guard let breaker = retrier.breaker else { return nil }
    while true {
      let seen = breaker.changes
      switch breaker.acquire() {
      case .permitted(let permit): return permit
      case .rejected(let until):
        let wait = max(.zero, until - breaker.now)
        guard policy.onTrip == .wait else { throw error(.tripped, retryAfter: wait) }
        // A deadline that counts the waits between attempts does not count this one.
        let left = policy.deadlineRule.measure == .elapsed ? policy.deadline - elapsed : .seconds(Int64.max)
        guard left > .zero, breaker.mayChangeEarly || wait < left else {
          throw error(.deadlineExceeded, retryAfter: wait)
        }
        retrier.tell(.waiting(name: retrier.name, reason: .breaker, duration: wait))
        // Until its time has come, or another call has moved it.
        try await sleep(for: min(wait, left)) { await breaker.change(after: seen) }
      }
    }
  }

  /// Waits for so long, or until something else has come.
  private func sleep(for wait: Duration, orUntil other: @escaping @Sendable () async -> Void) async throws {
    let clock = retrier.clock
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await clock.sleep(for: wait) }
      group.addTask { await other() }
      defer { group.cancelAll() }
      try await group.next()
    }
    try Task.checkCancellation()
  }

  // MARK: Attempts

  /// Makes an attempt, and cancels it when its time is up.
  private static func perform<Value: Sendable>(
    _ attempt: RetryAttempt, _ clock: any RetryClock, _ work: @escaping @Sendable (RetryAttempt) async throws -> Value
  ) async -> Result<Value, any Error> {
    await withTaskGroup(of: Result<Value, any Error>.self) { group in
      group.addTask {
        do { return .success(try await work(attempt)) } catch { return .failure(error) }
      }
      group.addTask {
        do {
          try await clock.timeout(after: attempt.timeout)
          return .failure(AttemptTimeout(limit: attempt.timeout))
        } catch {
          return .failure(error)
        }
      }
      defer { group.cancelAll() }
      return await group.next() ?? .failure(CancellationError())
    }
  }

  /// Decides on a failed attempt, and waits for the next.
  private mutating func failed(
    _ error: any Error, _ permit: CircuitBreaker.Permit?, _ began: Timestamp, _ took: Duration
  ) async throws -> Duration {
    let outcome = retrier.outcome(error)
    let (kind, status) = outcome.end
    var end = AttemptEnd(outcome: kind, status: status, attempts: attempts, startedAt: startedAt, waits: waits)
    if case .answered(_, let retryAfter, let directive) = outcome {
      end.retryAfter = retryAfter
      end.directive = directive
    }
    // An attempt that the deadline has cut shorter than its own time says nothing about the target.
    let wasCutShort = (error as? AttemptTimeout).map { $0.limit < policy.attemptTimeout } ?? false
    retrier.breaker?.record(wasCutShort ? .ignored : end.breakerResult, of: permit, took: took)
    let meaning = policy.classify(end).classification
    // What is not worth a retry costs the budget nothing: the target has done its work.
    settleBudget(meaning == .transient || meaning == .throttling ? .failure : .ignored)
    let decision = decide(end)
    waits = decision.waits
    note(
      RetryError.Attempt(
        number: attempts, startedAfter: began - startedAt, duration: took, error: error, decision: decision))
    retrier.tell(.attemptFailed(name: retrier.name, number: attempts, error: error, decision: decision))
    let wait: Duration
    switch decision.action {
    case .succeed: throw self.error(.notRetryable)
    case .stop(let reason): throw self.error(RetryError.Reason(reason))
    case .retry(let after): wait = after
    case .park(let until): wait = until - retrier.clock.now
    }
    // Nothing is waited for in vain: this very failure may have opened the breaker.
    if policy.onTrip == .fail, let breaker = retrier.breaker, let reopens = breaker.rejection {
      throw self.error(.tripped, retryAfter: max(.zero, reopens - breaker.now))
    }
    // Debited before the wait: a budget that is charged afterwards lets a crowd through that has decided already.
    let cause: RetryBudget.Cause = meaning == .throttling ? .throttling : .transient
    if let budget = retrier.budget {
      withdrawal = budget.withdraw(for: cause)
      guard withdrawal != nil else { throw self.error(.budgetExhausted) }
    }
    let reason: RetryEvent.WaitReason = decision.rule == .retryAfter ? .retryAfter : .backoff
    retrier.tell(.waiting(name: retrier.name, reason: reason, duration: wait))
    // Another's success ends no wait that the target asked for, also where the backoff is longer.
    let isAsked = policy.retryAfter.isRespected && (end.retryAfter ?? .zero) > .zero
    let since = retrier.clock.now
    if let successes = retrier.successes, !isAsked {
      try await sleep(for: wait) { await successes.next() }
    } else {
      try await retrier.clock.sleep(for: wait)
    }
    return min(wait, retrier.clock.now - since)
  }

  private mutating func settleBudget(_ outcome: RetryBudget.Outcome) {
    retrier.budget?.end(outcome, of: withdrawal)
    withdrawal = nil
  }

  /// Gives back what was paid for a retry that was never made.
  mutating func abandon() {
    if let withdrawal { retrier.budget?.end(.neverSent, of: withdrawal) }
    withdrawal = nil
  }

  private mutating func decide(_ end: AttemptEnd) -> RetryDecision {
    let now = retrier.clock.now
    guard let strategy = retrier.strategy else { return policy.decide(end, at: now, using: &random) }
    return policy.decide(end, at: now, backoff: strategy, using: &random)
  }

  private mutating func note(_ attempt: RetryError.Attempt) {
    if history.count == RetryError.historyLimit { history.removeFirst() }
    history.append(attempt)
  }

  private func error(_ reason: RetryError.Reason, retryAfter: Duration? = nil) -> RetryError {
    RetryError(
      reason: reason, attempts: attempts, lastError: history.last?.error, history: history, elapsed: elapsed,
      retryAfter: retryAfter)
  }
}

extension RetryError.Reason {
  fileprivate init(_ reason: StopReason) {
    self =
      switch reason {
      case .attemptsExhausted: .attemptsExhausted
      case .deadlineExceeded: .deadlineExceeded
      case .notRetryable, .blocked: .notRetryable
      case .tripped: .tripped
      }
  }
}
