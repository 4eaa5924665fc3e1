/// Runs work until it succeeds:
///
/// ```swift
/// let user = try await retry { try await fetchUser() }
/// let again = try await retry(attempts: 3, if: { $0 is URLError }) { try await fetchUser() }
/// ```
///
/// The work runs on the actor of the caller, whose state it may use, and does not outlive this call. What it returns need
/// not be `Sendable`. When the task is cancelled, a wait ends at once, and an attempt as soon as its work heeds it.
///
/// - Parameters:
///   - policy: How often, how long and at what pace.
///   - attempts: The most attempts, the first included, in the place of the policy's.
///   - condition: Whether an error is worth another attempt. One for which this is false ends the retries; one for which
///     it is true is still subject to the policy.
///   - clock: What the waits pass on.
///   - throwing: What is thrown when the retries have ended. By default it is the error of the last attempt, as the work
///     has thrown it, so that `catch let error as MyError` matches.
///   - history: Takes the attempts, so that they can be read beside the error of the last one, and after a success.
///   - isolation: The actor of the caller.
///   - work: One attempt. ``Permanent`` ends the retries.
/// - Throws: What `throwing` says; ``RetryError`` where no attempt was made; `CancellationError` when the task is
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
  /// ``RetryError``: why they have ended, and how each attempt did.
  case history
  /// The error of the last attempt, as it was thrown.
  case original
}
