/// Refuses a part of the work by itself when the target refuses much, for all that share it, from any thread:
/// ``AdaptiveThrottle``.
///
/// ```swift
/// let throttle = Throttle()
/// let pipeline = Pipeline<User>().with(Retrier(.aws)).with(throttle).with(Timeout(.seconds(5)))
/// let user = try await pipeline.run { try await fetchUser() }
/// ```
///
/// A breaker lets all pass or nothing; this lets so much pass that a target which is overloaded works at its capacity. Put it
/// inside of the retrier, so that it sees attempts, and a ``Timeout`` inside of it: one that lies outside cancels the work, which
/// then says nothing. 429 and 503, failures of the network and timeouts count as refusals, and so does an error of unknown
/// meaning (``Retrier/outcome(of:)``); any other answer shows that the target has accepted the work.
public final class Throttle: PipelinePart {
  private struct State {
    var throttle: AdaptiveThrottle
    var random: RandomSource
  }

  /// Its name in errors and events.
  public let name: String
  private let outcome: @Sendable (any Error) -> AttemptOutcome
  private let clock: any RetryClock
  private let events: (any RetryObserver)?
  private let state: Guarded<State>

  /// Creates a throttle.
  ///
  /// - Parameters:
  ///   - throttle: What it may pass, and how long it remembers.
  ///   - name: Its name in errors and events.
  ///   - outcome: What an error shows about the target.
  ///   - clock: The clock.
  ///   - events: Receives an event when work is refused.
  ///   - seed: The seed of its chance; by default another each time.
  public init(
    _ throttle: AdaptiveThrottle = AdaptiveThrottle(), name: String = "throttle",
    outcome: @escaping @Sendable (any Error) -> AttemptOutcome = Retrier.outcome,
    clock: any RetryClock = SystemRetryClock(), events: (any RetryObserver)? = nil, seed: UInt64? = nil
  ) {
    self.name = name
    self.outcome = outcome
    self.clock = clock
    self.events = events
    var system = SystemRandomNumberGenerator()
    state = Guarded(State(throttle: throttle, random: RandomSource(seed: seed ?? system.next())))
  }

  /// The probability, 0...1, with which the next work is refused.
  public var refusalProbability: Double { state.withLock { $0.throttle.refusalProbability(at: clock.now) } }

  /// Runs work, or refuses it.
  ///
  /// - Throws: ``LimitReached`` for work that is refused, which says nothing about how long; otherwise the error of the work.
  public func perform<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard state.withLock({ $0.throttle.admits(at: clock.now, using: &$0.random) }) else {
      let error = LimitReached(name: name, retryAfter: nil)
      events?.tell(.refused(name: name, error))
      throw error
    }
    do {
      let value = try await work()
      state.withLock { $0.throttle.record(wasAccepted: true, at: clock.now) }
      return value
    } catch {
      let outcome = error is CancellationError || Task.isCancelled ? .localFault : outcome(error)
      state.withLock { state in
        switch outcome {
        case .answered(429, _, _), .answered(503, _, _), .notSent, .maybeSent:
          state.throttle.record(wasAccepted: false, at: clock.now)
        case .answered: state.throttle.record(wasAccepted: true, at: clock.now)
        case .unusable, .localFault: break
        }
      }
      throw error
    }
  }
}
