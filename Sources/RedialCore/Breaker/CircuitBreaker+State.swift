/// The states of a breaker, and the values that it exchanges with its caller.
extension CircuitBreaker {
  /// The state of a breaker.
  public enum State: Sendable, Hashable {
    /// Calls pass and their results count. Leads to `open`.
    case closed
    /// No call passes before `until`. Leads to `halfOpen`. `trips` counts the openings since it last closed.
    case open(until: Timestamp, trips: Int)
    /// Probes test the target. Leads to `closed` when enough of them succeed; to `open` when too many fail, or when
    /// they have not ended by `until`.
    case halfOpen(HalfOpen)
    /// An operator has forced the breaker. Leads to `closed` by ``CircuitBreaker/reset()``, and to another forced
    /// state.
    case forced(Forced)

    /// The probing of a half-open breaker.
    public struct HalfOpen: Sendable, Hashable {
      /// When the breaker gives up on the probes.
      public var until: Timestamp
      /// Probes in flight.
      public var inFlight: Int
      /// Probes that have succeeded.
      public var successes: Int
      /// Probes that have failed within the allowed number.
      public var failures: Int
      /// Openings since the breaker last closed.
      public var trips: Int
    }
  }

  /// The states that an operator can force.
  public enum Forced: UInt8, Sendable, Hashable, CaseIterable {
    /// No call passes until the operator changes that.
    case open
    /// Every call passes; nothing counts, nothing is recorded.
    case closed
    /// As if there were no breaker: every call passes, nothing is recorded.
    case disabled
    /// Every call passes and is recorded, so that the counts can be examined; the breaker never opens.
    case metricsOnly
  }

  /// The permission for one call, to be returned with the call's result.
  public struct Permit: Sendable, Hashable {
    /// The breaker's generation when the permit was given.
    public var generation: UInt64
    /// Its number among the permits of the generation.
    var number: UInt64
    /// Whether the call is a probe of a breaker that is not closed.
    public var isProbe: Bool { place != nil || isEarly }
    /// After this time the permit is void.
    public var expiry: Timestamp
    /// The probe's place among those in flight.
    var place: ProbePlaces.Holder?
    /// Whether it is a probe that did not wait for the interval.
    package internal(set) var isEarly = false
  }

  /// The answer to a request for permission.
  public enum Admission: Sendable, Hashable {
    /// The call may go, with this permit.
    case permitted(Permit)
    /// No call may go before this time; the answer at that time is unknown.
    case rejected(until: Timestamp)
  }

  /// The result of a call that had a permit.
  public enum Result: Sendable, Hashable {
    /// The target works.
    case success
    /// The target does not work.
    case failure
    /// It says nothing about the target: cancelled, interrupted, a fault on this side.
    case ignored
  }
}
