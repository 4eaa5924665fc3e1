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
    let result = await TimedWork.perform(attempt, clock, isolation: nil) { _ in try await work() }
    // Work that fails with the timeout of a part within has not used up this one.
    if case .failure(let error as AttemptTimeout) = result, error.limit == limit {
      events?.tell(.timedOut(name: name, after: limit))
    }
    return try result.get()
  }
}
