import RedialCore
import Testing

/// The rows of the systems that Redial supersedes, as far as they are arithmetic.
@Suite("What ExponentialBackOff and Alley do, in the core")
struct BackoffSeedTests {
  @Test("the base waits are 500, 750, 1125, 1687.5 … ms")
  func e1() {
    let backoff = Backoff(maximum: .longest)
    #expect((0..<5).map { backoff.baseSeconds($0) } == [0.5, 0.75, 1.125, 1.6875, 2.53125])
  }

  @Test("a wait is its base × uniform[0.5, 1.5]: exact bounds, mean within 0.1 % over a million draws")
  func e2() throws {
    let backoff = Backoff(initial: .seconds(1), multiplier: 1, maximum: .longest)
    var random = RandomSource(seed: 20_261_121)
    var sum = 0.0
    var least = Duration.longest
    var most = Duration.zero
    for _ in 0..<1_000_000 {
      let wait = try #require(backoff.wait(beforeRetry: 0, using: &random)).duration
      sum += wait.inSeconds
      least = min(least, wait)
      most = max(most, wait)
    }
    #expect(abs(sum / 1_000_000 - 1) < 0.001)
    #expect(least >= .milliseconds(500) && least < .milliseconds(501))
    #expect(most <= .milliseconds(1500) && most > .milliseconds(1499))
    var low = CurveTests.Fixed(0)
    #expect(backoff.wait(beforeRetry: 0, using: &low)?.duration == .milliseconds(500))
  }

  @Test("no wait exceeds the maximum, even at attempts 10,000 and Int.max", arguments: CapMode.allCases)
  func e3(cap: CapMode) throws {
    for retry in [200, 10_000, Int.max] {
      let backoff = Backoff(cap: cap)
      var random = RandomSource(seed: UInt64(bitPattern: Int64(retry)))
      let waits = try (0..<500).map { _ in try #require(backoff.wait(beforeRetry: retry, using: &random)).duration }
      switch cap {
      case .keepingSpread: #expect(waits.allSatisfy { $0 <= .seconds(60) } && Set(waits).count > 400)
      case .afterJitter: #expect(Set(waits) == [.seconds(60)], "theirs: all fall on the cap")
      case .beforeJitter: #expect(waits.allSatisfy { $0 <= .seconds(90) } && waits.contains { $0 > .seconds(60) })
      }
    }
  }

  @Test(
    "the exponential backoff has five parameters with the defaults of Google's Java client, and each can be changed")
  func e5() {
    #expect(Backoff.exponential() == Backoff())
    #expect(RetryPolicy().backoff == Backoff.exponential())
    #expect(RetryPolicy.exponentialBackOff.deadline == .seconds(900))
    var changed = Backoff.exponential(
      initial: .seconds(1), multiplier: 3, maximum: .seconds(9), jitter: .proportional(factor: 0.1))
    #expect(changed.baseSeconds(1) == 3)
    changed.curve = .exponential(initial: .seconds(2), multiplier: 1)
    changed.maximum = .seconds(1)
    changed.jitter = .none
    #expect(changed.baseSeconds(5) == 1)
  }

  @Test("a user's own strategy decides the waits")
  func e8() {
    struct Countdown: BackoffStrategy {
      func wait(
        beforeRetry retry: Int, after history: WaitHistory, using random: inout some RandomNumberGenerator
      ) -> BackoffWait? {
        retry < 3 ? BackoffWait(.seconds(3 - retry)) : nil
      }
    }
    var random = RandomSource(seed: 1)
    let start = Timestamp(microseconds: 0)
    let actions = (1...4).map { attempt in
      RetryPolicy(maxAttempts: 9).decide(
        AttemptEnd(outcome: .answered, status: 503, attempts: attempt, startedAt: start), at: start,
        backoff: Countdown(), using: &random
      ).action
    }
    #expect(
      actions == [
        .retry(after: .seconds(3)), .retry(after: .seconds(2)), .retry(after: .seconds(1)), .stop(.attemptsExhausted),
      ])
  }

  @Test("full jitter with base 0.5 s and maximum 30 s; a backoff of 0 does not wait")
  func a6() throws {
    let backoff = RetryPolicy.alley.backoff
    #expect((0..<8).map { backoff.baseSeconds($0) } == [0.5, 1, 2, 4, 8, 16, 30, 30])
    var low = CurveTests.Fixed(0)
    #expect(backoff.wait(beforeRetry: 5, using: &low)?.duration == .zero)
    var zero = backoff
    zero.curve = .exponential(initial: .zero, multiplier: 2)
    var random = RandomSource(seed: 3)
    #expect(zero.wait(beforeRetry: 5, using: &random)?.duration == .zero)
  }

  @Test("a factor above 1 gives no negative wait")
  func factor() throws {
    var random = RandomSource(seed: 5)
    for _ in 0..<1000 {
      let backoff = Backoff(jitter: .proportional(factor: 7))
      #expect(try #require(backoff.wait(beforeRetry: 1, using: &random)).duration >= .zero)
    }
  }
}
