/// An error that ends the retries at once, whatever the policy says.
///
/// ```swift
/// func fetch(_ id: Int) async throws -> String {
///   try await retry(attempts: 5) {
///     guard id > 0 else { throw Permanent(CocoaError(.keyValueValidation)) }
///     return "user \(id)"
///   }
/// }
/// ```
///
/// Who catches gets the error inside, not this one. It is not held against a breaker, nor does it cost a budget.
public struct Permanent: RetryOutcomeProviding, CustomStringConvertible {
  /// The error that the caller gets.
  public var underlying: any Error
  /// It can never succeed as it stands.
  public var retryOutcome: AttemptOutcome { .unusable }
  /// The error inside, in its own words.
  public var description: String { "permanent: \(underlying)" }

  /// Creates the error.
  public init(_ underlying: any Error) { self.underlying = underlying }
}
