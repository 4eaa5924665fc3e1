public import RedialCore

/// The results of calls and their attempts over some time: counts, so that any number takes the same memory.
public struct CallTally: Sendable, Hashable {
  public private(set) var succeeded = 0
  /// Those that needed more than one attempt.
  public private(set) var retried = 0
  /// Calls that failed, for any reason.
  public private(set) var failed = 0
  /// Calls that were cancelled.
  public private(set) var cancelled = 0
  /// How long the succeeded calls took, since they were due for their first attempts.
  public private(set) var timesToSuccess = DurationTally()
  /// Their attempts, except those that this side interrupted.
  public private(set) var attempts = AttemptTally()

  /// The due calls that waited for their target, each with the milliseconds for which it did: what several instances and
  /// steps counted adds up.
  private var waitingMilliseconds: Int64 = 0

  /// No calls.
  public init() {}

  /// Whether nothing was counted.
  public var isEmpty: Bool {
    succeeded == 0 && failed == 0 && cancelled == 0 && attempts.attempts == 0 && waitingMilliseconds == 0
  }

  /// How many due calls waited on average over a time; while no instance ran, none are counted.
  public func averageBacklog(over time: Duration) -> Double {
    let milliseconds = time.inSeconds * 1000
    return milliseconds > 0 ? Double(waitingMilliseconds) / milliseconds : 0
  }

  /// The share of succeeded calls among those that succeeded or failed; nil if there are none.
  public var successRate: Double? {
    succeeded + failed > 0 ? Double(succeeded) / Double(succeeded + failed) : nil
  }

  /// Counts the end of a call.
  ///
  /// - Parameters:
  ///   - isRetried: Whether it had more than one attempt.
  ///   - time: How long it took since it was due for its first attempt.
  public mutating func countEnd(_ state: StoredState, isRetried: Bool, after time: Duration) {
    switch state {
    case .succeeded:
      succeeded += 1
      if isRetried { retried += 1 }
      timesToSuccess.count(time)
    case .failed: failed += 1
    case .cancelled: cancelled += 1
    case .scheduled, .queued, .held, .running: break
    }
  }

  /// Counts an attempt, see ``AttemptTally/count(_:succeeded:ended:)``.
  public mutating func countAttempt(_ duration: Duration, succeeded: Bool, ended: Bool) {
    attempts.count(duration, succeeded: succeeded, ended: ended)
  }

  /// Counts due calls that waited for a time.
  public mutating func countBacklog(_ calls: Int, for time: Duration) {
    let milliseconds = max(0, time.wholeMicroseconds / 1000)
    let (product, overflow) = Int64(max(0, calls)).multipliedReportingOverflow(by: milliseconds)
    waitingMilliseconds = overflow ? .max : waitingMilliseconds.addingWithoutOverflow(product)
  }

  /// Adds the counts of another tally.
  public mutating func add(_ other: CallTally) {
    succeeded += other.succeeded
    retried += other.retried
    failed += other.failed
    cancelled += other.cancelled
    timesToSuccess.add(other.timesToSuccess)
    attempts.add(other.attempts)
    waitingMilliseconds = waitingMilliseconds.addingWithoutOverflow(other.waitingMilliseconds)
  }

  /// The counts as numbers, for the store: ``init(numbers:)`` reads them.
  public var numbers: [Int64] {
    [Int64(succeeded), Int64(failed), Int64(cancelled)] + attempts.numbers + [Int64(retried)] + timesToSuccess.numbers
      + [waitingMilliseconds]
  }

  /// Reads the numbers of ``numbers``; nil for anything else.
  public init?(numbers: [Int64]) {
    let counted = 3 + AttemptTally.numberCount
    let withTimes = counted + 1 + DurationTally.numberCount
    // Earlier builds did not count what follows.
    guard [counted, counted + 1, withTimes, withTimes + 1].contains(numbers.count),
      numbers.allSatisfy({ $0 >= 0 }), let attempts = AttemptTally(numbers: numbers[3..<counted])
    else { return nil }
    if numbers.count > counted { retried = Int(numbers[counted]) }
    if numbers.count > counted + 1 {
      guard let times = DurationTally(numbers: numbers[(counted + 1)..<withTimes]) else { return nil }
      timesToSuccess = times
    }
    if numbers.count > withTimes { waitingMilliseconds = numbers[withTimes] }
    succeeded = Int(numbers[0])
    failed = Int(numbers[1])
    cancelled = Int(numbers[2])
    self.attempts = attempts
  }
}

extension Int64 {
  fileprivate func addingWithoutOverflow(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}

/// The counts of one namespace in one minute, or in a part of it.
public struct MinuteTally: Sendable, Hashable {
  public var namespace: Namespace
  /// When the minute began.
  public var minute: Timestamp
  /// The counts.
  public var tally: CallTally

  /// Creates a tally.
  public init(namespace: Namespace, minute: Timestamp, tally: CallTally) {
    self.namespace = namespace
    self.minute = minute
    self.tally = tally
  }
}
