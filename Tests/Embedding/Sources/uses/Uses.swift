import Foundation
import Redial

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The five most common uses, as docs/library.md shows them.
struct Uses: Sendable {
  let breakers = SharedRegistry { host in SharedCircuitBreaker(.fe9lix, name: host) }
  let limit = ConcurrencyLimit(20)
  let host = "api.example.com"
  let session = URLSession(configuration: .ephemeral)

  /// Try again, a few times, after errors of one kind.
  func tryAgain(_ fetch: @Sendable () async throws -> String) async throws -> String {
    try await retry(maxAttempts: 3, if: { $0 is NoConnection }) { try await fetch() }
  }

  /// Bound the time of each attempt, and of the whole.
  func bounded(_ fetch: @Sendable () async throws -> String) async throws -> String {
    try await retry(RetryPolicy(deadline: .seconds(1), attemptTimeout: .milliseconds(100))) { try await fetch() }
  }

  /// Leave a target alone that is down.
  func guarded(_ fetch: @Sendable () async throws -> String) async throws -> String {
    try await Retrier(.polly, breaker: breakers[host]).run { try await fetch() }
  }

  /// Repeat an HTTP request, no earlier than the server asks.
  func load(_ request: URLRequest) async throws -> Data {
    try await session.data(for: request, retrying: .maxAttempts(5)).0
  }

  /// Bound what is in flight, and answer something else when nothing helps.
  func withFallback(_ fetch: @escaping @Sendable () async throws -> String) async throws -> String {
    try await Pipeline().fallback { _ in "stale" }.with(limit).with(Retrier(.failsafe)).run(fetch)
  }
}

struct NoConnection: Error {}
struct Refused: Error {}
