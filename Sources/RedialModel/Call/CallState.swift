/// Where a call is in its life, in the words of the wire.
public enum CallState: String, Sendable, Hashable, CaseIterable {
  /// It waits: for its start, a backoff, a breaker, a limit.
  case scheduled
  /// An attempt is under way.
  case running
  /// An attempt succeeded.
  case succeeded
  /// It ended without success; the failure reason says why.
  case failed
  /// Somebody cancelled it.
  case cancelled
}

/// Where a call is in its life, as the store keeps it.
///
/// `scheduled` on the wire is three states here, which say who looks after the
/// call while it waits. The numbers are the store's and are never reused.
public enum StoredState: UInt8, Sendable, Hashable, CaseIterable {
  /// In the store only, until its time comes. Leads to `held`, `cancelled`.
  case scheduled = 0
  /// In the store only, due, in the queue of a target that cannot take it now; its time is that of its
  /// deadline. Leads to `held`, `cancelled`.
  case queued = 1
  /// In an engine's memory, due now or soon. Leads to every other state.
  case held = 2
  /// In an engine's memory, an attempt under way. Leads to `held`, `scheduled`, `queued` and the ends.
  case running = 3
  /// An end; a manual retry leads back to `held`.
  case succeeded = 5
  /// An end; a manual retry leads back to `held`.
  case failed = 6
  /// An end; a manual retry leads back to `held`.
  case cancelled = 7

  /// Whether the call has ended.
  public var isFinal: Bool { rawValue >= StoredState.succeeded.rawValue }

  /// The state in the words of the wire.
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

/// Why a scheduled call is not running. The numbers are the store's.
public enum WaitReason: UInt8, Sendable, Hashable, CaseIterable {
  /// Its start time has not come.
  case startTime = 1
  /// It waits between attempts.
  case backoff = 2
  /// The target said when to come back.
  case retryAfter = 3
  /// Its target's breaker lets nothing through.
  case breaker = 4
  /// As many calls as its target or the service may have under way are under way.
  case concurrency = 5
  /// Its target's rate allows no more attempts for now.
  case rateLimit = 6
  /// Its target has had as many retries as its budget allows for now.
  case retryBudget = 7
  /// A call of the same ordering key that was accepted before has not ended.
  case ordering = 8
  /// Somebody has paused its target.
  case paused = 9

  /// The word of the wire.
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
    }
  }
}

/// What a call is for. The numbers are the store's.
public enum CallKind: UInt8, Sendable, Hashable, CaseIterable {
  /// A client submitted it.
  case call = 0
  /// Redial made it, to tell a client how a call of the first kind ended.
  case webhook = 1

  /// The word of the wire.
  public var name: String {
    switch self {
    case .call: "call"
    case .webhook: "webhook"
    }
  }
}
