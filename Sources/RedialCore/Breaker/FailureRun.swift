/// Failures without a success between them, in the order in which the calls began.
///
/// Slow ends come late: with hanging requests failures, after quick refusals successes. So a failure of a call that began
/// before one which has succeeded does not count: the target has worked since. And a success of a call that began before
/// the run does not end it. A call that is tried again and again counts once. A failure an hour after the last begins a new
/// run: the old ones say nothing about the target as it is now.
struct FailureRun: Sendable, Hashable {
  private(set) var count = 0
  /// The same, with all attempts of each call.
  private(set) var attempts = 0
  /// When the first of them failed; nil without any.
  private(set) var since: Timestamp?
  private var last = Timestamp.epoch
  /// The permit of the first of them.
  private var first: UInt64 = 0
  /// The latest permit of which a success is known.
  private var succeeded: UInt64 = 0
  /// Calls that have failed, as far as they are known.
  private var calls: Set<UInt64> = []

  /// Counts a failure. Returns false if it is about a time before the run.
  mutating func fail(_ permit: UInt64, of call: UInt64?, at now: Timestamp) -> Bool {
    guard permit > succeeded else { return false }
    if now - last > UsualFailures.memoryTime { clear() }
    last = now
    first = attempts == 0 ? permit : min(first, permit)
    // If the clock steps back, the run begins again.
    since = min(since ?? now, now)
    attempts = attempts.next
    if let call, calls.count < Self.mostCalls, !calls.insert(call).inserted { return true }
    count = count.next
    return true
  }

  /// How long it lasts.
  func length(at now: Timestamp) -> Duration { now - (since ?? now) }

  /// Counts a success. Returns the attempts of the run that it has ended.
  mutating func succeed(_ permit: UInt64) -> Int {
    succeeded = max(succeeded, permit)
    guard attempts > 0, permit > first else { return 0 }
    defer { clear() }
    return attempts
  }

  private mutating func clear() {
    count = 0
    attempts = 0
    since = nil
    calls.removeAll(keepingCapacity: true)
  }

  /// The run has opened the breaker: it does not go on, and its calls need not be known.
  mutating func end() { calls = [] }

  /// How many calls are known: more than ever open a breaker.
  private static let mostCalls = 2000
}
