/// The starts of a policy's attempts as random variables.
struct Timeline {
  /// When one attempt starts.
  enum Start {
    /// A certain time, and a sum of independent uniform waits, each with a width above zero.
    case sum(SumOfUniforms)
    /// Ordered samples, in seconds.
    case samples([Double])

    static let atOnce = Start.sum(SumOfUniforms())

    /// The probability that it is before a time, in seconds.
    func probability(before limit: Double) -> Double {
      switch self {
      case .sum(let sum): sum.probability(before: limit)
      case .samples(let samples): Double(samples.count { $0 < limit }) / Double(max(1, samples.count))
      }
    }

    var quantiles: RetryPlan.Quantiles {
      func time(_ p: Double) -> Duration {
        switch self {
        case .sum(let sum): Duration(clampingSeconds: sum.quantile(p))
        case .samples(let samples):
          Duration(clampingSeconds: samples[min(samples.count - 1, Int(p * Double(samples.count)))])
        }
      }
      let isExact = if case .sum = self { true } else { false }
      return RetryPlan.Quantiles(
        earliest: time(0), p10: time(0.1), median: time(0.5), p90: time(0.9), p99: time(0.99), latest: time(1),
        isExact: isExact)
    }
  }

  private static let runs = RetryPlan.sampledRuns

  private let policy: RetryPolicy
  private let step: Double
  private let sums: [SumOfUniforms]
  /// Starts by attempt, for those whose sum has no closed form here.
  private let samples: [[Double]]
  /// The number of attempts, up to the requested number.
  let count: Int
  /// Whether the backoff ends them.
  let isEnded: Bool

  init(policy: RetryPolicy, step: Double, count: Int, seed: UInt64) {
    self.policy = policy
    self.step = step
    var sums: [SumOfUniforms] = []
    var sum = SumOfUniforms()
    var index = 0
    var ended = false
    while index < count {
      guard let wait = Self.wait(before: index, of: policy) else {
        ended = true
        break
      }
      if index > 0 { sum.shift(by: step) }
      sum.add(wait.lowerBound.inSeconds, wait.upperBound.inSeconds)
      if sums.count == index, sum.isTractable, Self.isUniform(before: index, of: policy) { sums.append(sum) }
      index += 1
    }
    self.sums = sums
    self.count = index
    isEnded = ended
    samples = index > sums.count ? Self.sample(policy, step, from: sums.count, to: index, seed) : []
  }

  func start(_ index: Int) -> Start {
    index < sums.count ? .sum(sums[index]) : .samples(samples[index - sums.count])
  }

  func wait(_ index: Int) -> ClosedRange<Duration>? { Self.wait(before: index, of: policy) }

  /// The range of the wait before the attempt with that index; nil if the backoff has none.
  private static func wait(before index: Int, of policy: RetryPolicy) -> ClosedRange<Duration>? {
    if index == 0 {
      switch policy.initialDelay {
      case .none: return .zero ... .zero
      case .fixed(let wait): return max(.zero, wait)...max(.zero, wait)
      case .backoff: return policy.backoff.range(beforeRetry: 0)
      }
    }
    return policy.waitRange(beforeRetry: index - 1)
  }

  /// Whether the wait is uniform in its range and independent of the earlier ones.
  private static func isUniform(before index: Int, of policy: RetryPolicy) -> Bool {
    let backoff = policy.backoff
    if index > 0, let range = backoff.range(beforeRetry: index - 1 + (policy.initialDelay == .backoff ? 1 : 0)) {
      // If the shortest wait cuts into the range, many waits are exactly the shortest.
      let least = policy.shortestWait(beforeRetry: index - 1)
      if range.lowerBound < least, range.upperBound > least { return false }
    }
    switch backoff.curve {
    case .decorrelated(let base):
      let isFirst = index == (policy.initialDelay == .backoff ? 0 : 1)
      return index == 0 && policy.initialDelay != .backoff
        || isFirst && base.inSeconds * 3 <= backoff.maximum.inSeconds
    case .decorrelatedSmooth: return index == 0 && policy.initialDelay != .backoff
    default: break
    }
    guard index > 0 || policy.initialDelay == .backoff, backoff.cap != .beforeJitter else { return true }
    // If the jittered wait is capped, many waits are exactly the maximum.
    let retry = index - (policy.initialDelay == .backoff ? 0 : 1)
    guard let base = backoff.baseSeconds(retry) else { return true }
    let range = backoff.jitter.range(of: base, retry: retry)
    let isCapped = range.upperBound > backoff.maximum.inSeconds * (1 + 1e-12)
    return !isCapped || range.lowerBound >= backoff.maximum.inSeconds
  }

  /// Draws whole runs; the starts of each attempt in order, for a range of indices.
  private static func sample(
    _ policy: RetryPolicy, _ step: Double, from first: Int, to end: Int, _ seed: UInt64
  ) -> [[Double]] {
    var starts = [[Double]](repeating: [], count: end - first)
    for index in starts.indices { starts[index].reserveCapacity(runs) }
    var random = RandomSource(seed: seed)
    for _ in 0..<runs {
      guard let (initial, start) = policy.initialWait(using: &random) else { break }
      var history = start
      var time = initial.inSeconds
      if first == 0 { starts[0].append(time) }
      for index in 1..<max(1, end) {
        let retry = index - 1 + (policy.initialDelay == .backoff ? 1 : 0)
        guard let wait = policy.backoff.wait(beforeRetry: retry, after: history, using: &random) else { break }
        let duration = max(wait.duration, policy.shortestWait(beforeRetry: index - 1))
        history = history.adding(duration)
        time += step + duration.inSeconds
        if index >= first { starts[index - first].append(time) }
      }
    }
    for index in starts.indices { starts[index].sort() }
    return starts
  }
}
