public import Foundation

// `localizedDescription`, which programs show and log, is Foundation's: without this it names the type and nothing else.

extension RetryError: LocalizedError {
  /// The same as ``description``.
  public var errorDescription: String? { description }
}

extension AttemptTimeout: LocalizedError {
  /// The same as ``description``.
  public var errorDescription: String? { description }
}

extension Permanent: LocalizedError {
  /// The same as ``description``.
  public var errorDescription: String? { description }
}

extension CircuitOpen: LocalizedError {
  /// The same as ``description``.
  public var errorDescription: String? { description }
}

extension CircuitRecovering: LocalizedError {
  /// The same as ``description``.
  public var errorDescription: String? { description }
}

extension LimitReached: LocalizedError {
  /// The same as ``description``.
  public var errorDescription: String? { description }
}

extension StreamOverflow: LocalizedError {
  /// The same as ``description``.
  public var errorDescription: String? { description }
}
