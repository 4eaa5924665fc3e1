/// One run of a retrier, from its first attempt to its end.
struct RetryCourse {
  private let retrier: Retrier
  private let startedAt: Timestamp
  private var reading: CourseClock
  private var random: RandomSource
  private var waits = WaitHistory.none
  private var history: [RetryError.Attempt] = []
  private let record: RetryHistory.Run?
  private var withdrawal: RetryBudget.Withdrawal?
  private(set) var attempts = 0

  init(_ retrier: Retrier) {
    self.retrier = retrier
    startedAt = retrier.clock.now
    reading = CourseClock(startedAt)
    random = RandomSource(seed: retrier.seed())
    record = retrier.history?.begin()
  }

  private var policy: RetryPolicy { retrier.policy }

  /// The time since the start.
  private mutating func elapsed() -> Duration { reading.elapsed(at: retrier.clock.now) }

  mutating func run<Value: Sendable>(
    isolation: isolated (any Actor)?, _ work: nonisolated(nonsending) (RetryAttempt) async throws -> Value
  ) async throws -> Value {
    var wait = try await initialWait()
    while true {
      try Task.checkCancellation()
      let permit = try await permission()
      attempts += 1
      if attempts == 1 { retrier.budget?.begin() }
      record?.began(attempt: attempts)
      let began = elapsed()
      let attempt = RetryAttempt(number: attempts, wait: wait, elapsed: began, timeout: timeout(after: began))
      retrier.tell(.attemptStarted(name: retrier.name, number: attempts))
      let result = await TimedWork.perform(attempt, retrier.clock, isolation: isolation, work)
      let took = elapsed() - began
      switch result {
      case .success(let value):
        if let permit { retrier.breaker?.finish(.success, of: permit, took: took) }
        tellBudget(.success)
        retrier.successes?.succeeded()
        record?.ended(nil)
        retrier.tell(.succeeded(name: retrier.name, attempts: attempts, elapsed: elapsed()))
        return value
      case .failure where Task.isCancelled:
        if let permit { retrier.breaker?.finish(.ignored, of: permit, took: took) }
        tellBudget(.ignored)
        throw CancellationError()
      case .failure(let error):
        wait = try await failed(error, permit, attempt, took)
      }
    }
  }

  private mutating func initialWait() async throws -> Duration {
    // Zero waits are within any deadline except one that passed before the start.
    guard policy.deadline > .zero else { throw error(.deadlineExceeded) }
    guard let (wait, waits) = policy.initialWait(using: &random) else { throw error(.deadlineExceeded) }
    self.waits = waits
    guard wait > .zero else { return .zero }
    retrier.tell(.waiting(name: retrier.name, reason: .initialDelay, duration: wait))
    try await retrier.clock.sleep(for: wait)
    return wait
  }

  /// A deadline that counts only the waits limits no attempt.
  private func timeout(after elapsed: Duration) -> Duration {
    guard policy.deadlineRule.measure == .elapsed else { return policy.attemptTimeout }
    return min(policy.attemptTimeout, max(.zero, policy.deadline - elapsed))
  }

  // MARK: The breaker

  /// Waits until the breaker lets an attempt through, as long as the deadline still allows an attempt.
  ///
  /// - Returns: The breaker's permit; nil without a breaker.
  private mutating func permission() async throws -> CircuitBreaker.Permit? {
    var hasPlace = false
    while true {
      let left: Duration
      do {
        left = try timeLeft()
        try Task.checkCancellation()
      } catch {
        if hasPlace { retrier.breaker?.giveBackPlace() }
        throw error
      }
      guard let breaker = retrier.breaker else { return nil }
      let seen = breaker.changes
      let entry = breaker.admit(hasPlace: hasPlace, mayWait: policy.onTrip == .wait)
      hasPlace = false
      switch entry {
      case .permitted(let permit): return permit
      case .full(let step, nil): throw error(.recovering, retryAfter: step)
      case .full(let step, let ticket?):
        retrier.tell(.waiting(name: retrier.name, reason: .breaker, duration: min(step, left)))
        let (clock, waiter) = (retrier.clock, ticket.waiter)
        // As a timeout, not a wait: it ends when others have ended, and not merely because time passes.
        try? await Self.first({ try await clock.timeout(after: left) }, { await waiter.wait() })
        hasPlace = breaker.redeem(ticket)
      case .rejected(let open, let until):
        let wait = max(.zero, until - breaker.now)
        guard policy.onTrip == .wait else { throw error(.tripped, retryAfter: wait, open) }
        guard left > .zero, breaker.mayChangeEarly || wait < left else {
          throw error(.deadlineExceeded, retryAfter: wait, open)
        }
        retrier.tell(.waiting(name: retrier.name, reason: .breaker, duration: wait))
        // Until its time, or until another call has moved it.
        try await sleep(for: min(wait, left)) { await breaker.change(after: seen) }
      }
    }
  }

  /// The time that is left for a wait before the next attempt; unlimited if the deadline does not count such waits.
  ///
  /// - Throws: ``RetryError`` if not even an immediate attempt is possible.
  private mutating func timeLeft() throws -> Duration {
    // A deadline that counts the waits between attempts does not count this one, and allows the last wait to exceed it.
    guard policy.deadlineRule.measure == .elapsed else { return .seconds(Int64.max) }
    let left = policy.deadline - elapsed()
    let least = max(.zero, policy.deadlineRule.minimumAttemptTime)
    guard left > .zero, left >= least else { throw error(.deadlineExceeded) }
    return left - least
  }

  /// Waits for a duration, or until something else has happened.
  private func sleep(for wait: Duration, orUntil other: @escaping @Sendable () async -> Void) async throws {
    let clock = retrier.clock
    try await Self.first({ try await clock.sleep(for: wait) }, other)
    try Task.checkCancellation()
  }

  /// Waits for the first of two to end.
  private static func first(
    _ one: @escaping @Sendable () async throws -> Void, _ other: @escaping @Sendable () async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await one() }
      group.addTask { try await other() }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  // MARK: Attempts

  /// Decides after a failed attempt, and waits for the next.
  private mutating func failed(
    _ thrown: any Error, _ permit: CircuitBreaker.Permit?, _ attempt: RetryAttempt, _ took: Duration
  ) async throws -> Duration {
    let error = (thrown as? Permanent)?.underlying ?? thrown
    let outcome = thrown is Permanent ? .unusable : retrier.outcome(error)
    let (kind, status) = outcome.end
    var end = AttemptEnd(outcome: kind, status: status, attempts: attempts, startedAt: startedAt, waits: waits)
    if case .answered(_, let retryAfter, let directive) = outcome {
      end.retryAfter = retryAfter
      end.directive = directive
    }
    // A timeout that the deadline has shortened says nothing about the target.
    let wasCutShort =
      attempt.timeout < policy.attemptTimeout && error as? AttemptTimeout == .init(limit: attempt.timeout)
    if let permit {
      retrier.breaker?.finish(wasCutShort ? .ignored : end.breakerResult, of: permit, took: took, error)
    }
    let meaning = policy.classify(end).classification
    // A failure that is not retried costs the budget nothing: the target has done its work.
    tellBudget(meaning == .transient || meaning == .throttling ? .failure : .ignored)
    // On the time of this run, which does not go back.
    let now = startedAt + elapsed()
    let decision = decide(end, at: now, error, isThrottling: meaning == .throttling)
    waits = decision.waits
    remember(
      RetryError.Attempt(
        number: attempts, startedAfter: attempt.elapsed, duration: took, error: error, decision: decision))
    retrier.tell(.attemptFailed(name: retrier.name, number: attempts, error: error, decision: decision))
    let wait: Duration
    switch decision.action {
    case .succeed: throw self.error(.notRetryable)
    case .stop(let reason): throw self.error(RetryError.Reason(reason))
    case .retry(let after): wait = after
    case .park(let until): wait = until - now
    }
    // No useless wait: this failure may itself have opened the breaker.
    if policy.onTrip != .wait, let open = retrier.breaker?.rejection {
      throw self.error(.tripped, retryAfter: open.retryAfter, open)
    }
    // Paid before the wait: a budget that is charged afterwards lets many through that have decided already.
    let cause: RetryBudget.Cause = meaning == .throttling ? .throttling : .transient
    if let budget = retrier.budget {
      withdrawal = budget.withdraw(for: cause)
      guard withdrawal != nil else { throw self.error(.budgetExhausted) }
    }
    let reason: RetryEvent.WaitReason = decision.rule == .retryAfter ? .retryAfter : .backoff
    retrier.tell(.waiting(name: retrier.name, reason: reason, duration: wait))
    // Another call's success ends no wait that the target requested, even if the backoff is longer.
    let isAsked = (policy.askedWait(of: end) ?? .zero) > .zero
    let since = elapsed()
    if let successes = retrier.successes, !isAsked {
      try await sleep(for: wait) { await successes.next() }
    } else {
      try await retrier.clock.sleep(for: wait)
    }
    return min(wait, elapsed() - since)
  }

  private mutating func tellBudget(_ outcome: RetryBudget.Outcome) {
    retrier.budget?.end(outcome, of: withdrawal)
    withdrawal = nil
  }

  /// Gives back the payment for a retry that was never made.
  mutating func abandon() {
    if let withdrawal { retrier.budget?.end(.neverSent, of: withdrawal) }
    withdrawal = nil
  }

  private mutating func decide(
    _ end: AttemptEnd, at now: Timestamp, _ error: any Error, isThrottling: Bool
  ) -> RetryDecision {
    if let wait = retrier.wait {
      let computed = Guarded<Duration?>(nil)
      let own = isThrottling ? policy.throttlingBackoff ?? policy.backoff : policy.backoff
      let seeing = BackoffSeeingError(strategy: retrier.strategy ?? own) { duration in
        computed.withLock { $0 = duration }
        return wait(error, duration)
      }
      var decision = policy.decide(end, at: now, backoff: seeing, using: &random)
      // Some strategies depend on the waits that they have given. A deadline that counts waits counts the real ones.
      if policy.deadlineRule.measure == .elapsed, decision.waits != end.waits,
        let given = computed.withLock({ $0 })
      {
        decision.waits = end.waits.adding(given)
      }
      return decision
    }
    guard let strategy = retrier.strategy else { return policy.decide(end, at: now, using: &random) }
    return policy.decide(end, at: now, backoff: strategy, using: &random)
  }

  private mutating func remember(_ attempt: RetryError.Attempt) {
    if history.count == RetryError.historyLimit { history.removeFirst() }
    history.append(attempt)
    record?.failed(attempt)
  }

  /// Ends the run without success.
  func end(_ error: RetryError) { record?.ended(error) }

  mutating func error(
    _ reason: RetryError.Reason, retryAfter: Duration? = nil, _ breaker: CircuitOpen? = nil
  ) -> RetryError {
    RetryError(
      reason: reason, attempts: attempts, lastError: history.last?.error, history: history, elapsed: elapsed(),
      retryAfter: retryAfter, breaker: breaker)
  }
}

/// A strategy whose waits the user's own closure replaces.
private struct BackoffSeeingError: BackoffStrategy {
  let strategy: any BackoffStrategy
  let change: @Sendable (Duration) -> Duration

  func wait(
    beforeRetry retry: Int, after history: WaitHistory, using random: inout some RandomNumberGenerator
  ) -> BackoffWait? {
    guard let computed = strategy.wait(beforeRetry: retry, after: history, using: &random) else { return nil }
    let changed = max(.zero, change(computed.duration))
    return changed == computed.duration ? computed : BackoffWait(changed)
  }
}

extension RetryError.Reason {
  fileprivate init(_ reason: StopReason) {
    self =
      switch reason {
      case .attemptsExhausted: .attemptsExhausted
      case .deadlineExceeded: .deadlineExceeded
      case .notRetryable, .blocked, .attemptEndedTheService: .notRetryable
      case .tripped: .tripped
      }
  }
}
