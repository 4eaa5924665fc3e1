public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// A client of a running Redial service: submits calls, and waits for their results.
///
/// ```swift
/// let client = RedialClient(serviceURL)                      // such as http://127.0.0.1:8080
/// var charge = OutgoingCall(chargesURL, method: "POST", body: .json(["amount": 100]))
/// charge.policy = CallPolicy(deadline: .seconds(3 * 86_400))
/// let submitted = try await client.submit(charge)            // on the service's disk from here on
/// let call = try await client.result(of: submitted.id)       // succeeded, failed or cancelled
/// ```
///
/// The client's own requests are retried too, by ``policy``, as far as that is safe. Queries are always retried, and so
/// is a submission or a replay, because its key lets the service recognize a repetition (``idempotentSubmit``), and what
/// replaces a whole, such as an alert. Other changes, such as ``cancel(_:)`` and ``retry(_:by:reason:)``, are retried only if the service certainly has
/// not accepted them: the request was never sent, or the answer was a 429, 503 or 507 whose code does not say that the
/// result is unknown.
///
/// A value; copies share the session and nothing else.
///
/// Every operation throws ``RedialProblem`` if the service refuses, ``RedialTransportError`` if no answer came,
/// ``UnexpectedAnswer`` if the answer is not from a Redial service, and `CancellationError` if its task is cancelled.
public struct RedialClient: Sendable {
  /// The service's URL, which may have a path before the service's own paths.
  public var baseURL: URL
  /// Sent as `Authorization: Bearer …`, without surrounding white space; nil for a service without keys.
  public var apiKey: String?
  /// The namespace to act in, as only the `adminKey` may; nil for the key's own, or `default`.
  public var namespace: String?
  /// The session for reads. Each change is sent on a new session with the same configuration, so that no reused
  /// connection can make two requests of one. No redirect is followed, so that the key is sent nowhere else.
  public var session: URLSession
  /// How often, how long and at what pace the client's own requests are retried. Its `RetryPolicy.retryOn` is not
  /// used: the request decides what is safe.
  public var policy: RetryPolicy
  /// How long ``result(of:within:)`` waits between two polls of a call that the service did not hold back, and
  /// ``events(_:)`` before it reconnects; never less than ``shortestPoll``.
  public var polling: Backoff
  /// The clock.
  public var clock: any RetryClock = SystemRetryClock()
  /// The source of jitter seeds; a constant makes runs repeatable.
  public var seed: @Sendable () -> UInt64 = Retrier().seed
  /// Receives log lines; nil for none. They contain paths and errors, but neither keys nor bodies.
  public var log: (@Sendable (String) -> Void)?
  /// Whether a submission has an `Idempotency-Key`, the same for all its retries, by which the service recognizes a
  /// repetition; it is then retried after any failure.
  ///
  /// The service remembers keys for a day by default. With false, a submission whose answer was lost is not repeated,
  /// because it could become two calls, and ends with a ``RedialTransportError`` with
  /// ``RedialTransportError/mayHaveBeenAccepted``.
  public var idempotentSubmit = true

  /// How long the service holds an answer back until a call has ended; zero to poll instead. Never longer than two
  /// thirds of an attempt's timeout in ``policy``.
  public var longestWait = Duration.seconds(20)

  /// The minimum time between two polls.
  public static let shortestPoll = Duration.milliseconds(50)

  /// The pace of the client's own requests: up to 10 attempts within a minute, 30 s each.
  public static let defaultPolicy = RetryPolicy(maxAttempts: 10, deadline: .seconds(60))

  /// The pace of polling: after 100 ms at first, every 10 s in the end.
  public static let defaultPolling = Backoff(
    initial: .milliseconds(100), multiplier: 1.5, maximum: .seconds(10), jitter: .proportional(factor: 0.2))

  /// Creates a client; omitted arguments have their defaults, and no request is sent.
  public init(
    _ baseURL: URL, apiKey: String? = nil, namespace: String? = nil,
    session: URLSession = URLSession(configuration: .ephemeral), policy: RetryPolicy = defaultPolicy,
    polling: Backoff = defaultPolling
  ) {
    self.baseURL = baseURL
    self.apiKey = apiKey
    self.namespace = namespace
    self.session = session
    self.policy = policy
    self.polling = polling
  }
}

extension RedialClient: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The service's URL, without secrets.
  public var description: String { "RedialClient(\(baseURL.logText))" }
  /// The same.
  public var debugDescription: String { description }
  /// Without the key.
  public var customMirror: Mirror { Mirror(self, children: ["baseURL": baseURL.logText]) }
}
