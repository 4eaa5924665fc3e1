/// Limits the time of work.
///
/// ```swift
/// let user = try await Timeout(.seconds(2)).perform { try await fetchUser() }
/// ```
public struct Timeout: PipelinePart {
  /// The maximum time.
  public var limit: Duration
  /// The clock.
  public var clock: any RetryClock

  /// Creates the limit.
  public init(_ limit: Duration, clock: any RetryClock = SystemRetryClock()) {
    self.limit = limit
    self.clock = clock
  }

  /// Runs work, and cancels it when its time is up. Work that ignores cancellation is awaited.
  ///
  /// - Throws: ``AttemptTimeout`` if the time was up first; otherwise the error of the work.
  public func perform<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let attempt = RetryAttempt(timeout: limit)
    return try await TimedWork.perform(attempt, clock, isolation: nil) { _ in try await work() }.get()
  }
}
