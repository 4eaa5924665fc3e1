import RedialCore
import RedialForecast

/// A limit of the requests in flight, as in Netflix's concurrency-limits, in the place of the adaptive pace.
struct LimiterPace: Pacing {
  private var limiter: ConcurrencyLimiter

  init(_ algorithm: ConcurrencyLimiter.Algorithm) {
    limiter = ConcurrencyLimiter(algorithm)
  }

  func wait(at now: Timestamp) -> Timestamp? { nil }

  func concurrency(within full: Int) -> Int { min(full, limiter.limit) }

  mutating func start(at now: Timestamp) -> Bool { limiter.acquire() }

  mutating func end(_ hasPlace: Bool, _ sign: AdaptivePace.Sign, at now: Timestamp) {
    guard hasPlace else { return }
    switch sign {
    case .delivered(let time): limiter.release(.success(took: time))
    case .refused, .silent: limiter.release(.dropped)
    case .none: limiter.release(.ignored)
    }
  }

  func suspend(at now: Timestamp) {}
  func recover(at now: Timestamp) {}
  func isDelivering(at now: Timestamp) -> Bool { false }
}
