internal import RedialModel

/// How `calls` says where a call is and why it waits there: in its columns `state` and `waiting`. Nobody else knows.
///
/// Calls in an engine's memory have one `state`, whether an attempt is in flight or not: `waiting` says that, which
/// no index holds. An attempt's start then changes the call's row, and not the entry by which the call is found
/// (measured: a third of what a start cost). Every other state is its own number.
struct StateColumns: Equatable {
  /// The `state` of calls that are held or running. There are no more of them than an engine's memory holds, so that one
  /// may look through all of them.
  static let inMemory = Int64(StoredState.held.rawValue)
  /// In `waiting`: the call waits for nothing, because its attempt is in flight. No `WaitReason` has this number.
  static let underWay: Int64 = 0
  /// The highest `state` of calls that have not ended.
  static let lastUnfinished = inMemory
  /// The lowest `state` of calls that have ended.
  static let firstFinished = Int64(StoredState.succeeded.rawValue)

  /// What is in the column `state`.
  var state: Int64
  /// What is in the column `waiting`.
  var waiting: Int64?

  /// What says where a call is. What a running call waited for before is not kept.
  init(_ progress: CallProgress) {
    state = Self.state(progress.state)
    waiting = progress.state == .running ? Self.underWay : progress.waiting.map { Int64($0.rawValue) }
  }

  /// What is in the columns of a row.
  init(state: Int64, waiting: Int64?) {
    self.state = state
    self.waiting = waiting
  }

  /// What `state` is of calls in a state.
  static func state(_ state: StoredState) -> Int64 {
    state == .running ? inMemory : Int64(state.rawValue)
  }

  /// The raw value of the `StoredState` of a row of `calls`.
  ///
  /// - Parameter calls: The name that the statement has for the table.
  static func storedState(_ calls: String) -> String {
    """
    (CASE WHEN \(calls).state = \(inMemory) AND \(calls).waiting IS \(underWay)
      THEN \(StoredState.running.rawValue) ELSE \(calls).state END)
    """
  }

  /// Where the call is and why it waits; or why that cannot be understood, as a clause.
  var progress: Result<(state: StoredState, waiting: WaitReason?), Unintelligible> {
    if state == Self.inMemory, waiting == Self.underWay { return .success((.running, nil)) }
    guard let known = UInt8(exactly: state).flatMap({ StoredState(rawValue: $0) }), known != .running else {
      return .failure(Unintelligible(reason: "its state is \(state)"))
    }
    guard let waiting else { return .success((known, nil)) }
    guard let reason = UInt8(exactly: waiting).flatMap({ WaitReason(rawValue: $0) }) else {
      return .failure(Unintelligible(reason: "its reason to wait is \(waiting)"))
    }
    return .success((known, reason))
  }

  /// Columns that no call has.
  struct Unintelligible: Error {
    let reason: String
  }

  /// True of the calls in a state: a range of an index that begins with `state`, and of those in memory a look at each.
  static func condition(_ state: StoredState) -> String {
    switch state {
    case .held: "state = \(inMemory) AND waiting IS NOT \(underWay)"
    case .running: "state = \(inMemory) AND waiting IS \(underWay)"
    case .scheduled, .queued, .succeeded, .failed, .cancelled: "state = \(state.rawValue)"
    }
  }
}
