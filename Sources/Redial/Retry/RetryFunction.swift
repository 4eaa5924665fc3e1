/// Runs work until it succeeds:
///
/// ```swift
/// let user = try await retry { try await fetchUser() }
/// let again = try await retry(maxAttempts: 3, if: { $0 is URLError }) { try await fetchUser() }
/// ```
///
/// The work runs on the actor of the caller, whose state it may use, and does not outlive this call. Its result need
/// not be `Sendable`. If the task is cancelled, a wait ends at once, and an attempt as soon as its work reacts.
///
/// - Parameters:
///   - policy: How often, for how long and at what pace.
///   - maxAttempts: The maximum number of attempts, including the first, in place of the policy's.
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
  _ policy: RetryPolicy = RetryPolicy(), maxAttempts: Int? = nil, if condition: (@Sendable (any Error) -> Bool)? = nil,
  clock: some Clock<Duration> = ContinuousClock(), throwing: RetryThrowing = .original, history: RetryHistory? = nil,
  isolation: isolated (any Actor)? = #isolation,
  _ work: nonisolated(nonsending) () async throws -> sending Value
) async throws -> sending Value {
  var retrier = Retrier(policy)
  if let maxAttempts { retrier.policy.maxAttempts = max(1, maxAttempts) }
  retrier.clock = SystemRetryClock.on(clock)
  retrier.throwing = throwing
  retrier.history = history
  if let condition {
    retrier.outcome = { error in condition(error) ? Retrier.outcome(of: error) : .unusable }
  }
  return try await retrier.carried(isolation: isolation) { _ in Ferry(try await work()) }.value
}

/// Runs work until its value is accepted:
///
/// ```swift
/// let user = try await retry(maxAttempts: 3, until: { !$0.name.isEmpty }) { try await fetchUser() }
/// ```
///
/// A value that is not accepted counts like an error that may be retried. When the retries end with such a value, it is
/// returned: look at it once more. All else is as without `until`.
///
/// - Parameters:
///   - policy: How often, for how long and at what pace.
///   - maxAttempts: The maximum number of attempts, including the first, in place of the policy's.
///   - condition: Whether an error may be retried.
///   - isAccepted: Whether a value ends the retries.
///   - clock: The clock of the waits.
///   - history: Receives the attempts; one whose value was not accepted has ``UnacceptedValue`` as its error.
///   - isolation: The actor of the caller.
///   - work: One attempt. ``Permanent`` ends the retries.
/// - Returns: The first value that was accepted, or that of the last attempt.
/// - Throws: The error of the last attempt; ``RetryError`` if no attempt was made; `CancellationError` if the task is
///   cancelled.
public func retry<Value>(
  _ policy: RetryPolicy = RetryPolicy(), maxAttempts: Int? = nil, if condition: (@Sendable (any Error) -> Bool)? = nil,
  until isAccepted: (Value) -> Bool, clock: some Clock<Duration> = ContinuousClock(), history: RetryHistory? = nil,
  isolation: isolated (any Actor)? = #isolation,
  _ work: nonisolated(nonsending) () async throws -> sending Value
) async throws -> sending Value {
  var last: Ferry<Value>?
  do {
    return try await retry(
      policy, maxAttempts: maxAttempts, if: { $0 is UnacceptedValue || (condition?($0) ?? true) }, clock: clock,
      history: history, isolation: isolation
    ) {
      last = nil
      let value = Ferry(try await work())
      if isAccepted(value.value) { return value.value }
      last = value
      throw UnacceptedValue()
    }
  } catch let error as UnacceptedValue {
    guard let last else { throw error }
    return last.value
  }
}

/// The error of an attempt whose value was not accepted.
public struct UnacceptedValue: Error, Hashable, CustomStringConvertible {
  /// For logs.
  public var description: String { "the value was not accepted" }
}

/// What is thrown when retries have ended without success.
public enum RetryThrowing: Sendable, Hashable, CaseIterable {
  /// ``RetryError``: why they have ended, and each attempt's result.
  case history
  /// The error of the last attempt, unchanged.
  case original
}
