internal import Redial

/// The current runs. It retains them while they run, and no longer.
public final class RetryRunRegistry: Sendable {
  /// Lists runs by default.
  public static let shared = RetryRunRegistry()

  private let entries = Guarded<[ObjectIdentifier: RetryRun]>([:])

  /// An empty registry.
  public init() {}

  /// The current runs, in no order.
  public var runs: [RetryRun] { entries.withLock { Array($0.values) } }

  /// Stops all current runs.
  public func stopAll() {
    for run in runs { run.stop() }
  }

  func add(_ run: RetryRun) { entries.withLock { $0[ObjectIdentifier(run)] = run } }

  func remove(_ run: RetryRun) { entries.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(run)) } }
}
