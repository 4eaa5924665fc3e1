/// How the service retries a call: the named parts, and the service's default for all others.
///
/// It means the same as the same words in the JSON of a descriptor. An omitted part keeps the service's default,
/// whatever the others are:
///
/// ```swift
/// func patiently(_ call: OutgoingCall) -> [OutgoingCall] {
///   var (longer, stored, svix) = (call, call, call)
///   longer.policy = CallPolicy(deadline: .seconds(3 * 86_400))  // all else as the service has it
///   stored.policy = .stored("patient")                          // a policy that the service keeps under a name
///   svix.policy = CallPolicy(.svix)                             // every part of a preset
///   return [longer, stored, svix]
/// }
/// ```
public struct CallPolicy: Sendable, Hashable {
  /// The maximum number of attempts, including the first, 1...1000; nil for no limit except the deadline.
  public var maxAttempts: Int?
  /// The maximum time from the call's start to its end, up to 366 days; default 24 hours.
  public var deadline: Duration?
  /// The maximum time of one attempt, up to an hour; default 30 seconds.
  public var attemptTimeout: Duration?
  /// What happens to a last attempt that could not finish before the deadline; default `DeadlineRule.LastAttempt.endEarly`.
  public var lastAttempt: DeadlineRule.LastAttempt?
  /// The minimum time before the deadline for an attempt, up to an hour; default none.
  public var minAttemptTime: Duration?
  /// How long to wait between attempts, as a whole; default 500 ms × 2 up to 10 minutes, ±50 %.
  public var backoff: Backoff?
  /// Which network failures are retried; default all, or with ``OutgoingCall/isIdempotent`` false those that prove that
  /// the request was not sent.
  public var network: NetworkRetry?
  /// Which statuses are retried; default `RetryConditions.idempotent`, or `RetryConditions.nonIdempotent` with
  /// ``OutgoingCall/isIdempotent`` false.
  public var statuses: StatusSet?
  /// Which statuses are retried only if the response has `Retry-After`.
  public var statusesWithRetryAfter: StatusSet?
  /// Which statuses end the call at once; default 410.
  public var stopOn: StatusSet?
  /// How `Retry-After` is followed; default respected up to an hour, for 413, 429, 503 and ``statusesWithRetryAfter``.
  public var retryAfter: RetryAfterRule?
  /// What happens to the call while its target's breaker is open; by default it waits.
  public var onTrip: TripBehavior?

  /// The name of a stored policy; all other parts are nil then.
  private(set) var storedName: String?
  /// The policy from which all parts were taken, including parts that the service does not support.
  private(set) var whole: RetryPolicy?

  /// Creates a policy from the named parts.
  public init(
    maxAttempts: Int? = nil, deadline: Duration? = nil, attemptTimeout: Duration? = nil,
    lastAttempt: DeadlineRule.LastAttempt? = nil, minAttemptTime: Duration? = nil, backoff: Backoff? = nil,
    network: NetworkRetry? = nil, statuses: StatusSet? = nil, statusesWithRetryAfter: StatusSet? = nil,
    stopOn: StatusSet? = nil, retryAfter: RetryAfterRule? = nil, onTrip: TripBehavior? = nil
  ) {
    self.maxAttempts = maxAttempts
    self.deadline = deadline
    self.attemptTimeout = attemptTimeout
    self.lastAttempt = lastAttempt
    self.minAttemptTime = minAttemptTime
    self.backoff = backoff
    self.network = network
    self.statuses = statuses
    self.statusesWithRetryAfter = statusesWithRetryAfter
    self.stopOn = stopOn
    self.retryAfter = retryAfter
    self.onTrip = onTrip
  }

  /// Creates a policy that names every part of another, so that no default of the service is used, but for an `onTrip` that is
  /// nil: then the call waits.
  ///
  /// Its retry conditions are followed even if ``OutgoingCall/isIdempotent`` is false.
  /// ``RedialClient/submit(_:idempotencyKey:)`` refuses parts that the service does not support with
  /// `UnsupportedByService`.
  public init(_ policy: RetryPolicy) {
    self.init(
      maxAttempts: policy.maxAttempts == RetryPolicy.unlimited ? nil : policy.maxAttempts, deadline: policy.deadline,
      attemptTimeout: policy.attemptTimeout, lastAttempt: policy.deadlineRule.lastAttempt,
      minAttemptTime: policy.deadlineRule.minimumAttemptTime, backoff: policy.backoff,
      network: policy.retryOn.network, statuses: policy.retryOn.statuses,
      statusesWithRetryAfter: policy.retryOn.statusesWithRetryAfter, stopOn: policy.stopOn,
      retryAfter: policy.retryAfter, onTrip: policy.onTrip)
    whole = policy
  }

  /// A policy that is stored in the service under a name: `patient`, or `patient@3` for one of its versions.
  public static func stored(_ name: String) -> CallPolicy {
    var policy = CallPolicy()
    policy.storedName = name
    return policy
  }
}
