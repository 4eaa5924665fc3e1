internal import Synchronization

/// A circuit breaker that any number of runs share, from any thread.
///
/// ```swift
/// let breaker = SharedCircuitBreaker(.fe9lix, name: "billing")
/// breaker.onChange { from, to in print("billing: \(from.word) → \(to.word)") }
/// let invoice = try await breaker.run { try await fetchInvoice() }
/// ```
public final class SharedCircuitBreaker: Sendable {
  /// What is told of a change: the state before and after.
  public typealias ChangeHandler = @Sendable (CircuitBreaker.State, CircuitBreaker.State) -> Void

  private struct State {
    var breaker: CircuitBreaker
    var handler: ChangeHandler?
    /// Counts what may let a call through that was rejected before.
    var changes: UInt64 = 0
    var waiting: [ObjectIdentifier: Waiter] = [:]
    var lastError: (any Error)?
  }

  /// What it is called in events.
  public let name: String
  private let clock: any RetryClock
  private let events: RetryEvents?
  private let state: Mutex<State>

  /// A closed breaker.
  public init(
    _ settings: CircuitBreakerSettings = CircuitBreakerSettings(), name: String = "breaker",
    clock: any RetryClock = SystemRetryClock(), events: RetryEvents? = nil
  ) {
    self.name = name
    self.clock = clock
    self.events = events
    var system = SystemRandomNumberGenerator()
    state = Mutex(State(breaker: CircuitBreaker(settings: settings, seed: system.next())))
  }

  /// Has changes of state told; a handler takes the place of the one before. It is called on the thread that made the
  /// change, without a lock, so it may use the breaker.
  public func onChange(_ handler: ChangeHandler?) {
    state.withLock { $0.handler = handler }
  }

  /// The state now.
  public var current: CircuitBreaker.State {
    var breaker = snapshot
    breaker.advance(to: now)
    return breaker.state
  }

  /// Failures in a row.
  public var failureCount: Int { state.withLock { $0.breaker.consecutiveFailures } }

  /// The breaker as a value, for a look at it.
  public var snapshot: CircuitBreaker { state.withLock { $0.breaker } }

  // MARK: Calls

  /// Runs work under the breaker, once.
  ///
  /// - Parameters:
  ///   - outcome: What an error says about the target.
  ///   - work: The call.
  /// - Throws: ``CircuitOpen`` when the breaker lets nothing through; else what the work throws.
  public func run<Value: Sendable>(
    outcome: (any Error) -> AttemptOutcome = Retrier.outcome,
    _ work: @Sendable () async throws -> Value
  ) async throws -> Value {
    switch acquire() {
    case .rejected(let until): throw CircuitOpen(name: name, retryAfter: max(.zero, until - now))
    case .permitted(let permit):
      let began = now
      do {
        let value = try await work()
        record(.success, of: permit, took: now - began)
        return value
      } catch {
        let (kind, status) = outcome(error).end
        let result =
          error is CancellationError || Task.isCancelled
          ? .ignored : AttemptEnd.breakerResult(of: kind, status: status)
        record(result, of: permit, took: now - began)
        throw error
      }
    }
  }

  /// Asks for the right to make a call. It has to be given back by ``record(_:of:took:)``.
  public func acquire() -> CircuitBreaker.Admission {
    change { breaker, now in breaker.acquire(at: now) }
  }

  /// Gives a permit back with what became of the call; nil, and one that is out of date, change nothing.
  public func record(_ result: CircuitBreaker.Result, of permit: CircuitBreaker.Permit?, took: Duration = .zero) {
    guard let permit else { return }
    change { breaker, now in breaker.record(result, of: permit, took: took, at: now) }
  }

  // MARK: Operators

  /// Closes the breaker and forgets what it knew.
  public func reset() { change { breaker, _ in breaker.reset() } }

  /// Opens the breaker as if a threshold had been reached.
  public func trip() { change { breaker, now in breaker.trip(at: now) } }

  /// Holds the breaker in a state, until ``reset()``.
  public func force(_ forced: CircuitBreaker.Forced) { change { breaker, _ in breaker.force(forced) } }

  // MARK: Changes

  var retryClock: any RetryClock { clock }

  /// What the latest call that failed under ``execute(_:call:didTrip:)`` has reported.
  public var lastError: (any Error)? { state.withLock { $0.lastError } }

  func note(_ error: any Error) { state.withLock { $0.lastError = error } }

  var now: Timestamp { clock.now }

  /// How many changes there were that may let a call through.
  var changes: UInt64 { state.withLock { $0.changes } }

  /// Until when the breaker lets nothing through; nil when it lets a call through now.
  var rejection: Timestamp? {
    let breaker = snapshot
    guard !breaker.admits(at: now) else { return nil }
    return switch breaker.state {
    case .open(let until, _): until
    case .halfOpen(let probing): probing.until
    case .closed, .forced: .distantFuture
    }
  }

  /// Whether something but time may let a call through: the end of a probe.
  var mayChangeEarly: Bool {
    state.withLock { if case .halfOpen = $0.breaker.state { true } else { false } }
  }

  /// Returns when there was a change after so many, or when the task is cancelled.
  func change(after seen: UInt64) async {
    let waiter = Waiter()
    let isOver = state.withLock { state in
      if state.changes == seen { state.waiting[ObjectIdentifier(waiter)] = waiter }
      return state.changes != seen
    }
    if isOver { return }
    await waiter.wait()
    state.withLock { _ = $0.waiting.removeValue(forKey: ObjectIdentifier(waiter)) }
  }

  @discardableResult
  private func change<Answer>(_ body: (inout CircuitBreaker, Timestamp) -> Answer) -> Answer {
    let now = clock.now
    let (answer, before, after, handler, waiting) = state.withLock { state in
      let before = state.breaker.state
      let answer = body(&state.breaker, now)
      let after = state.breaker.state
      var waiting: [Waiter] = []
      if before != after {
        state.changes += 1
        waiting = Array(state.waiting.values)
        state.waiting = [:]
      }
      return (answer, before, after, state.handler, waiting)
    }
    for waiter in waiting { waiter.finish() }
    if before.word != after.word {
      events?.tell(.breakerChanged(name: name, from: before, to: after))
      handler?(before, after)
    }
    return answer
  }
}

/// The breaker lets nothing through.
public struct CircuitOpen: Error, Hashable, CustomStringConvertible {
  /// The breaker's name.
  public var name: String
  /// The time until it may let a call through.
  public var retryAfter: Duration
  /// Creates the error.
  public init(name: String, retryAfter: Duration) {
    self.name = name
    self.retryAfter = retryAfter
  }

  /// For people.
  public var description: String { "the circuit breaker \(name) is open, for another \(retryAfter.forPeople)" }
}
