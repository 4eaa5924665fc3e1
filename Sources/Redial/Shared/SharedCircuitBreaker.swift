/// A circuit breaker that any number of runs share, from any thread.
///
/// ```swift
/// let breaker = SharedCircuitBreaker(.fe9lix, name: "billing")
/// breaker.onChange { from, to in print("billing: \(from.word) → \(to.word)") }
/// let invoice = try await breaker.run { try await fetchInvoice() }
/// ```
///
/// When it closes, the calls that have waited for it return gradually: ``BreakerRecovery``.
public final class SharedCircuitBreaker: Sendable {
  /// A change: the state before and after.
  public typealias ChangeHandler = @Sendable (CircuitBreaker.State, CircuitBreaker.State) -> Void

  private struct State {
    var breaker: CircuitBreaker
    var gate: RecoveryGate
    var handler: ChangeHandler?
    /// Counts changes that may let a rejected call through.
    var changes: UInt64 = 0
    var waiting: [ObjectIdentifier: Waiter] = [:]
    var lastError: (any Error)?
  }

  /// Its name in events.
  public let name: String
  private let clock: any RetryClock
  private let events: (any RetryObserver)?
  private let state: Guarded<State>

  /// A closed breaker.
  ///
  /// - Parameters:
  ///   - settings: When it trips and how it recovers.
  ///   - name: Its name in events.
  ///   - recovery: How the calls return when it has closed.
  ///   - clock: The clock.
  ///   - events: Receives the changes.
  public init(
    _ settings: CircuitBreakerSettings = CircuitBreakerSettings(), name: String = "breaker",
    recovery: BreakerRecovery = BreakerRecovery(), clock: any RetryClock = SystemRetryClock(),
    events: (any RetryObserver)? = nil
  ) {
    self.name = name
    self.clock = clock
    self.events = events
    var system = SystemRandomNumberGenerator()
    let breaker = CircuitBreaker(settings: settings, seed: system.next())
    state = Guarded(State(breaker: breaker, gate: RecoveryGate(recovery)))
  }

  /// Sets a handler for changes of state, in place of the one before. It is called on the thread that made the change,
  /// without a lock, so it may use the breaker.
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

  /// The breaker as a value.
  public var snapshot: CircuitBreaker { state.withLock { $0.breaker } }

  /// How many calls of ``run(outcome:_:)`` and of retriers are in flight under the breaker.
  public var inFlight: Int { state.withLock { $0.gate.inFlight } }

  /// The error of the latest failed call; nil after a success. An attempt's timeout counts only if no other error is
  /// known.
  public var lastError: (any Error)? { state.withLock { $0.lastError } }

  // MARK: Calls

  /// Runs work under the breaker, once.
  ///
  /// - Parameters:
  ///   - outcome: What an error shows about the target.
  ///   - work: The call.
  /// - Throws: ``CircuitOpen`` if the breaker lets nothing through; ``CircuitRecovering`` if it has closed and lets no more
  ///   through for now, which only a ``BreakerRecovery/limitsAll`` does; otherwise the error of the work.
  public func run<Value: Sendable>(
    outcome: (any Error) -> AttemptOutcome = Retrier.outcome,
    _ work: @Sendable () async throws -> Value
  ) async throws -> Value {
    switch admit(mayWait: false) {
    case .rejected(let open, _): throw open
    case .full(let step, _): throw CircuitRecovering(name: name, retryAfter: step)
    case .permitted(let permit):
      let began = now
      do {
        let value = try await work()
        finish(.success, of: permit, took: now - began)
        return value
      } catch {
        let (kind, status) = outcome(error).end
        let result =
          error is CancellationError || Task.isCancelled
          ? .ignored : AttemptEnd.breakerResult(of: kind, status: status)
        finish(result, of: permit, took: now - began, error)
        throw error
      }
    }
  }

  /// Asks for the permission for a call. Return it with ``record(_:of:took:)``. Such a call does not count among those
  /// that are limited after the breaker has closed.
  public func acquire() -> CircuitBreaker.Admission {
    change { state, now in state.breaker.acquire(at: now) }
  }

  /// Returns a permit with the result of the call; nil, and an expired one, change nothing.
  public func record(_ result: CircuitBreaker.Result, of permit: CircuitBreaker.Permit?, took: Duration = .zero) {
    guard let permit else { return }
    change { state, now in state.breaker.record(result, of: permit, took: took, at: now) }
  }

  // MARK: Operators

  /// Closes the breaker and resets its counts.
  public func reset() { change { state, _ in state.breaker.reset() } }

  /// Opens the breaker as if a threshold had been reached.
  public func trip() { change { state, now in state.breaker.trip(at: now) } }

  /// Forces the breaker into a state, until ``reset()``.
  public func force(_ forced: CircuitBreaker.Forced) { change { state, _ in state.breaker.force(forced) } }

  // MARK: Calls that are counted

  /// The answer to a call that asks for permission.
  enum Entry {
    /// It has a permit and a place; return both with ``finish(_:of:took:_:)``.
    case permitted(CircuitBreaker.Permit)
    /// The breaker lets nothing through until then.
    case rejected(CircuitOpen, until: Timestamp)
    /// The breaker closed recently, and the maximum number of calls is in flight for now. One more may go after about
    /// this step. The ticket is a place in the queue, if one was requested.
    case full(step: Duration, Ticket?)
  }

  /// A place in the queue of waiting calls.
  struct Ticket: Sendable {
    fileprivate let id: UInt64
    let waiter: Waiter
  }

  /// Asks for a permit and a place among those in flight.
  ///
  /// - Parameters:
  ///   - hasPlace: Whether the call has a place, from the queue.
  ///   - mayWait: Whether to queue if there is none.
  func admit(hasPlace: Bool = false, mayWait: Bool) -> Entry {
    change { state, now in
      guard hasPlace || state.gate.take(at: now, orElse: !mayWait) else {
        guard mayWait else { return .full(step: state.gate.step, nil) }
        let waiter = Waiter()
        return .full(step: state.gate.step, Ticket(id: state.gate.wait(waiter), waiter: waiter))
      }
      switch state.breaker.acquire(at: now) {
      case .permitted(let permit): return .permitted(permit)
      case .rejected(let until):
        state.gate.giveBackPlace()
        return .rejected(open(state.breaker, until: until, at: now), until: until)
      }
    }
  }

  /// Ends a wait in the queue; true if the call has a place.
  func redeem(_ ticket: Ticket) -> Bool { state.withLock { !$0.gate.removeFromQueue(ticket.id) } }

  /// Gives a place back that was not used.
  func giveBackPlace() { change { state, _ in state.gate.giveBackPlace() } }

  /// Gives a permit and a place back.
  func finish(
    _ result: CircuitBreaker.Result, of permit: CircuitBreaker.Permit, took: Duration, _ error: (any Error)? = nil
  ) {
    change { state, now in
      state.gate.giveBackPlace()
      state.breaker.record(result, of: permit, took: took, at: now)
      guard result == .failure, let error else { return }
      if state.lastError == nil || !(error is AttemptTimeout) { state.lastError = error }
    }
  }

  // MARK: Changes

  /// The breaker's clock.
  package var retryClock: any RetryClock { clock }

  var now: Timestamp { clock.now }

  /// How many changes there were that may let a call through.
  var changes: UInt64 { state.withLock { $0.changes } }

  /// That the breaker lets nothing through; nil when it lets a call through now.
  var rejection: CircuitOpen? {
    let (breaker, now) = (snapshot, now)
    guard !breaker.admits(at: now) else { return nil }
    let until: Timestamp =
      switch breaker.state {
      case .open(let until, _): until
      case .halfOpen(let probing): probing.until
      case .closed, .forced: .distantFuture
      }
    return open(breaker, until: until, at: now)
  }

  private func open(_ breaker: CircuitBreaker, until: Timestamp, at now: Timestamp) -> CircuitOpen {
    var open = CircuitOpen(name: name, retryAfter: max(.zero, until - now))
    if case .halfOpen = breaker.state { open.isHalfOpen = true }
    return open
  }

  /// Whether something other than time may let a call through: the end of a probe.
  var mayChangeEarly: Bool {
    state.withLock { if case .halfOpen = $0.breaker.state { true } else { false } }
  }

  /// Returns when there was a change after that number, or if the task is cancelled.
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
  private func change<Answer>(_ body: (inout State, Timestamp) -> Answer) -> Answer {
    let now = clock.now
    let (answer, before, after, handler, woken) = state.withLock { state in
      let before = state.breaker.state
      let answer = body(&state, now)
      let after = state.breaker.state
      // An error from before the latest success explains nothing any more.
      if after == .closed, state.breaker.consecutiveFailures == 0 { state.lastError = nil }
      var woken: [Waiter] = []
      if before != after {
        state.changes += 1
        woken = Array(state.waiting.values)
        state.waiting = [:]
      }
      if before.isClosed != after.isClosed {
        if after.isClosed { state.gate.begin(at: now) } else { woken += state.gate.end() }
      }
      woken += state.gate.admitted(at: now)
      return (answer, before, after, state.handler, woken)
    }
    for waiter in woken { waiter.finish() }
    if before.word != after.word {
      events?.tell(.breakerChanged(name: name, from: before, to: after))
      handler?(before, after)
    }
    return answer
  }
}

extension CircuitBreaker.State {
  /// Whether calls pass without a limit.
  fileprivate var isClosed: Bool {
    switch self {
    case .closed, .forced(.closed), .forced(.disabled), .forced(.metricsOnly): true
    case .open, .halfOpen, .forced(.open): false
    }
  }
}

/// The breaker lets nothing through.
public struct CircuitOpen: Error, Hashable, CustomStringConvertible {
  /// The breaker's name.
  public var name: String
  /// The time until it may let a call through. While it is half-open this is at the latest: the end of a probe comes first.
  public var retryAfter: Duration
  /// Whether it is half-open, and its probes are in flight.
  public var isHalfOpen = false

  /// Creates the error.
  public init(name: String, retryAfter: Duration, isHalfOpen: Bool = false) {
    self.name = name
    self.retryAfter = retryAfter
    self.isHalfOpen = isHalfOpen
  }

  /// For people.
  public var description: String {
    isHalfOpen
      ? "the circuit breaker \(name) is half-open, and its probes are in flight"
      : "the circuit breaker \(name) is open, for another \(retryAfter.forPeople)"
  }
}

/// The breaker has closed and lets calls back in gradually; no more go for now. Only with ``BreakerRecovery/limitsAll``.
public struct CircuitRecovering: Error, Hashable, CustomStringConvertible {
  /// The breaker's name.
  public var name: String
  /// About how long until one more call may go.
  public var retryAfter: Duration

  /// Creates the error.
  public init(name: String, retryAfter: Duration) {
    self.name = name
    self.retryAfter = retryAfter
  }

  /// For people.
  public var description: String {
    "the circuit breaker \(name) has closed and lets calls back in bit by bit; the next in about \(retryAfter.forPeople)"
  }
}
