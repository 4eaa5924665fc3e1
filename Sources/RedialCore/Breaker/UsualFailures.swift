/// The share of failures that is usual for a target, and how long its successes take: what its runs of failures are
/// compared with.
///
/// A run of n failures comes by chance with the probability share^n. A run that a success ended was chance, and is
/// learned. One that opened the breaker is not: what is usual stays as it was before the outage.
///
/// It is an average over the last ``memory`` outcomes, of which 20 are taken to be successes while few are known. Those of the
/// last hour count: what is older weighs as much as 20 outcomes.
public struct UsualFailures: Sendable, Hashable {
  /// The share, 0...1.
  public private(set) var share = 0.0
  private var outcomes = prior
  /// When the last of the outcomes ended.
  public private(set) var learnedAt = Timestamp.epoch
  /// How long a success takes, in microseconds; 0 if unknown.
  private var duration = 0.0

  /// How many outcomes the average remembers.
  public static let memory = 500.0
  private static let prior = 20.0
  /// A share that is less, or unknown. At it, one failure is as unlikely as a run has to be by default.
  private static let least = 1e-6
  /// Beyond it a target hardly delivers, and a run of failures tells nothing.
  private static let most = 0.99

  /// Nothing is known: failures are not usual.
  public init() {}

  /// What was usual in the process before.
  ///
  /// - Parameters:
  ///   - share: The share, 0...1.
  ///   - learnedAt: When the last of its outcomes ended.
  public init(share: Double, learnedAt: Timestamp) {
    self.share = min(max(0, share), 1)
    self.learnedAt = learnedAt
    outcomes = Self.memory
  }

  /// How long an outcome counts.
  public static let memoryTime = Duration.seconds(3600)

  /// Takes outcomes into account.
  ///
  /// - Parameters:
  ///   - failures: How many of them were failures.
  ///   - count: How many there were, 1 or more.
  ///   - now: When the last of them ended.
  mutating func learn(failures: Int, of count: Int, at now: Timestamp) {
    // At a rate at which less time matters, the number of outcomes is the bound.
    let age = now - learnedAt
    if age > .seconds(1) {
      outcomes = max(Self.prior, outcomes * (1 - min(1, age.inSeconds / Self.memoryTime.inSeconds)))
    }
    learnedAt = now
    outcomes = min(Self.memory, outcomes + Double(count))
    let weight = min(1, Double(count) / outcomes)
    share += (Double(failures) / Double(count) - share) * weight
  }

  /// Takes the duration of a success into account.
  mutating func learn(_ duration: Duration) {
    let took = Double(duration.wholeMicroseconds)
    self.duration = self.duration == 0 ? took : self.duration + (took - self.duration) / 32
  }

  /// How long a run of failures lasts at least that is no chance: as long as is set, and until successes of calls that
  /// began with it would be there. Zero if that is set.
  func time(atLeast least: Duration) -> Duration {
    least > .zero ? least + .microseconds(Int64(min(2 * duration, 1e12))) : .zero
  }

  /// Whether chance does not explain a run of failures.
  ///
  /// - Parameters:
  ///   - run: Failures in a row, 1 or more.
  ///   - significance: The probability, 0...1, at or below which it is not chance. 1 takes nothing for chance.
  public func isUnlikely(run: Int, significance: Double) -> Bool {
    guard significance < 1 else { return true }
    let share = min(max(self.share, Self.least), Self.most)
    return Double(run) * Elementary.log2(share) <= Elementary.log2(max(significance, .leastNormalMagnitude))
  }
}
