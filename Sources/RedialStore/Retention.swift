package import RedialCore
package import RedialModel

/// How long finished calls are kept. Unfinished calls are not affected.
package struct Retention: Sendable, Hashable {
  /// How long after its end a call is kept.
  package var time: Duration
  /// How long after its end a call's payloads are kept, one of ``payloadTimes``; nil for as long as the call.
  package var payloadTime: Duration?
  /// The maximum size of the store on disk, in bytes; beyond it the calls that ended first are removed early.
  package var bytes: Int
  /// How long after its end a call is kept whatever the size of the store, so that its client can still learn of its
  /// end.
  package var minimumTime: Duration

  /// The times for which payloads may be kept: an end is stored well within the least one.
  package static let payloadTimes = Duration.seconds(60)...Duration.seconds(100 * 365 * 86_400)

  /// The name of the stored value with the time by which the removed calls had ended, in microseconds since 1970.
  package static let goneBy = "goneBy"

  /// Creates a rule; omitted arguments have Redial's defaults.
  package init(time: Duration = .seconds(7 * 86_400), bytes: Int = 16 << 30, minimumTime: Duration = .seconds(60)) {
    self.time = time
    self.bytes = bytes
    self.minimumTime = minimumTime
  }

  /// The time up to which ended calls lose their payloads; nil if they keep them.
  package func payloadHorizon(at now: Timestamp) -> Timestamp? {
    payloadTime.map { Timestamp(microseconds: now.microseconds &- $0.wholeMicroseconds) }
  }

  /// The time up to which ended calls are removed.
  ///
  /// - Parameter bytes: The size of the store.
  package func horizon(at now: Timestamp, bytes: Int) -> Timestamp {
    let kept = bytes > self.bytes ? min(time, minimumTime) : time
    return Timestamp(microseconds: now.microseconds &- kept.wholeMicroseconds)
  }
}

/// The result of one step of tidying.
package struct TidyStep: Sendable {
  /// Calls removed.
  package var removed: Int
  /// Erasures of payloads, as changes that are on disk.
  package var erased: [StoreWrite] = []
  /// Bytes returned to the file system.
  package var releasedBytes: Int
  /// Whether nothing was left to do.
  package var isDone: Bool

  /// Creates the report of a step.
  package init(removed: Int = 0, releasedBytes: Int = 0, erased: [StoreWrite] = [], isDone: Bool = true) {
    self.removed = removed
    self.erased = erased
    self.releasedBytes = releasedBytes
    self.isDone = isDone
  }
}

/// The number of calls of a kind in a final state.
package struct FinishedCount: Sendable, Hashable {
  package var kind: CallKind
  /// Their final state.
  package var state: CallState
  /// Their number.
  package var count: Int

  /// Creates a count.
  package init(kind: CallKind, state: CallState, count: Int) {
    self.kind = kind
    self.state = state
    self.count = count
  }
}

/// The size and content of a store, at a cost that does not depend on them.
package struct StoreUsage: Sendable, Hashable {
  /// Bytes of the store that are in use.
  package var usedBytes: Int
  /// Bytes that removed calls have left, to be reused or returned to the file system.
  package var freeBytes: Int
  /// The finished calls, by kind and state; entries with no calls may be missing.
  package var finished: [FinishedCount]

  /// Creates a report.
  package init(usedBytes: Int, freeBytes: Int, finished: [FinishedCount]) {
    self.usedBytes = usedBytes
    self.freeBytes = freeBytes
    self.finished = finished
  }
}
