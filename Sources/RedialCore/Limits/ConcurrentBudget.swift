/// Retries as a share of the requests in flight (Envoy, `CircuitBreakers.Thresholds.RetryBudget`).
struct ConcurrentBudget: Sendable, Hashable {
  private let share: Share
  private let minimum: Int
  /// First attempts and retries that have begun and not ended.
  private(set) var active = 0
  /// The retries among them, from their withdrawal on.
  private(set) var retries = 0

  init(share: Double, minimum: Int) {
    self.share = Share(share, atMost: 1)
    self.minimum = max(0, minimum)
  }

  mutating func begin() {
    // A caller that begins and never ends could overflow a 32-bit `Int`.
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

  /// How many retries the budget allows now.
  var available: Int {
    max(0, max(minimum, Int(clamping: share.millionths(of: Int64(active)) / 1_000_000)) - retries)
  }
}
