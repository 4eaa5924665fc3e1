/// Limits how much work is in flight at once, for all that share it, from any thread.
///
/// ```swift
/// let limit = ConcurrencyLimit(10, maxWaiting: 100)
/// let user = try await limit.perform { try await fetchUser() }
/// ```
public final class ConcurrencyLimit: PipelinePart {
  private struct State {
    var inFlight = 0
    var queue = WaitQueue<Waiter>()
  }

  /// Its name in errors and events.
  public let name: String
  /// How many may be in flight, 1 or more.
  public let most: Int
  /// How many may wait for a place.
  public let maxWaiting: Int
  private let events: (any RetryObserver)?
  private let state = Guarded(State())

  /// At most `most` in flight, 1 or more; `maxWaiting` may wait for a place.
  public init(
    _ most: Int, maxWaiting: Int = 0, name: String = "concurrency limit", events: (any RetryObserver)? = nil
  ) {
    self.name = name
    self.most = max(1, most)
    self.maxWaiting = max(0, maxWaiting)
    self.events = events
  }

  /// How much is in flight.
  public var inFlight: Int { state.withLock { $0.inFlight } }

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
    defer { giveBackPlace() }
    return try await work()
  }

  private func enter() async throws {
    let waiter = Waiter()
    enum Entry { case entered, waits(UInt64), refused }
    let entry: Entry = state.withLock { state in
      if state.queue.isEmpty, state.inFlight < most {
        state.inFlight += 1
        return .entered
      }
      return state.queue.count < maxWaiting ? .waits(state.queue.append(waiter)) : .refused
    }
    let id: UInt64
    switch entry {
    case .entered: return
    case .refused:
      let error = LimitReached(name: name, retryAfter: nil)
      events?.tell(.refused(name: name, error))
      throw error
    case .waits(let ticket): id = ticket
    }
    await waiter.wait()
    let wasGiven = state.withLock { $0.queue.remove(id) == nil }
    guard Task.isCancelled else { return }
    if wasGiven { giveBackPlace() }
    throw CancellationError()
  }

  /// Gives the place to the next that waits, if there is one.
  private func giveBackPlace() {
    let next = state.withLock { state in
      let next = state.queue.takeFirst()
      if next == nil { state.inFlight -= 1 }
      return next
    }
    next?.finish()
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

extension CircuitRecovering: RetryOutcomeProviding {
  /// Nothing was sent, and it says nothing new about the target: it may be retried.
  public var retryOutcome: AttemptOutcome { .localFault }
}

extension CircuitOpen: RetryOutcomeProviding {
  /// Nothing was sent, and it says nothing new about the target: it may be retried.
  public var retryOutcome: AttemptOutcome { .localFault }
}
