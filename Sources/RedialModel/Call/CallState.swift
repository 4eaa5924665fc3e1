/// The state of a call, in the words of the API.
public enum CallState: String, Sendable, Hashable, CaseIterable {
  /// It waits: for its start, a backoff, a breaker, a limit.
  case scheduled
  /// An attempt is in flight.
  case running
  /// An attempt succeeded.
  case succeeded
  /// It ended without success; the failure reason says why.
  case failed
  /// A client cancelled it.
  case cancelled
}

/// The state of a call in the store.
///
/// `scheduled` in the API is three states here, depending on who has the call while it waits. The numbers are stored
/// and never reused.
public enum StoredState: UInt8, Sendable, Hashable, CaseIterable {
  /// Only in the store, until its time comes. Leads to `held`, `cancelled`.
  case scheduled = 0
  /// Only in the store, due, in the queue of a target that cannot take it now; its due time is its deadline. Leads to
  /// `held`, `cancelled`.
  case queued = 1
  /// In an engine's memory, due now or soon. Leads to every other state.
  case held = 2
  /// In an engine's memory, with an attempt in flight. Leads to `held`, `scheduled`, `queued` and the ends.
  case running = 3
  /// An end; a manual retry leads back to `held`.
  case succeeded = 5
  /// An end; a manual retry leads back to `held`.
  case failed = 6
  /// An end; a manual retry leads back to `held`.
  case cancelled = 7

  /// Whether the call has ended.
  public var isFinal: Bool { rawValue >= StoredState.succeeded.rawValue }

  /// The state in the words of the API.
  public var visible: CallState {
    switch self {
    case .scheduled, .queued, .held: .scheduled
    case .running: .running
    case .succeeded: .succeeded
    case .failed: .failed
    case .cancelled: .cancelled
    }
  }
}

/// Why a scheduled call is not running. The numbers are stored.
public enum WaitReason: UInt8, Sendable, Hashable, CaseIterable {
  /// Its start time has not come.
  case startTime = 1
  /// It waits between attempts.
  case backoff = 2
  /// The target asked for a pause.
  case retryAfter = 3
  /// Its target's breaker is open.
  case breaker = 4
  /// The target or the service has its maximum of attempts in flight.
  case concurrency = 5
  /// The rate that was set for its target allows no more attempts for now.
  case rateLimit = 6
  /// The retry budget of its target is used up for now.
  case retryBudget = 7
  /// An earlier call of the same ordering key has not ended.
  case ordering = 8
  /// An operator has paused its target.
  case paused = 9
  /// Its target takes no more for now: the pace is adapted to what it can take.
  case pace = 10
  /// All connections to its URL's scheme, host and port are in use.
  case connections = 11

  /// Those that calls have of their own: a time of the call, whatever its target says. Only the due time of such a call
  /// is the end of its wait.
  public static let ofCall = allCases.filter(\.isOfCall)

  /// Whether it is one of ``ofCall``.
  public var isOfCall: Bool {
    switch self {
    case .startTime, .backoff, .retryAfter, .retryBudget: true
    default: false
    }
  }

  /// The word in the API.
  public var name: StaticString {
    switch self {
    case .startTime: "startTime"
    case .backoff: "backoff"
    case .retryAfter: "retryAfter"
    case .breaker: "breaker"
    case .concurrency: "concurrency"
    case .rateLimit: "rateLimit"
    case .retryBudget: "retryBudget"
    case .ordering: "ordering"
    case .paused: "paused"
    case .pace: "pace"
    case .connections: "connections"
    }
  }
}

/// The kind of a call. The numbers are stored.
public enum CallKind: UInt8, Sendable, Hashable, CaseIterable {
  /// A client submitted it.
  case call = 0
  /// Redial made it, to report how a call of the first kind ended.
  case webhook = 1

  /// The word in the API.
  public var name: String {
    switch self {
    case .call: "call"
    case .webhook: "webhook"
    }
  }
}
