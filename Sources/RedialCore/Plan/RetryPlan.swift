/// The times of a policy's attempts, as far as they are known in advance.
///
/// ```swift
/// let plan = RetryPolicy.svix.plan()
/// plan.attempts[3].start.median  // → 2105.0 seconds; after 5 s, 5 min and 30 min
/// plan.warnings  // → []; nothing that a reader of the policy should think about
/// ```
public struct RetryPlan: Sendable, Hashable {
  /// How many runs of a policy are sampled if its waits have no closed form.
  public static let sampledRuns = 4096

  /// One attempt, assuming that all earlier ones failed and that the target requested no waits.
  public struct Attempt: Sendable, Hashable {
    /// Its number, from 1.
    public var number: Int
    /// The shortest and the longest wait before it; nil if only samples are known.
    public var wait: ClosedRange<Duration>?
    /// When it starts, counted from the start of the call.
    public var start: Quantiles
    /// The probability, 0...1, that the deadline leaves time for it.
    public var chance: Double
  }

  /// The distribution of a time.
  public struct Quantiles: Sendable, Hashable {
    /// No earlier than this.
    public var earliest: Duration
    /// In one of ten cases no later than this.
    public var p10: Duration
    /// In half of all cases no later than this.
    public var median: Duration
    /// In nine of ten cases no later than this.
    public var p90: Duration
    /// In 99 of a hundred cases no later than this.
    public var p99: Duration
    /// No later than this.
    public var latest: Duration
    /// Whether these come from a closed form; otherwise from samples of the code that draws the waits.
    public var isExact: Bool
  }

  /// The attempts, up to the first for which the deadline leaves no time.
  public var attempts: [Attempt]
  /// Whether there are no attempts after the listed ones.
  public var isComplete: Bool
  /// The latest time, counted from the start of the call, at which it can still be in flight.
  public var latestEnd: Duration
  /// The probability, 0...1, that the last attempt of the policy still comes before the deadline.
  public var chanceOfAllAttempts: Double
  /// Warnings for the author of the policy.
  public var warnings: [PolicyWarning]
}

extension RetryPolicy {
  /// The plan of this policy.
  ///
  /// - Parameters:
  ///   - attemptDuration: How long each attempt takes until it has failed.
  ///   - limit: The maximum number of listed attempts, 1...1000.
  ///   - seed: The seed of the samples, if samples are needed.
  /// - Complexity: Up to ten waits are summed in closed form; beyond, 4,096 runs are sampled.
  public func plan(attemptDuration: Duration = .zero, limit: Int = 100, seed: UInt64 = 0) -> RetryPlan {
    let step = max(.zero, min(attemptDuration, attemptTimeout))
    let count = min(max(1, maxAttempts), min(1000, max(1, limit)))
    let timeline = Timeline(policy: self, step: step.inSeconds, count: count, seed: seed)
    var attempts: [RetryPlan.Attempt] = []
    var last = Timeline.Start.atOnce
    for index in 0..<timeline.count {
      let start = timeline.start(index)
      let chance = chance(of: start, after: last)
      if chance == 0 { break }
      last = start
      attempts.append(.init(number: index + 1, wait: timeline.wait(index), start: start.quantiles, chance: chance))
    }
    let isWhole = attempts.count == timeline.count && (timeline.isEnded || count == maxAttempts)
    let isComplete = isWhole || attempts.count < timeline.count
    return RetryPlan(
      attempts: attempts, isComplete: isComplete, latestEnd: latestEnd(of: attempts, isComplete: isComplete),
      chanceOfAllAttempts: isWhole ? attempts.last?.chance ?? 0 : 0,
      warnings: warnings(unreachableFrom: attempts.count < timeline.count ? attempts.count + 1 : nil))
  }

  private func chance(of start: Timeline.Start, after last: Timeline.Start) -> Double {
    guard deadlineRule.measure == .elapsed else {
      // Only the sum of the waits before this one counts, which is the start of the attempt before.
      return last.probability(before: deadline.inSeconds)
    }
    let limit = deadline.inSeconds - max(0, deadlineRule.minimumAttemptTime.inSeconds)
    let decisive = deadlineRule.lastAttempt == .pullForward ? last : start
    return decisive.probability(before: limit)
  }

  private func latestEnd(of attempts: [RetryPlan.Attempt], isComplete: Bool) -> Duration {
    guard isComplete else { return deadlineRule.measure == .elapsed ? deadline : .longest }
    var seconds = 0.0
    for attempt in attempts { seconds += (attempt.wait?.upperBound.inSeconds ?? 0) + attemptTimeout.inSeconds }
    if let last = attempts.last { seconds = max(seconds, last.start.latest.inSeconds + attemptTimeout.inSeconds) }
    let end = Duration(clampingSeconds: seconds)
    return deadlineRule.measure == .elapsed ? min(deadline, end) : end
  }
}
