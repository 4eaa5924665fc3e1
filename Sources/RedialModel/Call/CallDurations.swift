public import RedialCore

/// How long calls took until they ended, by how they ended: since they were due for their first attempts.
public struct CallDurations: Sendable, Hashable {
  /// A call that took about so long, as an example that people can look at.
  public struct Example: Sendable, Hashable {
    public var call: CallID
    /// The client's trace; nil if it sent none.
    public var traceparent: String?
    public var time: Duration
    /// When it ended.
    public var at: Timestamp

    /// Creates an example.
    public init(call: CallID, traceparent: String?, time: Duration, at: Timestamp) {
      self.call = call
      self.traceparent = traceparent
      self.time = time
      self.at = at
    }
  }

  /// The calls that ended in one way.
  public struct Ends: Sendable, Hashable {
    public fileprivate(set) var tally = DurationTally()
    /// How many took longer than the bound before and not longer than this one, and at the end those beyond the last bound.
    public fileprivate(set) var counts = [Int](repeating: 0, count: CallDurations.bounds.count + 1)
    /// The last call of each bound.
    public fileprivate(set) var examples = [Example?](repeating: nil, count: CallDurations.bounds.count + 1)
  }

  /// Bounds in seconds, from 10 ms to a week: times that people promise.
  public static let bounds: [Double] = [
    0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14_400, 86_400, 604_800,
  ]
  private static let microseconds = bounds.map { Int64(($0 * 1e6).rounded()) }

  private var succeeded = Ends()
  private var failed = Ends()
  private var cancelled = Ends()

  /// No call has ended.
  public init() {}

  /// Those that ended so.
  public subscript(state: CallState) -> Ends? {
    switch state {
    case .succeeded: succeeded
    case .failed: failed
    case .cancelled: cancelled
    case .scheduled, .running: nil
    }
  }

  /// Counts the end of a call.
  public mutating func count(_ state: StoredState, _ example: Example) {
    switch state {
    case .succeeded: Self.count(example, in: &succeeded)
    case .failed: Self.count(example, in: &failed)
    case .cancelled: Self.count(example, in: &cancelled)
    case .scheduled, .queued, .held, .running: break
    }
  }

  private static func count(_ example: Example, in ends: inout Ends) {
    ends.tally.count(example.time)
    let time = example.time.wholeMicroseconds
    let place = microseconds.firstIndex { time <= $0 } ?? microseconds.count
    ends.counts[place] += 1
    ends.examples[place] = example
  }
}
