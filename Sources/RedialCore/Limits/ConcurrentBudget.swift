/// Retries as a share of the requests in flight (Envoy, `CircuitBreakers.Thresholds.RetryBudget`).
struct ConcurrentBudget: Sendable, Hashable {
  private let share: Share
  private let minimum: Int
  /// First tries and retries that have begun and not ended.
  private(set) var active = 0
  /// The retries among them, from their withdrawal on.
  private(set) var retries = 0

  init(share: Double, minimum: Int) {
    self.share = Share(share, atMost: 1)
    self.minimum = max(0, minimum)
  }

  mutating func begin() {
    // Somebody begins and never ends: where an `Int` has 32 bits, it could come to this.
    if active < .max { active += 1 }
  }

  mutating func withdraw() -> Bool {
    guard available > 0, active < .max else { return false }
    active += 1
    retries += 1
    return true
  }

  mutating func end(isRetry: Bool) {
    if isRetry {
      guard retries > 0 else { return }
      retries -= 1
    }
    active = max(retries, active - 1)
  }

  /// How many retries the budget would lend now.
  var available: Int {
    max(0, max(minimum, Int(clamping: share.millionths(of: Int64(active)) / 1_000_000)) - retries)
  }
}
