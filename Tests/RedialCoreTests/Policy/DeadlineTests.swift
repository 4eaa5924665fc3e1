import RedialCore
import Testing

@Suite("Deadlines, parking and the target's directives")
struct DeadlineTests {
  private func decide(
    _ policy: RetryPolicy, status: Int = 503, retryAfter: Duration? = nil, directive: RetryDirective? = nil,
    attempts: Int = 1, after elapsed: Duration = .zero
  ) -> RetryDecision {
    var random = CurveTests.Fixed(0.5)
    return policy.decide(
      AttemptEnd(
        outcome: .answered, status: status, retryAfter: retryAfter, directive: directive, attempts: attempts,
        startedAt: .epoch),
      at: .epoch + elapsed, using: &random)
  }

  private var tenSeconds: RetryPolicy {
    RetryPolicy(deadline: .seconds(10), backoff: .constant(.seconds(4)))
  }

  @Test("an attempt that could not finish before the deadline is not made")
  func cannotFinish() {
    var policy = tenSeconds
    #expect(decide(policy, after: .milliseconds(5999)).action == .retry(after: .seconds(4)))
    #expect(decide(policy, after: .seconds(6)).action == .stop(.deadlineExceeded))
    policy.deadlineRule.minimumAttemptTime = .seconds(2)
    #expect(decide(policy, after: .milliseconds(3999)).action == .retry(after: .seconds(4)))
    let late = decide(policy, after: .seconds(4))
    #expect(late.action == .stop(.deadlineExceeded) && late.rule == .deadlineNear && late.computed == .seconds(4))
  }

  @Test("or it is moved forward so that it can finish, and the decision says so")
  func pulledForward() {
    var policy = tenSeconds
    policy.deadlineRule = DeadlineRule(lastAttempt: .pullForward, minimumAttemptTime: .seconds(2))
    let pulled = decide(policy, after: .seconds(5))
    #expect(pulled.action == .retry(after: .microseconds(2_999_999)) && pulled.clamps == .deadline)
    #expect(decide(policy, after: .seconds(8)).action == .stop(.deadlineExceeded))
    #expect(decide(policy, after: .seconds(800)).action == .stop(.deadlineExceeded))
    // Against the target's word nothing is pulled forward.
    #expect(decide(policy, retryAfter: .seconds(9), after: .seconds(5)).action == .stop(.deadlineExceeded))
    #expect(decide(policy, after: .seconds(1)).clamps == [])
  }

  @Test("over seeds: with any rule, no attempt starts too late to finish")
  func property() {
    for seed in UInt64(0)..<2000 {
      var random = RandomSource(seed: seed)
      let least = Duration.milliseconds(Int64(random.next() % 3000))
      let policy = RetryPolicy(
        deadline: .milliseconds(Int64(random.next() % 20_000)),
        deadlineRule: DeadlineRule(
          lastAttempt: random.next() % 2 == 0 ? .endEarly : .pullForward, minimumAttemptTime: least))
      let now = Timestamp.epoch + .milliseconds(Int64(random.next() % 22_000))
      let end = AttemptEnd(outcome: .notSent, attempts: 1 + Int(random.next() % 20), startedAt: .epoch)
      if case .retry(let wait) = policy.decide(end, at: now, using: &random).action {
        #expect(now + wait + least < .epoch + policy.deadline && wait >= .zero, "seed \(seed)")
      }
    }
  }

  @Test("no input makes a decision trap")
  func hostile() {
    let spans: [Duration] = [.seconds(Int64.min), .seconds(-1), .zero, .seconds(Int64.max), .seconds(Int64.max) * 10]
    let times = [Timestamp(microseconds: .min), .epoch, .distantFuture]
    var random = RandomSource(seed: 1)
    for deadline in spans {
      for least in spans {
        for attempts in [Int.min, -1, 0, 1, Int.max - 1, Int.max] {
          for (start, now) in times.flatMap({ start in times.map { (start, $0) } }) {
            for last in DeadlineRule.LastAttempt.allCases {
              for retryAfter in [nil, Duration.zero, .seconds(Int64.max) * 10] {
                let policy = RetryPolicy(
                  maxAttempts: RetryPolicy.unlimited, deadline: deadline,
                  deadlineRule: DeadlineRule(lastAttempt: last, minimumAttemptTime: least),
                  initialDelay: .fixed(deadline), backoff: Backoff(initial: least, maximum: deadline))
                let end = AttemptEnd(
                  outcome: .answered, status: 503, retryAfter: retryAfter, attempts: attempts, startedAt: start,
                  waits: WaitHistory(previous: least, total: deadline))
                if case .retry(let wait) = policy.decide(end, at: now, using: &random).action { #expect(wait >= .zero) }
                _ = policy.initialWait(using: &random)
              }
            }
          }
        }
      }
    }
  }

  @Test("a deadline that has passed leaves no time for an attempt, also without a wait before it")
  func passedDeadline() {
    var random = RandomSource(seed: 1)
    for deadline in [Duration.seconds(-5), .zero, .seconds(Int64.min) * 18] {
      #expect(RetryPolicy(deadline: deadline).initialWait(using: &random) == nil, "\(deadline)")
      #expect(RetryPolicy(deadline: deadline).plan().attempts.isEmpty)
    }
    let late = DeadlineRule(minimumAttemptTime: .seconds(3))
    #expect(RetryPolicy(deadline: .seconds(3), deadlineRule: late).initialWait(using: &random) == nil)
    #expect(RetryPolicy(deadline: .seconds(4), deadlineRule: late).initialWait(using: &random)?.wait == .zero)
    // A deadline that counts waits alone bounds no attempt.
    let waits = DeadlineRule(measure: .sumOfWaits)
    #expect(RetryPolicy(deadline: .zero, deadlineRule: waits).initialWait(using: &random)?.wait == .zero)
  }

  @Test("a clock that goes back does not put the deadline off forever")
  func clockGoesBack() {
    var random = RandomSource(seed: 1)
    let policy = RetryPolicy(maxAttempts: RetryPolicy.unlimited, deadline: .seconds(600))
    var waits = WaitHistory.none
    for attempt in 1...1000 {
      // An hour back at each look.
      let now = Timestamp.epoch + .seconds(-3600 * attempt)
      let decision = policy.decide(
        AttemptEnd(outcome: .notSent, attempts: attempt, startedAt: .epoch, waits: waits), at: now, using: &random)
      waits = decision.waits
      guard case .retry = decision.action else { break }
    }
    #expect(waits.total > .seconds(500) && waits.total < .seconds(600))
  }

  @Test("no time limit of an attempt makes a plan or a warning trap")
  func hostileTimeouts() {
    for timeout in [Duration.seconds(Int64.min) * 2, .seconds(Int64.max) * 2, .seconds(Int64.min) * 18, .zero] {
      let policy = RetryPolicy(deadline: .seconds(60), attemptTimeout: timeout)
      let plan = policy.plan(attemptDuration: .seconds(Int64.max) * 2)
      #expect(plan.latestEnd >= .zero && plan.attempts.allSatisfy { $0.start.latest >= .zero })
      _ = policy.warnings
    }
  }

  @Test("an initial delay that leaves no time ends the call, or is moved forward")
  func initialDelay() {
    var random = RandomSource(seed: 1)
    var policy = RetryPolicy(deadline: .seconds(1), initialDelay: .fixed(.seconds(10)))
    #expect(policy.initialWait(using: &random) == nil)
    policy.deadlineRule = DeadlineRule(lastAttempt: .pullForward, minimumAttemptTime: .milliseconds(400))
    #expect(policy.initialWait(using: &random)?.wait == .microseconds(599_999))
    policy.deadlineRule.measure = .sumOfWaits
    #expect(policy.initialWait(using: &random)?.wait == .seconds(10))
  }

  @Test("a deadline that counts waits counts those that the target asks for")
  func askedWaitsCount() {
    var random = RandomSource(seed: 1)
    var history = WaitHistory.none
    var waits = 0
    for attempt in 1...1000 {
      let decision = RetryPolicy.exponentialBackOff.decide(
        AttemptEnd(
          outcome: .answered, status: 503, retryAfter: .seconds(300), attempts: attempt, startedAt: .epoch,
          waits: history),
        at: .epoch, using: &random)
      guard case .retry = decision.action else { break }
      history = decision.waits
      waits += 1
    }
    #expect(waits == 3)
  }

  @Test("a Retry-After beyond the maximum parks the call until then, or ends it")
  func park() {
    var policy = RetryPolicy(deadline: .seconds(86_400))
    #expect(decide(policy, retryAfter: .seconds(7200)).rule == .retryAfterTooLong)
    policy.retryAfter.beyond = .park
    let parked = decide(policy, retryAfter: .seconds(7200), after: .seconds(1))
    #expect(parked == RetryDecision(.park(until: .epoch + .seconds(7201)), rule: .retryAfter))
    #expect(decide(policy, retryAfter: .seconds(3600)).action == .retry(after: .seconds(3600)))
    #expect(decide(policy, retryAfter: .seconds(86_400)).action == .stop(.deadlineExceeded))
  }

  @Test("a target can stop retries, and ask for them")
  func directive() {
    #expect(decide(tenSeconds, directive: .stop).rule == .targetStops)
    #expect(decide(tenSeconds, status: 404, directive: .retry).rule == .targetRetries)
    #expect(decide(tenSeconds, status: 410, directive: .retry).rule == .statusStops)
    #expect(decide(tenSeconds, status: 200, directive: .retry).action == .succeed)
    for (word, directive) in [
      ("stop", RetryDirective.stop), ("No", .stop), ("FALSE", .stop), ("retry", .retry), ("yes", .retry),
    ] { #expect(RetryDirective.parse(ArraySlice(word.utf8)) == directive) }
    for word in ["", "sto", "stopp", "1", "ja"] { #expect(RetryDirective.parse(ArraySlice(word.utf8)) == nil) }
  }

  @Test("a status may be retried only with a Retry-After")
  func withRetryAfter() {
    var policy = tenSeconds
    policy.retryOn.statusesWithRetryAfter = StatusSet(statuses: [413])
    #expect(decide(policy, status: 413).action == .stop(.notRetryable))
    #expect(decide(policy, status: 413, retryAfter: .seconds(6)).action == .retry(after: .seconds(6)))
  }

  @Test("an initial or maximum wait of 0 does not spin if nothing limits the attempts")
  func noSpin() {
    for backoff in [Backoff(initial: .zero), Backoff(maximum: .zero), .constant(.zero)] {
      let unbounded = decide(RetryPolicy(maxAttempts: RetryPolicy.unlimited, backoff: backoff))
      #expect(unbounded.action == .retry(after: .milliseconds(1)) && unbounded.clamps.contains(.minimum))
      #expect(decide(RetryPolicy(maxAttempts: 3, backoff: backoff)).action == .retry(after: .zero))
    }
  }

  @Test("maxRetries is always attempts − 1", arguments: [0, 1, 2, 3, 1000])
  func maxRetries(retries: Int) {
    var policy = RetryPolicy(maxRetries: retries)
    #expect(policy.maxAttempts == retries + 1 && policy.maxRetries == retries)
    policy.maxRetries = 7
    #expect(policy.maxAttempts == 8)
    #expect(RetryPolicy(maxRetries: .max).maxAttempts == .max && RetryPolicy(maxRetries: -4).maxAttempts == 1)
  }

  @Test("the method or an idempotency key decides whether a request may be repeated")
  func idempotency() {
    for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"] {
      #expect(Idempotency(method: method) == .method && Idempotency(method: method, hasKey: true) == .method)
    }
    for method in ["POST", "PATCH", "get", "", "LOCK", "PUTS"] {
      #expect(Idempotency(method: method) == .unsafe && Idempotency(method: method, hasKey: true) == .keyed)
    }
    #expect(RetryConditions.suited(to: .unsafe) == .nonIdempotent && RetryConditions.suited(to: .keyed) == .idempotent)
    let unsafe = RetryPolicy(retryOn: .suited(to: .unsafe))
    var random = RandomSource(seed: 1)
    func rule(_ outcome: OutcomeClass) -> RetryDecision.Rule {
      unsafe.decide(AttemptEnd(outcome: outcome, attempts: 1, startedAt: .epoch), at: .epoch, using: &random).rule
    }
    #expect(rule(.notSent) == .retryableFailure && rule(.maybeSent) == .failureNotRetryable)
  }

  @Test("a fault on this side is retried, unless a request that must not be repeated may have been sent")
  func localFaults() {
    func meaning(_ network: NetworkRetry, left: Bool) -> RetryDecision.Rule {
      let policy = RetryPolicy(retryOn: RetryConditions(network: network, statuses: .transient))
      let end = AttemptEnd(outcome: .localFault, attempts: 1, startedAt: .epoch, mayHaveLeft: left)
      #expect(end.breakerResult == .ignored)
      return policy.classify(end).rule
    }
    for network in NetworkRetry.allCases { #expect(meaning(network, left: false) == .interrupted) }
    #expect(meaning(.always, left: true) == .interrupted)
    #expect(meaning(.whenNotSent, left: true) == .failureNotRetryable)
    #expect(meaning(.never, left: true) == .failureNotRetryable)
  }

  @Test("a decision classifies: success, transient, throttling, permanent, ignored")
  func classification() {
    let policy = RetryPolicy()
    func of(_ outcome: OutcomeClass, _ status: Int = 0, _ retryAfter: Duration? = nil) -> RetryClassification {
      policy.classify(
        AttemptEnd(outcome: outcome, status: status, retryAfter: retryAfter, attempts: 1, startedAt: .epoch)
      ).classification
    }
    #expect(of(.answered, 204) == .success && of(.answered, 502) == .transient && of(.answered, 404) == .permanent)
    #expect(of(.answered, 429) == .throttling && of(.answered, 503, .zero) == .throttling)
    #expect(of(.answered, 503) == .transient && of(.maybeSent) == .transient)
    #expect(of(.unusable) == .permanent && of(.interrupted) == .ignored && of(.localFault) == .ignored)
  }
}
