import RedialCore
import RedialForecast

/// A rate with additive increase and multiplicative decrease: it halves when requests are refused, at most once in a
/// second, and grows by one per second each second.
///
/// Chiu and Jain, "Analysis of the Increase and Decrease Algorithms for Congestion Avoidance in Computer Networks",
/// 1989; the plainest form.
struct AIMDRate: Pacing {
  /// In requests per second; nil before the first refusal.
  private var rate: Double?
  private var next = Timestamp.epoch
  private var fellAt = Timestamp.epoch
  private var grewAt = Timestamp.epoch
  /// What was started since `countedFrom`, to begin with a rate.
  private var started = 0
  private var countedFrom = Timestamp.epoch

  mutating func wait(at now: Timestamp) -> Timestamp? { rate == nil || next <= now ? nil : next }

  func concurrency(within full: Int) -> Int { full }

  mutating func start(at now: Timestamp) {
    if now - countedFrom >= .seconds(1) { (started, countedFrom) = (0, now) }
    started += 1
    if let rate { next = max(next, now) + .microseconds(Int64(1e6 / rate)) }
  }

  mutating func end(_ ticket: Void, _ sign: AdaptivePace.Sign, at now: Timestamp) {
    switch sign {
    case .refused, .silent:
      guard now - fellAt >= .seconds(1) else { return }
      fellAt = now
      rate = max(1, (rate ?? Double(max(1, started))) / 2)
    case .delivered:
      guard let rate, now - grewAt >= .seconds(1), now - fellAt >= .seconds(1) else { return }
      grewAt = now
      self.rate = rate + 1
    case .none: break
    }
  }

  func suspend(at now: Timestamp) {}
  func recover(at now: Timestamp) {}
  func isDelivering(at now: Timestamp) -> Bool { false }
}
