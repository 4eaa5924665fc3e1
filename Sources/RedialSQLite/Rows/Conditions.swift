internal import RedialStore
internal import RedialModel

/// Conditions in the exact form that SQLite needs to use an index.
enum Conditions {
  static let kinds = CallKind.allCases.map { String($0.rawValue) }.joined(separator: ", ")
  /// True for every call; with it, `calls_by_state` can be searched for a state of calls of any namespace and kind.
  static let anyKind = "namespace IN (SELECT id FROM namespaces) AND kind IN (\(kinds))"
  /// The condition of the index `calls_due`: the call is in no engine's memory.
  static let waiting = "state <= \(StoredState.queued.rawValue)"
  /// The condition of the index `calls_queued`.
  static let queued = "state = \(StoredState.queued.rawValue) AND waiting IS NOT \(WaitReason.ordering.rawValue)"
  /// The condition of the index `calls_finished`.
  static let finished = "state >= \(StateColumns.firstFinished)"
  /// The condition of the index `calls_by_target`: the call is not in an engine's memory. (No call has the state 3 any more.)
  static let notInMemory = "state NOT IN (\(StateColumns.inMemory), 3)"
}
