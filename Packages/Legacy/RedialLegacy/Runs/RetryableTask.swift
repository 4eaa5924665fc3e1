public import Foundation
public import Redial

/// Work that can be retried, as an object in place of a closure.
public protocol RetryableTask: Sendable {
  /// Makes one attempt and reports, once, whether it has succeeded. Later reports, and reports of an attempt that has
  /// timed out or was stopped, change nothing.
  ///
  /// - Parameters:
  ///   - attempt: The attempt, with the wait before it and the time that has passed.
  ///   - report: Pass true for success. It may be called on any thread, now or later.
  func attempt(_ attempt: RetryAttempt, report: @escaping @Sendable (Bool) -> Void)
}

/// The attempt has reported a failure, without an error of its own.
public struct AttemptReportedFailure: LocalizedError, Hashable, CustomStringConvertible {
  /// For people.
  public var description: String { "the attempt reported failure" }
  /// The same.
  public var errorDescription: String? { description }

  /// Creates the error.
  public init() {}
}
