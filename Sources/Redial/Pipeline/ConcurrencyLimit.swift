/// Limits how much work is in flight at once, for all that share it, from any thread.
///
/// ```swift
/// let limit = ConcurrencyLimit(10, maxWaiting: 100)
/// let user = try await limit.perform { try await fetchUser() }
/// ```
public final class ConcurrencyLimit: PipelinePart {
  private struct State {
    var limiter: ConcurrencyLimiter
    var queue = WaitQueue<Waiter>()
  }

  /// Its name in errors.
  public let name: String
  /// How many may wait for a place.
  public let maxWaiting: Int
  private let clock: any RetryClock
  private let state: Guarded<State>

  /// A constant limit: at most this many in flight, 1 or more.
  public convenience init(
    _ most: Int, maxWaiting: Int = 0, name: String = "concurrency limit", clock: any RetryClock = SystemRetryClock()
  ) {
    let most = max(1, most)
    let limiter = ConcurrencyLimiter(.fixed, initial: most, maximum: most)
    self.init(limiter, maxWaiting: maxWaiting, name: name, clock: clock)
  }

  /// A limit that may find the right number by itself.
  public init(
    _ limiter: ConcurrencyLimiter, maxWaiting: Int = 0, name: String = "concurrency limit",
    clock: any RetryClock = SystemRetryClock()
  ) {
    self.name = name
    self.maxWaiting = max(0, maxWaiting)
    self.clock = clock
    state = Guarded(State(limiter: limiter))
  }

  /// How much is in flight.
  public var inFlight: Int { state.withLock { $0.limiter.inFlight } }

  /// How many wait for a place.
  public var waiting: Int { state.withLock { $0.queue.count } }

  /// Runs work when there is a place for it; the one that has waited longest is first.
  ///
  /// - Throws: ``LimitReached`` if there is neither a place nor room to wait; `CancellationError` if the task is
  ///   cancelled while it waits; otherwise the error of the work.
  public func perform<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await enter()
    let began = clock.now
    do {
      let value = try await work()
      leave(.success(took: max(.zero, clock.now - began)))
      return value
    } catch {
      leave(Task.isCancelled ? .ignored : Self.meaning(of: error))
      throw error
    }
  }

  private func enter() async throws {
    let waiter = Waiter()
    let id: UInt64? = try state.withLock { state in
      if state.queue.isEmpty, state.limiter.acquire() { return nil }
      guard state.queue.count < maxWaiting else { throw LimitReached(name: name, retryAfter: nil) }
      return state.queue.append(waiter)
    }
    guard let id else { return }
    await waiter.wait()
    let wasGiven = state.withLock { $0.queue.remove(id) == nil }
    guard Task.isCancelled else { return }
    if wasGiven { leave(.ignored) }
    throw CancellationError()
  }

  private func leave(_ outcome: ConcurrencyLimiter.Outcome) {
    let woken = state.withLock { state in
      state.limiter.release(outcome)
      var woken: [Waiter] = []
      while !state.queue.isEmpty, state.limiter.acquire() {
        if let next = state.queue.takeFirst() { woken.append(next) }
      }
      return woken
    }
    for waiter in woken { waiter.finish() }
  }

  /// What an error shows about the target's capacity.
  private static func meaning(of error: any Error) -> ConcurrencyLimiter.Outcome {
    if error is AttemptTimeout { return .dropped }
    guard case .answered(let status, _, _) = Retrier.outcome(of: error) else { return .ignored }
    return status == 429 || status == 503 ? .dropped : .ignored
  }
}

/// A limit on this side does not allow the work now.
public struct LimitReached: RetryOutcomeProviding, Hashable, CustomStringConvertible {
  /// The limit's name.
  public var name: String
  /// The time until it may allow work; nil if unknown.
  public var retryAfter: Duration?
  /// Nothing was sent, and the target is not at fault: it may be retried.
  public var retryOutcome: AttemptOutcome { .localFault }
  /// For people.
  public var description: String {
    "the \(name) is reached" + (retryAfter.map { "; try again in \($0.forPeople)" } ?? "")
  }

  /// Creates the error.
  public init(name: String, retryAfter: Duration?) {
    self.name = name
    self.retryAfter = retryAfter
  }
}

extension CircuitOpen: RetryOutcomeProviding {
  /// Nothing was sent, and it says nothing new about the target: it may be retried.
  public var retryOutcome: AttemptOutcome { .localFault }
}
