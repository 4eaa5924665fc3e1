/// Something that knows when a waiting ``RetryingOperation`` should retry: a timer, a change of the network, an
/// external event.
///
/// An operation waits with any number of helpers, and the first to fire wins. Once the set-up of a wait has begun, each
/// of its helpers is set up once and, when the wait has ended, torn down once, whatever ended it. The two calls never
/// overlap, and a helper is torn down before the next run begins, so that one object may serve several waits.
///
/// Both calls are made on the thread that ended the run or the wait, and should return soon.
///
/// ```swift
/// import Synchronization
///
/// final class Doorbell: RetryHelper {
///   private let signal = Mutex<RetrySignal?>(nil)
///   func setUp(_ signal: RetrySignal) { self.signal.withLock { $0 = signal } }
///   func tearDown() { signal.withLock { $0 = nil } }
///   // Fired outside of the lock, since firing leads to `tearDown`.
///   func ring() { signal.withLock { $0 }?.retry() }
/// }
/// ```
public protocol RetryHelper: AnyObject, Sendable {
  /// A wait begins. Keep the signal, and fire it at the right time; firing it within this call is allowed.
  func setUp(_ signal: RetrySignal)

  /// The wait has ended. Release the signal, which keeps the operation alive and no longer does anything.
  func tearDown()
}

/// Can end one particular wait of an operation.
///
/// A signal that is fired twice, late, or after another helper has won changes nothing, not even a later wait.
public struct RetrySignal: Sendable {
  private let fire: @Sendable () -> Bool

  /// A signal for testing a helper without an operation.
  public init(_ fire: @escaping @Sendable () -> Bool) {
    self.fire = fire
  }

  /// Ends the wait with a retry, from any thread. Do not hold a lock that ``RetryHelper/tearDown()`` takes.
  ///
  /// - Returns: Whether this call is the one that ended the wait.
  @discardableResult
  public func retry() -> Bool {
    fire()
  }
}
