/// What a breaker can be doing, and what it exchanges with who asks it.
extension CircuitBreaker {
  /// What the breaker is doing.
  public enum State: Sendable, Hashable {
    /// Calls pass and are judged. Leads to `open`.
    case closed
    /// No call passes before `until`. Leads to `halfOpen`. `trips` counts the openings since it last closed.
    case open(until: Timestamp, trips: Int)
    /// Probes find out. Leads to `closed` when enough of them succeed; to `open` when more
    /// fail than may, or when they are not done by `until`.
    case halfOpen(HalfOpen)
    /// Somebody holds the breaker. Leads to `closed` by ``CircuitBreaker/reset()``, and to another of its kind.
    case forced(Forced)

    /// The probing of a half-open breaker.
    public struct HalfOpen: Sendable, Hashable {
      /// When the probes are given up.
      public var until: Timestamp
      /// Probes in flight.
      public var inFlight: Int
      /// Probes that have succeeded.
      public var successes: Int
      /// Probes that have failed and were allowed to.
      public var failures: Int
      /// Openings since the breaker last closed.
      public var trips: Int
    }
  }

  /// What an operator can make a breaker do.
  public enum Forced: UInt8, Sendable, Hashable, CaseIterable {
    /// No call passes, for as long as it takes.
    case open
    /// Every call passes; nothing is judged, nothing recorded.
    case closed
    /// As if there were no breaker: every call passes, nothing is recorded.
    case disabled
    /// Every call passes and is recorded, so that the counts can be looked at; the breaker never opens.
    case metricsOnly
  }

  /// The right to make one call, to be returned with the call's result.
  public struct Permit: Sendable, Hashable {
    /// The breaker's generation when the permit was given.
    public var generation: UInt64
    /// Whether the call is a probe of a half-open breaker.
    public var isProbe: Bool { place != nil }
    /// After this time the permit is void.
    public var expiry: Timestamp
    /// A probe's place among those in flight.
    var place: ProbePlaces.Holder?
  }

  /// The answer to a request for permission.
  public enum Admission: Sendable, Hashable {
    /// The call may go, with this permit.
    case permitted(Permit)
    /// No call may go before this time; what the answer will be then is open.
    case rejected(until: Timestamp)
  }

  /// The result of a call that had a permit.
  public enum Result: Sendable, Hashable {
    /// The target works.
    case success
    /// The target does not.
    case failure
    /// It says nothing about the target: cancelled, interrupted, this side's own fault.
    case ignored
  }
}
