/// Runs work until it succeeds:
///
/// ```swift
/// let user = try await retry { try await fetchUser() }
/// let again = try await retry(attempts: 3, if: { $0 is URLError }) { try await fetchUser() }
/// ```
///
/// The work runs on the actor of the caller, whose state it may use, and does not outlive this call. Its result need
/// not be `Sendable`. If the task is cancelled, a wait ends at once, and an attempt as soon as its work reacts.
///
/// - Parameters:
///   - policy: How often, for how long and at what pace.
///   - attempts: The maximum number of attempts, including the first, in place of the policy's.
///   - condition: Whether an error may be retried. One for which this is false ends the retries; for others the policy
///     still decides.
///   - clock: The clock of the waits.
///   - throwing: What is thrown when the retries have ended. By default the error of the last attempt, unchanged, so
///     that `catch let error as MyError` matches.
///   - history: Receives the attempts, which can be read besides the error of the last one, and after a success.
///   - isolation: The actor of the caller.
///   - work: One attempt. ``Permanent`` ends the retries.
/// - Throws: According to `throwing`; ``RetryError`` if no attempt was made; `CancellationError` if the task is
///   cancelled.
public func retry<Value>(
  _ policy: RetryPolicy = RetryPolicy(), attempts: Int? = nil, if condition: (@Sendable (any Error) -> Bool)? = nil,
  clock: some Clock<Duration> = ContinuousClock(), throwing: RetryThrowing = .original, history: RetryHistory? = nil,
  isolation: isolated (any Actor)? = #isolation,
  _ work: nonisolated(nonsending) () async throws -> sending Value
) async throws -> sending Value {
  var retrier = Retrier(policy)
  if let attempts { retrier.policy.maxAttempts = max(1, attempts) }
  retrier.clock = SystemRetryClock.on(clock)
  retrier.throwing = throwing
  retrier.history = history
  if let condition {
    retrier.outcome = { error in condition(error) ? Retrier.outcome(of: error) : .unusable }
  }
  return try await retrier.carried(isolation: isolation) { _ in Ferry(try await work()) }.value
}

/// What is thrown when retries have ended without success.
public enum RetryThrowing: Sendable, Hashable, CaseIterable {
  /// ``RetryError``: why they have ended, and each attempt's result.
  case history
  /// The error of the last attempt, unchanged.
  case original
}
