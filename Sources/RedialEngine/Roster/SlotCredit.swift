internal import RedialCore
internal import RedialModel

/// How many slots for attempts in flight a target has earned by answering; see ``Roster/hasSlot(_:at:)``.
struct SlotCredit: Sendable {
  /// How many slots it has earned.
  private(set) var proven = 0
  /// When the first attempt after its last response started; ``Timestamp/distantFuture`` if none has.
  private(set) var silentSince = Timestamp.distantFuture
  /// How long it usually takes to respond.
  private(set) var responseTime = ResponseTime()

  /// Attempts in flight beyond the earned slots.
  func borrowed(ofInFlight inFlight: Int) -> Int { max(0, inFlight - proven) }

  /// Records how long a response took.
  mutating func record(_ duration: Duration) {
    responseTime.record(duration)
  }

  /// An attempt starts.
  mutating func start(at now: Timestamp) {
    if silentSince == .distantFuture { silentSince = now }
  }

  /// An attempt was undone or has ended, without anything to learn from it.
  ///
  /// - Parameter isLast: Whether no other is in flight.
  mutating func undo(isLast: Bool) {
    // No attempt is in flight, so nothing is awaited.
    if isLast { silentSince = .distantFuture }
  }

  /// Learns from the end of an attempt, which still counts as in flight.
  ///
  /// - Parameter startedAt: When it started. If the target has answered since, its silence is not the target's.
  mutating func learn(_ sign: TargetSign, startedAt: Timestamp, inFlight: Int, most: Int) {
    switch sign {
    case .answer:
      silentSince = .distantFuture
      if inFlight >= proven, proven < most { proven += 1 }
    case .silence where startedAt >= silentSince: proven /= 2
    case .silence, .nothing: break
    }
  }

  /// Takes the earned slots back if the target has been silent or idle for long.
  mutating func doubt(inFlight: Int, lastEnd: Timestamp, leastSilence: Int64, at now: Timestamp) {
    guard proven > 0 else { return }
    let long = responseTime.longSilence(atLeastMicroseconds: leastSilence)
    if now.microseconds - long > silentSince.microseconds {
      proven = 0
    } else if inFlight == 0, now.microseconds - long > lastEnd.microseconds {
      proven = 1
    }
  }
}
