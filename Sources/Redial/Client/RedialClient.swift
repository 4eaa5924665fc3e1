public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Talks to a running Redial service: submits calls, and waits for their results.
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
/// is a submission, because its key lets the service recognize a repetition (``idempotentSubmit``). Other changes
/// (``cancel(_:)``, ``retry(_:)``) are retried only if the service certainly has not accepted them: the request was never
/// sent, or the answer was 429, 503 or 507, which accept nothing.
///
/// A value; copies share the session and nothing else.
///
/// Every operation throws ``RedialProblem`` if the service refuses, ``RedialTransportError`` if no answer came,
/// ``UnexpectedAnswer`` if the answer is not from a Redial service, and `CancellationError` if its task is cancelled.
public struct RedialClient: Sendable {
  /// Where the service is, perhaps with a path before its own paths.
  public var baseURL: URL
  /// Sent as `Authorization: Bearer …`, without the white space around it; nil for a service without keys.
  public var apiKey: String?
  /// What questions are asked on. What changes something is sent on a new session of the same configuration each time,
  /// so that no connection that was used before can make two requests of one. No redirect is followed, so that the key
  /// goes nowhere else.
  public var session: URLSession
  /// How often, how long and at what pace the client's own requests are retried. Its ``RetryPolicy/retryOn`` counts for
  /// nothing: what is safe depends on the request.
  public var policy: RetryPolicy
  /// How long ``result(of:within:)`` waits between two looks at a call that the service did not hold back, and
  /// ``events(_:)`` before it connects again; never less than ``shortestPoll``.
  public var polling: Backoff
  /// The time.
  public var clock: any RetryClock = SystemRetryClock()
  /// Where the seeds of jitter come from; a constant makes runs repeatable.
  public var seed: @Sendable () -> UInt64 = Retrier().seed
  /// Where log lines go; nowhere by default. They hold paths and errors, and neither keys nor bodies.
  public var log: (@Sendable (String) -> Void)?
  /// Whether a submit carries an `Idempotency-Key`, the same for all its retries, by which the service tells a
  /// repetition from another call; it is then retried whatever failed.
  ///
  /// The service remembers keys for a day, unless it was set otherwise. With false, a submit whose answer was lost is not
  /// repeated, since it would become two calls, and ends in a ``RedialTransportError`` with
  /// ``RedialTransportError/mayHaveBeenAccepted``.
  public var idempotentSubmit = true

  /// How long the service is asked to hold an answer back until a call has ended; zero to ask again and again instead.
  /// Never longer than two thirds of what an attempt of ``policy`` may take.
  public var longestWait = Duration.seconds(20)

  /// The shortest time between two looks at a call.
  public static let shortestPoll = Duration.milliseconds(50)

  /// The pace of the client's own requests: up to 10 attempts within a minute, 30 s each.
  public static let defaultPolicy = RetryPolicy(maxAttempts: 10, deadline: .seconds(60))

  /// The pace of looking at a call: after 100 ms at first, every 10 s in the end.
  public static let defaultPolling = Backoff(
    initial: .milliseconds(100), multiplier: 1.5, maximum: .seconds(10), jitter: .proportional(factor: 0.2))

  /// Creates a client; every argument left out has its default, and no request is made.
  public init(
    _ baseURL: URL, apiKey: String? = nil, session: URLSession = URLSession(configuration: .ephemeral),
    policy: RetryPolicy = defaultPolicy, polling: Backoff = defaultPolling
  ) {
    self.baseURL = baseURL
    self.apiKey = apiKey
    self.session = session
    self.policy = policy
    self.polling = polling
  }
}

extension RedialClient: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Where the service is; nothing secret.
  public var description: String { "RedialClient(\(baseURL.absoluteString))" }
  /// The same.
  public var debugDescription: String { description }
  /// Without the key.
  public var customMirror: Mirror { Mirror(self, children: ["baseURL": baseURL]) }
}
