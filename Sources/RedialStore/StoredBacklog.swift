internal import RedialCore
package import RedialModel

/// How many calls in no engine's memory wait, by target and reason.
package struct StoredBacklog: Sendable, Equatable {
  /// Each target and reason with any calls.
  package var counts: [(target: TargetKey, reason: WaitReason, count: Int)]
  /// Whether all were counted.
  package var isComplete: Bool

  /// Creates a backlog.
  package init(counts: [(target: TargetKey, reason: WaitReason, count: Int)] = [], isComplete: Bool) {
    self.counts = counts
    self.isComplete = isComplete
  }

  /// Whether both have the same counts in the same order.
  package static func == (one: Self, other: Self) -> Bool {
    one.isComplete == other.isComplete
      && one.counts.elementsEqual(other.counts) {
        $0.target == $1.target && $0.reason == $1.reason && $0.count == $1.count
      }
  }
}
