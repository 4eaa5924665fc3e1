internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension URLRetryOptions {
  /// The retrier for a request: with the conditions for its idempotency.
  func retrier(for request: URLRequest) -> Retrier {
    var retrier = retrier
    let method = request.httpMethod ?? "GET"
    if mayNotRepeat(request) {
      retrier.policy.retryOn = retrier.policy.retryOn.whereNotExecuted
    }
    // A stream can be read once: a second attempt would send an incomplete body, or none.
    if request.httpBodyStream != nil { retrier.policy.maxAttempts = 1 }
    if retrier.name.isEmpty { retrier.name = "\(method) \(request.url?.logText ?? "no URL")" }
    let (outcome, clock) = (outcome, retrier.clock)
    retrier.outcome = { outcome(HTTPCallError($0), clock.wallTime) }
    return retrier
  }

  /// Whether nothing shows that the request may be executed more than once.
  private func mayNotRepeat(_ request: URLRequest) -> Bool {
    let hasKey = request.value(forHTTPHeaderField: "Idempotency-Key").map { !$0.isEmpty } ?? false
    return !retryNonIdempotent && Idempotency(method: request.httpMethod ?? "GET", hasKey: hasKey) == .unsafe
  }

  /// A request that may not be executed twice is sent on its own connection, and so is every retry, so that each
  /// attempt is one request.
  func connection(for request: URLRequest, _ attempt: RetryAttempt) -> Exchange.Connection {
    mayNotRepeat(request) || attempt.number > 1 ? .own : .pooled
  }
}

extension RetryConditions {
  /// Those of these that prove that a request was not executed. The statuses that count only with `Retry-After` stay.
  fileprivate var whereNotExecuted: RetryConditions {
    let statuses = StatusSet.notExecuted.ranges.joined().filter { self.statuses.contains($0) }
    return RetryConditions(
      network: network == .never ? .never : .whenNotSent, statuses: StatusSet(statuses: Array(statuses)),
      statusesWithRetryAfter: statusesWithRetryAfter)
  }
}
