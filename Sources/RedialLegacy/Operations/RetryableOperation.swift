public import Foundation

/// An operation that a ``RetryOperationWrapper`` can run anew, since it can say itself whether and how.
public protocol RetryableOperation: Operation {
  /// What has finished says whether another run is needed, and when; nil for none.
  func retryWait() -> RetryWait?

  /// A fresh operation that does the same, not started. When it throws there is no retry.
  func operationForRetrying() throws -> Self
}
