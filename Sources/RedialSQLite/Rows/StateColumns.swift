internal import RedialStore
internal import RedialModel

/// How `calls` stores the state of a call and its wait reason: in its columns `state` and `waiting`. Only this file
/// knows that.
///
/// Calls in an engine's memory have one `state`, whether an attempt is in flight or not: `waiting`, which is in no
/// index, says that. So the start of an attempt changes the call's row, but not its index entries (measured: a third of
/// a start's cost). Every other state is its own number.
struct StateColumns: Equatable {
  /// The `state` of calls that are held or running. There are no more of them than fit an engine's memory, so that a
  /// query may read all of them.
  static let inMemory = Int64(StoredState.held.rawValue)
  /// In `waiting`: the call does not wait, because its attempt is in flight. No `WaitReason` has this number.
  static let inFlight: Int64 = 0
  /// The highest `state` of calls that have not ended.
  static let lastUnfinished = inMemory
  /// The lowest `state` of calls that have ended.
  static let firstFinished = Int64(StoredState.succeeded.rawValue)

  /// The value of the column `state`.
  var state: Int64
  /// The value of the column `waiting`.
  var waiting: Int64?

  /// The columns for a call's state. The earlier wait reason of a running call is not kept.
  init(_ progress: CallProgress) {
    state = Self.state(progress.state)
    waiting = progress.state == .running ? Self.inFlight : progress.waiting.map { Int64($0.rawValue) }
  }

  /// The columns of a row.
  init(state: Int64, waiting: Int64?) {
    self.state = state
    self.waiting = waiting
  }

  /// The value of `state` for calls in a state.
  static func state(_ state: StoredState) -> Int64 {
    state == .running ? inMemory : Int64(state.rawValue)
  }

  /// The raw value of the `StoredState` of a row of `calls`.
  ///
  /// - Parameter calls: The statement's name for the table.
  static func storedState(_ calls: String) -> String {
    """
    (CASE WHEN \(calls).state = \(inMemory) AND \(calls).waiting IS \(inFlight)
      THEN \(StoredState.running.rawValue) ELSE \(calls).state END)
    """
  }

  /// The call's state and wait reason; or why they cannot be read, as a clause.
  var progress: Result<(state: StoredState, waiting: WaitReason?), Unintelligible> {
    if state == Self.inMemory, waiting == Self.inFlight { return .success((.running, nil)) }
    guard let known = UInt8(exactly: state).flatMap({ StoredState(rawValue: $0) }), known != .running else {
      return .failure(Unintelligible(reason: "its state is \(state)"))
    }
    guard let waiting else { return .success((known, nil)) }
    guard let reason = UInt8(exactly: waiting).flatMap({ WaitReason(rawValue: $0) }) else {
      return .failure(Unintelligible(reason: "its reason to wait is \(waiting)"))
    }
    return .success((known, reason))
  }

  /// An invalid combination of columns.
  struct Unintelligible: Error {
    let reason: String
  }

  /// True for the calls in a state: a range of an index that begins with `state`, plus a check of each call in memory.
  static func condition(_ state: StoredState) -> String {
    switch state {
    case .held: "state = \(inMemory) AND waiting IS NOT \(inFlight)"
    case .running: "state = \(inMemory) AND waiting IS \(inFlight)"
    case .scheduled, .queued, .succeeded, .failed, .cancelled: "state = \(state.rawValue)"
    }
  }
}
