/// Limits how often work begins, for all that share it, from any thread.
///
/// ```swift
/// let limit = RateLimit(RateLimiter(permits: 100, per: .seconds(1), burst: 10), longestWait: .seconds(2))
/// let user = try await limit.perform { try await fetchUser() }
/// ```
public final class RateLimit: PipelinePart {
  /// Its name in errors and events.
  public let name: String
  /// The maximum time that work waits.
  public let longestWait: Duration
  private let clock: any RetryClock
  private let events: (any RetryObserver)?
  private let limiter: Guarded<RateLimiter>

  /// Creates the limit; without a longest wait, work that comes too early is refused.
  public init(
    _ limiter: RateLimiter, longestWait: Duration = .zero, name: String = "rate limit",
    clock: any RetryClock = SystemRetryClock(), events: (any RetryObserver)? = nil
  ) {
    self.name = name
    self.longestWait = longestWait
    self.clock = clock
    self.events = events
    self.limiter = Guarded(limiter)
  }

  /// Runs work when the limit allows it, in the order in which it comes. Work that is cancelled while it waits still
  /// counts.
  ///
  /// - Throws: ``LimitReached``, at once, when it would wait for longer than ``longestWait``; `CancellationError` when
  ///   the task is cancelled while it waits; else what the work throws.
  public func perform<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let now = clock.now
    let (wait, until): (Duration, Timestamp?) = limiter.withLock { limiter in
      if let wait = limiter.reserve(at: now, within: max(.zero, longestWait)) { return (wait, nil) }
      guard case .rejected(let until) = limiter.peek(at: now) else { return (.zero, nil) }
      return (.zero, until)
    }
    if let until {
      let error = LimitReached(name: name, retryAfter: until - now)
      events?.tell(.refused(name: name, error))
      throw error
    }
    if wait > .zero {
      events?.tell(.waiting(name: name, reason: .rateLimit, duration: wait))
      try await clock.sleep(for: wait)
    }
    return try await work()
  }
}
