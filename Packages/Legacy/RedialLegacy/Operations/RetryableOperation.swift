public import Foundation

/// An operation that a ``RetryOperationWrapper`` can run again, because it decides itself whether and how.
public protocol RetryableOperation: Operation {
  /// The finished operation says whether another run is needed, and when; nil for none.
  func retryWait() -> RetryWait?

  /// A new operation that does the same, not started. If it throws there is no retry.
  func operationForRetrying() throws -> Self
}
