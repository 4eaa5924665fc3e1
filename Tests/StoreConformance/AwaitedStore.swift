internal import Dispatch
package import RedialCore
package import RedialModel
package import RedialStore
internal import Synchronization

/// A store that answers later, used like one that answers at once: each work is submitted as the next of its chain, and
/// its outcome is waited for.
package final class AwaitedStore: CallStore {
  /// The store itself.
  package let store: any CallStore
  private let outcomes = Outcomes()
  private var made: Int64 = 0
  private var losses = 0

  /// Maximum time that an outcome may take.
  private static let patience = DispatchTimeInterval.seconds(60)

  private final class Outcomes: Sendable {
    let arrived = DispatchSemaphore(value: 0)
    let list = Mutex<[StoreOutcome]>([])
  }

  /// Uses a store to which nothing was submitted yet.
  package init(_ store: any CallStore) {
    self.store = store
    let outcomes = outcomes
    store.report { outcome in
      outcomes.list.withLock { $0.append(outcome) }
      outcomes.arrived.signal()
    }
  }

  /// Submits work as the next of its chain, as often as it takes, and waits until its outcome is known for certain.
  package func submit(_ work: StoreWork, as _: Int64, _: StoreTrial) -> StoreOutcome? {
    let sequence = work.isChange ? made + 1 : made
    var kind = StoreTrial.Kind.first
    var repetitions = 0
    while true {
      var outcome = store.submit(work, as: sequence, StoreTrial(kind, losses: losses)) ?? next()
      if case .lost = outcome {
        losses += 1
        outcome = next()
      }
      switch outcome {
      case .repeatable(let error):
        repetitions += 1
        guard repetitions <= 5 else { return .notMade(error) }
        kind = .again
      case .found(let last): kind = work.isChange && sequence <= last ? .answer : .again
      case .made:
        made = sequence
        return outcome
      case .notMade, .lost: return outcome
      }
    }
  }

  private func next() -> StoreOutcome {
    guard outcomes.arrived.wait(timeout: .now() + Self.patience) == .success else {
      return .notMade(StoreError(kind: .unavailable, message: "no outcome within \(Self.patience)"))
    }
    return outcomes.list.withLock { $0.removeFirst() }
  }

  package func report(to listener: @escaping @Sendable (StoreOutcome) -> Void) {}

  package func recover(at now: Timestamp) throws(StoreError) -> RecoveredState { try store.recover(at: now) }

  package func resign(at now: Timestamp) throws(StoreError) { try store.resign(at: now) }

  package func tidy(
    _ retention: Retention, at now: Timestamp, within budget: Duration
  ) throws(StoreError) -> TidyStep {
    try store.tidy(retention, at: now, within: budget)
  }

  package func setting(_ name: String) throws(StoreError) -> String? { try store.setting(name) }

  package func setSetting(_ name: String, to value: String) throws(StoreError) {
    try store.setSetting(name, to: value)
  }

  package func keepSetting(_ name: String, orElse value: String) throws(StoreError) -> String {
    try store.keepSetting(name, orElse: value)
  }

  package func close() { store.close() }
}
