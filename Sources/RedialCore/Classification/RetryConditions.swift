/// What is worth another attempt.
///
/// There are two rules, side by side:
///
/// | a request that | failures of the network | statuses | statuses with `Retry-After` |
/// | --- | --- | --- | --- |
/// | may be repeated: ``idempotent`` | all | 408, 425, 429, 5xx but 501, 505 and 511 | 409, 413, 423 |
/// | must not be executed twice: ``nonIdempotent`` | those where nothing was sent | 408, 425, 429 | none |
///
/// Who follows which:
/// - The service repeats every request, whatever its method, unless the call says `"idempotent": false`. Whoever submits to
///   a retry service asks for retries, and each attempt carries the same `Idempotency-Key`.
/// - The library sees requests that were not written for it. Where it knows the method (`URLSession`), it goes by
///   ``suited(to:)``. Where it does not (`retry { … }`), the caller has asked for retries, as in the service.
public struct RetryConditions: Sendable, Hashable {
  /// Which transport failures are.
  public var network: NetworkRetry
  /// Which answered statuses are.
  public var statuses: StatusSet
  /// Which statuses are only when the answer says when to come back: 503 for a request that may not be repeated, say.
  public var statusesWithRetryAfter: StatusSet

  /// Creates conditions from their parts.
  public init(network: NetworkRetry, statuses: StatusSet, statusesWithRetryAfter: StatusSet = .none) {
    self.network = network
    self.statuses = statuses
    self.statusesWithRetryAfter = statusesWithRetryAfter
  }

  /// For a request that may be executed more than once: by its method (RFC 9110 §9.2.2), or because somebody says so.
  public static let idempotent = RetryConditions(
    network: .always, statuses: .transient, statusesWithRetryAfter: .temporary)

  /// For a request that must not be executed twice: only what provably was not executed.
  public static let nonIdempotent = RetryConditions(network: .whenNotSent, statuses: .notExecuted)

  /// The conditions for a request, from its properties.
  public static func suited(to idempotency: Idempotency) -> RetryConditions {
    idempotency == .unsafe ? .nonIdempotent : .idempotent
  }
}

/// Which transport failures are worth another attempt.
public enum NetworkRetry: UInt8, Sendable, Hashable, CaseIterable {
  /// None.
  case never
  /// Those after which the request provably never left.
  case whenNotSent
  /// All.
  case always
}

/// Whether a request may be executed more than once.
public enum Idempotency: UInt8, Sendable, Hashable, CaseIterable {
  /// Its method says so (RFC 9110 §9.2.2).
  case method
  /// It carries a key by which the target recognises a repetition, or its sender says so.
  case keyed
  /// Nothing says so.
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
