public import Redial

/// Retries when something else on the same target has succeeded.
public final class RetryOnSuccess: RetryHelper {
  private let target: SuccessSignals.Target
  private let id = Guarded<UInt64?>(nil)

  /// A helper for a target's successes.
  public init(_ target: SuccessSignals.Target) { self.target = target }

  /// Begins to listen.
  public func setUp(_ signal: RetrySignal) {
    let new = target.add { signal.retry() }
    id.withLock { $0 = new }
  }

  /// Ends the listening.
  public func tearDown() {
    let old = id.withLock { id in
      defer { id = nil }
      return id
    }
    if let old { target.remove(old) }
  }
}
