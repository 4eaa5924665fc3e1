import RedialCore
import Testing

@Suite("Decisions after an attempt")
struct RetryDecisionTests {
  static let start = Timestamp(microseconds: 1_790_000_000_000_000)

  private func decide(
    _ policy: RetryPolicy = RetryPolicy(maxAttempts: 25, deadline: .seconds(900)), _ outcome: OutcomeClass = .answered,
    status: Int = 0,
    retryAfter: Duration? = nil, attempts: Int = 1, after elapsed: Duration = .zero
  ) -> RetryDecision {
    var random = RandomSource(seed: 1)
    let end = AttemptEnd(
      outcome: outcome, status: status, retryAfter: retryAfter, attempts: attempts, startedAt: Self.start)
    return policy.decide(end, at: Self.start + elapsed, using: &random)
  }

  private func isRetry(_ decision: RetryDecision) -> Bool {
    if case .retry = decision.action { true } else { false }
  }

  @Test("a 2xx succeeds", arguments: [200, 201, 204, 299])
  func success(status: Int) {
    #expect(decide(status: status) == RetryDecision(.succeed, rule: .success))
  }

  @Test("exactly the documented statuses are retried")
  func statuses() {
    let transient = Set([408, 425, 429] + (500...999)).subtracting([501, 505, 511])
    let careful: Set = [408, 425, 429]
    for status in 300...999 {
      let repeatable = decide(status: status)
      #expect(isRetry(repeatable) == transient.contains(status), "\(status)")
      if !transient.contains(status) {
        #expect(repeatable.action == .stop(.notRetryable))
        #expect(repeatable.rule == (status == 410 ? .statusStops : .statusNotRetryable))
      }
      #expect(isRetry(decide(RetryPolicy(retryOn: .nonIdempotent), status: status)) == careful.contains(status))
      let told = decide(status: status, retryAfter: .seconds(1))
      #expect(isRetry(told) == (transient.contains(status) || [409, 413, 423].contains(status)), "\(status)")
    }
  }

  @Test("408 on a used connection does not show that a request was not executed")
  func lateTimeout() {
    func decision(_ conditions: RetryConditions, _ status: Int, told: RetryDirective? = nil) -> RetryDecision {
      var random = RandomSource(seed: 1)
      let end = AttemptEnd(
        outcome: .answered, status: status, directive: told, attempts: 1, startedAt: Self.start,
        isOnUsedConnection: true)
      return RetryPolicy(retryOn: conditions).decide(end, at: Self.start, using: &random)
    }
    #expect(decision(.nonIdempotent, 408).rule == .statusNotRetryable)
    #expect(isRetry(decision(.idempotent, 408)) && isRetry(decision(.nonIdempotent, 429)))
    #expect(isRetry(decision(.nonIdempotent, 408, told: .retry)))
  }

  @Test("stopOn has precedence over retryOn")
  func stopOn() {
    let policy = RetryPolicy(
      retryOn: RetryConditions(network: .always, statuses: StatusSet([400...599])), stopOn: StatusSet(statuses: [503]))
    #expect(decide(policy, status: 503).rule == .statusStops)
    #expect(isRetry(decide(policy, status: 502)))
  }

  @Test("an unsent request may always be repeated, one that may have been sent only if it is idempotent")
  func network() {
    let cases: [(RetryConditions, OutcomeClass, Bool)] = [
      (.idempotent, .notSent, true), (.idempotent, .maybeSent, true), (.nonIdempotent, .notSent, true),
      (.nonIdempotent, .maybeSent, false), (RetryConditions(network: .never, statuses: .none), .notSent, false),
    ]
    for (conditions, outcome, expected) in cases {
      let decision = decide(RetryPolicy(retryOn: conditions), outcome)
      #expect(isRetry(decision) == expected)
      #expect(decision.rule == (expected ? .retryableFailure : .failureNotRetryable))
    }
    #expect(decide(.init(), .unusable) == RetryDecision(.stop(.notRetryable), rule: .unusableRequest))
    #expect(isRetry(decide(RetryPolicy(retryOn: .nonIdempotent), .interrupted)))
    #expect(isRetry(decide(RetryPolicy(retryOn: .nonIdempotent), .localFault)))
  }

  @Test("a 409 is retried while the target may be processing an earlier attempt, if the policy repeats such attempts")
  func stillProcessing() {
    func decide(_ policy: RetryPolicy, status: Int = 409, mayBe: Bool = true, told: RetryDirective? = nil)
      -> RetryDecision
    {
      var random = RandomSource(seed: 1)
      let end = AttemptEnd(
        outcome: .answered, status: status, directive: told, attempts: 2, startedAt: Self.start, mayBeProcessing: mayBe)
      return policy.decide(end, at: Self.start, using: &random)
    }
    #expect(isRetry(decide(RetryPolicy())) && decide(RetryPolicy()).rule == .stillProcessing)
    #expect(decide(RetryPolicy(), mayBe: false).rule == .statusNotRetryable)
    #expect(decide(RetryPolicy(), status: 404).rule == .statusNotRetryable)
    #expect(decide(RetryPolicy(), told: .stop).rule == .targetStops)
    #expect(decide(RetryPolicy(), told: .retry).rule == .targetRetries)
    #expect(decide(RetryPolicy(stopOn: StatusSet(statuses: [409]))).rule == .statusStops)
    #expect(decide(RetryPolicy(retryOn: .nonIdempotent)).rule == .statusNotRetryable)
  }

  @Test("the last attempt is the last")
  func attempts() {
    let policy = RetryPolicy(maxAttempts: 3)
    #expect(isRetry(decide(policy, status: 503, attempts: 2)))
    #expect(decide(policy, status: 503, attempts: 3).action == .stop(.attemptsExhausted))
    #expect(decide(policy, status: 503, attempts: Int.max).action == .stop(.attemptsExhausted))
    #expect(decide(policy, status: 200, attempts: 3).action == .succeed)
  }

  @Test("no wait ends past the deadline, which is counted from the start and not from the attempt")
  func deadline() {
    for seed in UInt64(0)..<200 {
      var random = RandomSource(seed: seed)
      let policy = RetryPolicy(maxAttempts: 25, deadline: .seconds(10))
      for attempt in 1...24 {
        let now = Self.start + .milliseconds(Int64(attempt) * 400)
        let end = AttemptEnd(outcome: .answered, status: 503, attempts: attempt, startedAt: Self.start)
        let decision = policy.decide(end, at: now, using: &random)
        switch decision.action {
        case .retry(let wait): #expect(now + wait < Self.start + .seconds(10), "seed \(seed)")
        case .stop(let reason): #expect(reason == .deadlineExceeded && decision.rule == .deadlineNear, "seed \(seed)")
        case .succeed, .park: Issue.record("seed \(seed): \(decision)")
        }
      }
    }
    #expect(decide(status: 503, after: .seconds(901)).action == .stop(.deadlineExceeded))
  }

  @Test("Retry-After lengthens the backoff, up to its maximum and the deadline")
  func retryAfter() {
    #expect(
      decide(status: 503, retryAfter: .seconds(7)) == RetryDecision(.retry(after: .seconds(7)), rule: .retryAfter))
    #expect(
      decide(status: 503, retryAfter: .seconds(3601)) == RetryDecision(.stop(.notRetryable), rule: .retryAfterTooLong))
    #expect(decide(status: 503, retryAfter: .seconds(3600)).action == .stop(.deadlineExceeded))
    #expect(decide(status: 503, retryAfter: .longest).rule == .retryAfterTooLong)
    let deaf = RetryPolicy(retryAfter: RetryAfterRule(isRespected: false))
    #expect(decide(deaf, status: 503, retryAfter: .longest).rule == .retryableStatus)
    // It makes nothing retryable that is not.
    #expect(decide(status: 404, retryAfter: .seconds(1)).action == .stop(.notRetryable))
  }

  @Test("a Retry-After that is shorter than the backoff, or has passed, does not change the backoff")
  func shortRetryAfter() {
    for status in [429, 503] {
      let alone = decide(status: status)
      for asked in [Duration.zero, .milliseconds(1)] { #expect(decide(status: status, retryAfter: asked) == alone) }
    }
    var policy = RetryPolicy(deadline: .seconds(10), backoff: .constant(.seconds(20)))
    #expect(decide(policy, status: 503, retryAfter: .seconds(4)).action == .stop(.deadlineExceeded))
    // One that is pulled forward before the deadline comes no earlier than the target asked for.
    policy.deadlineRule.lastAttempt = .pullForward
    #expect(decide(policy, status: 503, retryAfter: .seconds(4)).action == .retry(after: .microseconds(9_999_999)))
    #expect(decide(policy, status: 503, retryAfter: .seconds(11)).action == .stop(.deadlineExceeded))
    // One beyond the maximum ends the call, or parks it until the later of the two.
    policy = RetryPolicy(backoff: .constant(.seconds(20)), retryAfter: RetryAfterRule(maximum: .seconds(5)))
    #expect(decide(policy, status: 503, retryAfter: .seconds(6)).rule == .retryAfterTooLong)
    policy.retryAfter.beyond = .park
    #expect(decide(policy, status: 503, retryAfter: .seconds(6)).action == .retry(after: .seconds(20)))
    #expect(decide(policy, status: 503, retryAfter: .seconds(21)).rule == .retryAfter)
  }

  @Test("waits are never shorter than either the backoff or Retry-After")
  func longerOfBoth() {
    let policy = RetryPolicy(maxAttempts: 25, deadline: .seconds(86_400))
    for attempt in 1...20 {
      for asked in [Duration.zero, .milliseconds(300), .seconds(1), .seconds(10), .seconds(100)] {
        guard case .retry(let alone) = decide(policy, status: 503, attempts: attempt).action,
          case .retry(let both) = decide(policy, status: 503, retryAfter: asked, attempts: attempt).action
        else {
          Issue.record("attempt \(attempt) is not followed by a retry")
          continue
        }
        #expect(both == max(alone, asked))
      }
    }
  }

  @Test("a decision explains itself: the base and the jitter multiply to the wait")
  func explained() throws {
    let decision = decide(status: 503, attempts: 3)
    let (computed, jitter) = (try #require(decision.computed), try #require(decision.jitter))
    #expect(computed == .milliseconds(1125))
    guard case .retry(let wait) = decision.action else {
      Issue.record("no retry: \(decision)")
      return
    }
    #expect(abs(wait.inSeconds - computed.inSeconds * jitter) < 0.000_002)
  }

  @Test(
    "a policy makes three attempts, and leaves to whoever makes them what an open breaker does, if it says nothing else"
  )
  func defaults() {
    #expect(RetryPolicy().maxAttempts == 3 && RetryPolicy().deadline == .longest && RetryPolicy().onTrip == nil)
    #expect(RetryPolicy.service.onTrip == .wait)
    #expect(RetryPolicy(maxRetries: 4, deadline: .seconds(9)) == RetryPolicy(maxAttempts: 5, deadline: .seconds(9)))
  }
}
