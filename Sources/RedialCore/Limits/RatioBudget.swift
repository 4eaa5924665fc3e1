/// Retries as a share of the recent requests, plus some per second even if those are few.
///
/// Finagle's `RetryBudget`, with one difference: there a deposit that expires can leave a debt, here the balance
/// ends at zero.
struct RatioBudget: Sendable, Hashable {
  /// More than a million retries per second are practically unlimited.
  private static let mostPerSecond: Int64 = 1_000_000
  /// Finagle allows up to 1000 retries per request; a hundred are no limit either.
  private static let mostShare = 100.0

  private let share: Share
  private let minimumPerSecond: Int64
  /// The first count is first attempts, the second retries.
  private var window: RollingCounts

  init(share: Double, minimumPerSecond: Int, window: Duration) {
    self.share = Share(share, atMost: Self.mostShare)
    self.minimumPerSecond = min(max(0, Int64(minimumPerSecond)), Self.mostPerSecond)
    self.window = RollingCounts(length: window)
  }

  mutating func begin(at now: Timestamp) {
    window.count(.first, at: now)
  }

  mutating func withdraw(at now: Timestamp) -> Bool {
    guard available(at: now) > 0 else { return false }
    window.count(.second, at: now)
    return true
  }

  mutating func giveBack(withdrawnAt time: Timestamp) {
    window.takeBack(.second, countedAt: time)
  }

  /// How many retries the budget allows now.
  mutating func available(at now: Timestamp) -> Int64 {
    let sums = window.sums(at: now)
    // Retries per second over a window of microseconds are in millionths, like the share.
    let allowed = (share.millionths(of: sums.first) + minimumPerSecond * window.lengthMicroseconds) / 1_000_000
    return max(0, allowed - sums.second)
  }
}
