/// Bounds how often work begins, for all that share it, from any thread.
///
/// ```swift
/// let limit = RateLimit(RateLimiter(permits: 100, per: .seconds(1), burst: 10), longestWait: .seconds(2))
/// let user = try await limit.perform { try await fetchUser() }
/// ```
public final class RateLimit: PipelinePart {
  /// What it is called in errors.
  public let name: String
  /// How long work waits for its turn.
  public let longestWait: Duration
  private let clock: any RetryClock
  private let limiter: Guarded<RateLimiter>

  /// Creates the limit; without a longest wait, what comes too early is refused.
  public init(
    _ limiter: RateLimiter, longestWait: Duration = .zero, name: String = "rate limit",
    clock: any RetryClock = SystemRetryClock()
  ) {
    self.name = name
    self.longestWait = longestWait
    self.clock = clock
    self.limiter = Guarded(limiter)
  }

  /// Runs work when its turn has come.
  ///
  /// - Throws: ``LimitReached`` when that would take longer than ``longestWait``; `CancellationError` when the task is
  ///   cancelled while it waits; else what the work throws.
  public func perform<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    var left = max(.zero, longestWait)
    while true {
      let now = clock.now
      guard case .rejected(let until) = limiter.withLock({ $0.acquire(at: now) }) else { return try await work() }
      let wait = max(.microseconds(1), until - now)
      // Others may have taken the turn by then; what was waited counts.
      guard wait <= left else { throw LimitReached(name: name, retryAfter: wait) }
      left -= wait
      try await clock.sleep(for: wait)
    }
  }
}
