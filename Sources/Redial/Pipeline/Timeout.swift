/// Limits the time of work.
///
/// ```swift
/// let user = try await Timeout(.seconds(2)).perform { try await fetchUser() }
/// ```
public struct Timeout: PipelinePart {
  /// The maximum time.
  public var limit: Duration
  /// Its name in events.
  public var name: String
  /// The clock.
  public var clock: any RetryClock
  /// Receives an event when work is cancelled.
  public var events: (any RetryObserver)?

  /// Creates the limit.
  public init(
    _ limit: Duration, name: String = "timeout", clock: any RetryClock = SystemRetryClock(),
    events: (any RetryObserver)? = nil
  ) {
    self.limit = limit
    self.name = name
    self.clock = clock
    self.events = events
  }

  /// Runs work, and cancels it when its time is up. Work that ignores cancellation is awaited.
  ///
  /// - Throws: ``AttemptTimeout`` if the time was up first; otherwise the error of the work.
  public func perform<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let attempt = RetryAttempt(timeout: limit)
    // Work that fails by the timeout of a part within has not used up this one.
    let isWithin = Guarded(false)
    let result = await TimedWork.perform(attempt, clock, isolation: nil) { _ in
      do {
        return try await work()
      } catch let error as AttemptTimeout {
        isWithin.withLock { $0 = true }
        throw error
      }
    }
    if case .failure(is AttemptTimeout) = result, !isWithin.withLock({ $0 }) {
      events?.tell(.timedOut(name: name, after: limit))
    }
    return try result.get()
  }
}
