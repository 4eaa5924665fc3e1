/// Which results are retried.
///
/// There are two rules, side by side:
///
/// | a request that | failures of the network | statuses | statuses with `Retry-After` |
/// | --- | --- | --- | --- |
/// | may be repeated: ``idempotent`` | all | 408, 425, 429, 5xx but 501, 505 and 511 | 409, 413, 423 |
/// | must not be executed twice: ``nonIdempotent`` | those where nothing was sent | 408, 425, 429 | none |
///
/// Who uses which:
/// - The service repeats every request, whatever its method, unless the call says `"idempotent": false`. A client of a
///   retry service wants retries, and each attempt has the same `Idempotency-Key`.
/// - The library gets requests that were not written for it. If it knows the method (`URLSession`), it uses
///   ``suited(to:)``. If not (`retry { … }`), the caller has asked for retries, as in the service.
public struct RetryConditions: Sendable, Hashable {
  /// The transport failures that are retried.
  public var network: NetworkRetry
  /// The statuses that are retried.
  public var statuses: StatusSet
  /// The statuses that are retried only if the response has `Retry-After`, for example 503 for a request that must not
  /// be repeated.
  public var statusesWithRetryAfter: StatusSet

  /// Creates conditions from their parts.
  public init(network: NetworkRetry, statuses: StatusSet, statusesWithRetryAfter: StatusSet = .none) {
    self.network = network
    self.statuses = statuses
    self.statusesWithRetryAfter = statusesWithRetryAfter
  }

  /// For a request that may be executed more than once: because of its method (RFC 9110 §9.2.2), or because the caller
  /// says so.
  public static let idempotent = RetryConditions(
    network: .always, statuses: .transient, statusesWithRetryAfter: .temporary)

  /// For a request that must not be executed twice: only results that prove that it was not executed.
  public static let nonIdempotent = RetryConditions(network: .whenNotSent, statuses: .notExecuted)

  /// The conditions for a request, from its properties.
  public static func suited(to idempotency: Idempotency) -> RetryConditions {
    idempotency == .unsafe ? .nonIdempotent : .idempotent
  }
}

/// Which transport failures are retried.
public enum NetworkRetry: UInt8, Sendable, Hashable, CaseIterable {
  /// None.
  case never
  /// Those that prove that the request was not sent.
  case whenNotSent
  /// All.
  case always
}

/// Whether a request may be executed more than once.
public enum Idempotency: UInt8, Sendable, Hashable, CaseIterable {
  /// Its method is idempotent (RFC 9110 §9.2.2).
  case method
  /// It has a key by which the target recognizes a repetition, or its sender says so.
  case keyed
  /// Unknown.
  case unsafe

  /// The properties of a request with that method.
  ///
  /// - Parameters:
  ///   - method: The method token; methods are case-sensitive.
  ///   - hasKey: Whether the target honours an idempotency key that the request carries.
  public init(method: String, hasKey: Bool = false) {
    let isIdempotent =
      switch method.utf8.count {
      case 3: Self.equals(method, "GET") || Self.equals(method, "PUT")
      case 4: Self.equals(method, "HEAD")
      case 5: Self.equals(method, "TRACE")
      case 6: Self.equals(method, "DELETE")
      case 7: Self.equals(method, "OPTIONS")
      default: false
      }
    self = isIdempotent ? .method : hasKey ? .keyed : .unsafe
  }

  private static func equals(_ method: String, _ name: StaticString) -> Bool {
    var at = name.utf8Start
    for byte in method.utf8 {
      guard byte == at.pointee else { return false }
      at += 1
    }
    return true
  }
}
