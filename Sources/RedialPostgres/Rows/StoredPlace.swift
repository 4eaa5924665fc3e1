internal import RedialModel
internal import RedialStore

/// How a call's state is stored: in the columns `state` and `waiting`. Only this file knows that.
///
/// Calls in an engine's memory have one `state`, whether an attempt is in flight or not: `waiting`, which is in no index,
/// says that. Calls that wait for the turn of their ordering key have a state of their own, because no claim of their
/// target's queue may find them.
struct StoredPlace: Equatable {
  /// The `state` of calls in an engine's memory.
  static let inMemory: Int64 = 2
  /// The `state` of calls that wait for their turn.
  static let awaitingTurn: Int64 = 3
  /// The lowest `state` of calls that have ended.
  static let firstEnded = Int64(StoredState.succeeded.rawValue)
  /// In `waiting`: the attempt is in flight. No `WaitReason` has this number.
  static let inFlight: Int64 = 0

  /// The value of the column `state`.
  var state: Int64
  /// The value of the column `waiting`.
  var waiting: Int64?

  /// The columns for a call's progress.
  init(_ progress: CallProgress) {
    waiting = progress.waiting.map { Int64($0.rawValue) }
    switch progress.state {
    case .running: (state, waiting) = (Self.inMemory, Self.inFlight)
    case .queued where progress.waiting == .ordering: state = Self.awaitingTurn
    default: state = Int64(progress.state.rawValue)
    }
  }

  /// The columns of a row.
  init(state: Int64, waiting: Int64?) {
    (self.state, self.waiting) = (state, waiting)
  }

  /// The state and the wait reason; nil for numbers that mean none.
  var progress: (state: StoredState, waiting: WaitReason?)? {
    if state == Self.inMemory, waiting == Self.inFlight { return (.running, nil) }
    if state == Self.awaitingTurn { return (.queued, .ordering) }
    guard let known = UInt8(exactly: state).flatMap({ StoredState(rawValue: $0) }), known != .running else {
      return nil
    }
    guard let waiting else { return (known, nil) }
    guard let reason = UInt8(exactly: waiting).flatMap({ WaitReason(rawValue: $0) }) else { return nil }
    return (known, reason)
  }

  /// The `state` from which a call in memory was claimed, by its wait reason.
  static let released = """
    CASE WHEN waiting IN (\(WaitReason.breaker.rawValue), \(WaitReason.concurrency.rawValue)) \
    THEN \(StoredState.queued.rawValue) WHEN waiting = \(WaitReason.ordering.rawValue) \
    THEN \(awaitingTurn) ELSE \(StoredState.scheduled.rawValue) END
    """

  /// True for the rows of calls in a state.
  static func condition(_ state: StoredState) -> String {
    switch state {
    case .held: "state = \(inMemory) AND waiting IS DISTINCT FROM \(inFlight)"
    case .running: "state = \(inMemory) AND waiting IS NOT DISTINCT FROM \(inFlight)"
    case .queued: "state IN (\(state.rawValue), \(awaitingTurn))"
    default: "state = \(state.rawValue)"
    }
  }
}
