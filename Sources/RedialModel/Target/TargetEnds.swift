public import RedialCore

/// How the calls of a target ended: in all since it is known, and how long those took that succeeded in the last quarter of an
/// hour.
///
/// Nothing is allocated before the first success; then it takes up to 4 KiB, however many follow.
public struct TargetEnds: Sendable, Hashable {
  /// Calls that succeeded.
  public private(set) var succeeded = 0
  /// Calls that failed, for any reason.
  public private(set) var failed = 0
  /// Calls that were cancelled.
  public private(set) var cancelled = 0
  /// Attempts that were begun after another one of the same round.
  public private(set) var retries = 0
  /// The times of the successes of a minute, in a ring.
  private var minutes: [DurationTally] = []
  private var periods: [Int64] = []

  private static let length: Int64 = 60_000_000
  private static let kept: Int64 = 16

  /// No call has ended.
  public init() {}

  /// How many calls have ended.
  public var total: Int { succeeded + failed + cancelled }

  /// Counts an attempt that begins.
  public mutating func countStart(isRetry: Bool) {
    if isRetry { retries += 1 }
  }

  /// Counts the end of a call.
  ///
  /// - Parameter time: How long it took since it was due for its first attempt.
  public mutating func count(_ state: StoredState, after time: Duration, at now: Timestamp) {
    switch state {
    case .succeeded:
      succeeded += 1
      let period = now.microseconds / Self.length
      if minutes.isEmpty {
        minutes = Array(repeating: DurationTally(), count: Int(Self.kept))
        periods = Array(repeating: .min, count: Int(Self.kept))
      }
      let place = Int(period % Self.kept)
      if periods[place] != period { (minutes[place], periods[place]) = (DurationTally(), period) }
      minutes[place].count(time)
    case .failed: failed += 1
    case .cancelled: cancelled += 1
    case .scheduled, .queued, .held, .running: break
    }
  }

  /// How long the calls took that succeeded in the last 15 minutes, and in the part of a minute before.
  public func timesToSuccess(at now: Timestamp) -> DurationTally {
    let period = now.microseconds / Self.length
    var sum = DurationTally()
    for place in minutes.indices where periods[place] <= period && periods[place] > period - Self.kept {
      sum.add(minutes[place])
    }
    return sum
  }

  /// Forgets the times, but not the counts.
  public mutating func forgetTimes() {
    (minutes, periods) = ([], [])
  }
}
