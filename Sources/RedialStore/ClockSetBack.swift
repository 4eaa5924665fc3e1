package import RedialCore
package import RedialModel

/// A clock that was ahead has been set right while no service ran: what was to wait for a span waits for that span, and what
/// was to wait for a time that somebody named waits for that time.
///
/// What was written by the earlier clock is known by this: it lies in the future although it has happened.
package struct ClockSetBack: Sendable {
  /// Smaller differences change nothing: time services make them.
  package static let least = Duration.seconds(2)

  private let now: Timestamp
  /// How far the clock was set back at least: as much more as the store was without a service.
  package let shift: Duration

  /// - Parameter seen: The latest time that the store remembers.
  /// - Returns: Nil if the clock has not been set back.
  package init?(from seen: Timestamp, to now: Timestamp) {
    guard seen - now > Self.least else { return nil }
    self.now = now
    shift = seen - now
  }

  /// The progress of an unfinished call by the clock of now; nil if nothing changes.
  ///
  /// - Parameter lastEnd: The end of its last attempt, if that is known. Called only for a call that waits for its next one.
  package func corrected<Failure: Error>(
    _ call: CallRecord, lastEnd: () throws(Failure) -> Timestamp?
  ) throws(Failure) -> CallProgress? {
    var corrected = call
    let start = call.progress.roundStartedAt
    // A call that somebody had run at once gives no reason to wait.
    let isDeferred = call.progress.attempts == 0 && start > call.createdAt && call.progress.waiting != nil
    if isDeferred, call.spec.delay == .zero {
      // Its start was named. If that had come by the earlier clock, it comes again.
      if start > now, call.progress.waiting != .ordering {
        (corrected.progress.state, corrected.progress.waiting) = (.scheduled, .startTime)
        corrected.progress.due = start
      }
    } else {
      corrected.progress.roundStartedAt = moved(start, from: isDeferred ? call.createdAt : start)
      switch call.progress.state {
      case .queued: corrected.progress.due = corrected.lastStart
      case .scheduled where !call.progress.isRetry:
        corrected.progress.due = moved(call.progress.due, from: isDeferred ? call.createdAt : start)
      case .scheduled where call.progress.due > now:
        // The end of an attempt says more than the time for which it waits: that may be days away. All other waits are short.
        let waitsForItself = call.progress.waiting == .backoff || call.progress.waiting == .retryAfter
        if let began = waitsForItself ? try lastEnd() : call.progress.due {
          corrected.progress.due = moved(call.progress.due, from: began)
        }
      case .scheduled, .held, .running, .succeeded, .failed, .cancelled: break
      }
    }
    return corrected.progress == call.progress ? nil : corrected.progress
  }

  /// The record of a target by the clock of now; nil if nothing changes.
  package func corrected(_ target: TargetRecord) -> TargetRecord? {
    var corrected = target
    if let breaker = target.breaker { corrected.breaker?.until = movedIfAhead(breaker.until) }
    corrected.askedUntil = target.askedUntil.map(movedIfAhead)
    if let outage = target.outage {
      corrected.outage?.since = movedIfAhead(outage.since)
      corrected.outage?.closedAt = outage.closedAt.map(movedIfAhead)
    }
    for place in target.pastOutages.indices {
      corrected.pastOutages[place].since = movedIfAhead(target.pastOutages[place].since)
      corrected.pastOutages[place].closedAt = target.pastOutages[place].closedAt.map(movedIfAhead)
    }
    return corrected == target ? nil : corrected
  }

  private func movedIfAhead(_ time: Timestamp) -> Timestamp {
    time > now ? Timestamp(microseconds: time.microseconds - shift.wholeMicroseconds) : time
  }

  /// A time, moved back if what it counts from has happened by the earlier clock.
  private func moved(_ time: Timestamp, from began: Timestamp) -> Timestamp {
    guard began > now else { return time }
    return Timestamp(microseconds: time.microseconds - max(shift, began - now).wholeMicroseconds)
  }
}
