#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// How a session's call is retried, with the hooks around each attempt.
///
/// ```swift
/// var options = URLRetryOptions.http
/// options.retrier.breaker = breakers["api.example.com"]
/// options.authenticate = { request, _ in
///   var request = request
///   request.setValue("Bearer \(await tokens.current)", forHTTPHeaderField: "Authorization")
///   return request
/// }
/// options.refresh = { _ in await tokens.renew() }
/// ```
public struct URLRetryOptions: Sendable {
  /// Prepares a request for an attempt.
  public typealias Authenticate = @Sendable (URLRequest, RetryAttempt) async throws -> URLRequest
  /// Renews the credentials that a 401 has refused; returns true if the request should be sent again with new ones.
  public typealias Refresh = @Sendable (HTTPURLResponse) async throws -> Bool
  /// The meaning of an error for a retry, at a time of day.
  public typealias Outcome = @Sendable (HTTPCallError, Timestamp) -> AttemptOutcome

  /// Policy, breaker, budget, clock, events, log and name. An empty name stands for the request's method and URL
  /// without its secrets. Its `outcome` is not used: ``outcome`` is. The policy's `attemptTimeout` limits the time to the
  /// head of the answer, and then each silence within the content; a transfer that flows is limited only by the deadline.
  public var retrier: Retrier
  /// The meaning of an error. The default is ``HTTPCallError/outcome(of:at:)``.
  public var outcome: Outcome = HTTPCallError.outcome
  /// Whether a request that is not idempotent, by its method or an `Idempotency-Key` field, is retried as if it were.
  /// Otherwise it is retried only if it was certainly not executed: it was not sent, or the answer says so. Default
  /// false.
  public var retryNonIdempotent = false
  /// Whether a success may have no content. If not, 204, 304 and answers to HEAD, which never have any, still may.
  /// Default true.
  public var allowNoData = true
  /// Which statuses are successes. An answer with any other is an error; the policy decides whether it is retried, but
  /// never retries a 2xx. Default 200...299 and 304, which only a conditional request gets.
  public var successStatuses = StatusSet([200...299, 304...304])
  /// Runs before the request is sent, each time, to sign it or to add a token. If it throws, the call ends, unless the
  /// error asks for a retry through ``RetryOutcomeProviding``.
  public var authenticate: Authenticate?
  /// Runs at the first 401, once per call. If it returns true the request is sent again, within the same attempt.
  public var refresh: Refresh?
  /// Receives the events of every attempt's task.
  public var delegate: (any URLSessionTaskDelegate)?
  /// The maximum content of an error answer that a download or a stream keeps for ``HTTPCallError/endpoint(_:_:)``.
  /// Default 1 MiB.
  public var maxErrorBodyBytes = 1 << 20
  /// How many bytes of a stream may be unread; beyond it the stream ends with ``StreamOverflow``, because Foundation
  /// cannot be asked to read more slowly. Default 64 MiB.
  public var maxUnreadBytes = 64 << 20

  /// Options for a retrier, which shares its breaker, its budget and its events with them.
  public init(_ retrier: Retrier) { self.retrier = retrier }

  /// Options for a policy.
  public init(_ policy: RetryPolicy = .alley) { self.init(Retrier(policy, name: "")) }

  /// What to retry, how often, for how long and at what pace.
  public var policy: RetryPolicy {
    get { retrier.policy }
    set { retrier.policy = newValue }
  }

  /// Receives the attempts of the call, each with its error and with the decision and its reason. They can be read
  /// after any end of the call: also after a success, and after an answer that was not retried.
  ///
  /// ```swift
  /// var options = URLRetryOptions.http
  /// options.history = RetryHistory()
  /// let (data, _) = try await session.data(for: request, retrying: options)
  /// show(data, options.history?.failures.map(\.decision.rule) ?? [])
  /// ```
  public var history: RetryHistory? {
    get { retrier.history }
    set { retrier.history = newValue }
  }
}

extension URLRetryOptions {
  /// Alley's: at most 10 attempts, full jitter of 0.5 s × 2 to 30 s, its statuses.
  public static var alley: URLRetryOptions { URLRetryOptions(.alley) }

  /// For a request that an app waits for: see `RetryPolicy.http`.
  public static var http: URLRetryOptions { URLRetryOptions(.http) }

  /// Alley's, with a maximum of attempts, including the first.
  public static func maxAttempts(_ maxAttempts: Int = 10) -> URLRetryOptions {
    var options = alley
    options.policy.maxAttempts = max(1, maxAttempts)
    return options
  }

  /// Options for a policy.
  public static func policy(_ policy: RetryPolicy) -> URLRetryOptions { URLRetryOptions(policy) }
}
