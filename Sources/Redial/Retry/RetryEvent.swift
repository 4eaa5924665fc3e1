/// An event during retries.
public enum RetryEvent: Sendable {
  /// An attempt begins.
  case attemptStarted(name: String, number: Int)
  /// An attempt has succeeded.
  case succeeded(name: String, attempts: Int, elapsed: Duration)
  /// An attempt has failed; the decision says what is done next.
  case attemptFailed(name: String, number: Int, error: any Error, decision: RetryDecision)
  /// The next attempt waits.
  case waiting(name: String, reason: WaitReason, duration: Duration)
  /// There is no further attempt.
  case gaveUp(name: String, RetryError)
  /// It was cancelled.
  case cancelled(name: String, attempts: Int)
  /// A hedge has begun a further run of the work, the second or a later one.
  case hedged(name: String, run: Int)
  /// A timeout has cancelled work.
  case timedOut(name: String, after: Duration)
  /// A limit has refused work.
  case refused(name: String, LimitReached)
  /// A fallback has replaced an error by a value.
  case fellBack(name: String, error: any Error)
  /// A breaker has changed its state.
  case breakerChanged(name: String, from: CircuitBreaker.State, to: CircuitBreaker.State)

  /// Why the next attempt waits.
  public enum WaitReason: Sendable, Hashable {
    /// It is the first, and the policy begins with a wait.
    case initialDelay
    /// The backoff.
    case backoff
    /// The target has requested a wait.
    case retryAfter
    /// The breaker is open.
    case breaker
    /// The rate limit allows it later.
    case rateLimit
  }
}

/// Receives events: a log, metrics, or ``RetryEvents``, from which any number of listeners receive them.
///
/// ```swift
/// struct Printer: RetryObserver {
///   func tell(_ event: RetryEvent) { print(event.line) }
/// }
/// ```
public protocol RetryObserver: Sendable {
  /// Receives an event. It is called where the event happens, on any thread, and should return soon.
  func tell(_ event: RetryEvent)
}

/// Several observers as one.
public struct RetryObservers: RetryObserver {
  private let all: [any RetryObserver]

  /// Passes each event to each of these, in this order.
  public init(_ all: any RetryObserver...) { self.all = all }

  /// Passes each event to each of them.
  public func tell(_ event: RetryEvent) {
    for observer in all { observer.tell(event) }
  }
}

/// Receives events and passes them to any number of listeners.
///
/// ```swift
/// let events = RetryEvents()
/// var retrier = Retrier()
/// retrier.events = events
/// Task { for await event in events.stream() { print(event) } }
/// ```
public final class RetryEvents: RetryObserver {
  private struct State {
    var listeners: [UInt64: AsyncStream<RetryEvent>.Continuation] = [:]
    var next: UInt64 = 0
  }

  private let state = Guarded(State())

  /// Creates a source of events.
  public init() {}

  deinit { finish() }

  /// The events from now on. A slow listener loses the oldest beyond the limit, and delays nobody.
  public func stream(limit: Int = 1000) -> AsyncStream<RetryEvent> {
    AsyncStream(bufferingPolicy: .bufferingNewest(max(1, limit))) { continuation in
      let id = state.withLock { state in
        state.next += 1
        state.listeners[state.next] = continuation
        return state.next
      }
      continuation.onTermination = { [weak self] _ in
        self?.state.withLock { _ = $0.listeners.removeValue(forKey: id) }
      }
    }
  }

  /// Ends every stream.
  public func finish() {
    let listeners = state.withLock { state in
      let all = Array(state.listeners.values)
      state.listeners = [:]
      return all
    }
    for listener in listeners { listener.finish() }
  }

  /// Passes an event on.
  public func tell(_ event: RetryEvent) {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(event) }
  }
}
