internal import RedialCore
public import RedialModel

/// How long finished calls are kept. Calls that have not ended are no business of it.
public struct Retention: Sendable, Hashable {
  /// How long after its end a call is kept.
  public var time: Duration
  /// What the store may take on disk, in bytes; beyond it the calls that ended first go before their time.
  public var bytes: Int
  /// How long after its end a call is kept however large the store is, so that its client can still learn of its end.
  public var minimumTime: Duration

  /// Creates a rule; every argument left out has Redial's default.
  public init(time: Duration = .seconds(7 * 86_400), bytes: Int = 16 << 30, minimumTime: Duration = .seconds(60)) {
    self.time = time
    self.bytes = bytes
    self.minimumTime = minimumTime
  }

  /// The time up to which ended calls are to go.
  ///
  /// - Parameter bytes: What the store takes.
  func horizon(at now: Timestamp, bytes: Int) -> Timestamp {
    let kept = bytes > self.bytes ? min(time, minimumTime) : time
    return Timestamp(microseconds: now.microseconds &- kept.wholeMicroseconds)
  }
}

/// What one step of tidying did.
public struct TidyStep: Sendable, Hashable {
  /// Calls removed.
  public var removed: Int
  /// Pages given back to the file system.
  public var releasedPages: Int
  /// Whether there was nothing left to do.
  public var isDone: Bool

  /// Creates the report of a step.
  public init(removed: Int = 0, releasedPages: Int = 0, isDone: Bool = true) {
    self.removed = removed
    self.releasedPages = releasedPages
    self.isDone = isDone
  }
}

/// How many calls of a kind are in a final state.
public struct FinishedCount: Sendable, Hashable {
  /// What the calls are for.
  public var kind: CallKind
  /// How they ended.
  public var state: CallState
  /// How many there are.
  public var count: Int

  /// Creates a count.
  public init(kind: CallKind, state: CallState, count: Int) {
    self.kind = kind
    self.state = state
    self.count = count
  }
}

/// What a store takes and holds, at a cost that does not depend on it.
public struct StoreUsage: Sendable, Hashable {
  /// Bytes of the store that are in use.
  public var usedBytes: Int
  /// Bytes that removed calls have left, to be used again or given back.
  public var freeBytes: Int
  /// The finished calls, by kind and state; entries with no calls may be missing.
  public var finished: [FinishedCount]

  /// Creates a report.
  public init(usedBytes: Int, freeBytes: Int, finished: [FinishedCount]) {
    self.usedBytes = usedBytes
    self.freeBytes = freeBytes
    self.finished = finished
  }
}
