/// An error that ends the retries at once, whatever the policy says.
///
/// ```swift
/// func fetch(_ id: Int) async throws -> String {
///   try await retry(maxAttempts: 5) {
///     guard id > 0 else { throw Permanent(CocoaError(.keyValueValidation)) }
///     return "user \(id)"
///   }
/// }
/// ```
///
/// The caller catches the error inside, not this one. It does not count against a breaker, and costs a budget nothing.
public struct Permanent: RetryOutcomeProviding, CustomStringConvertible {
  /// The error that the caller gets.
  public var underlying: any Error
  /// It can never succeed.
  public var retryOutcome: AttemptOutcome { .unusable }
  /// The text of the error inside.
  public var description: String { "permanent: \(underlying)" }

  /// Creates the error.
  public init(_ underlying: any Error) { self.underlying = underlying }
}
