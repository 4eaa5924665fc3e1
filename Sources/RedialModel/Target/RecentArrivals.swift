public import RedialCore

/// How many calls a target got in each of the last minutes.
///
/// Nothing is allocated before the first call.
public struct RecentArrivals: Sendable, Hashable {
  private static let minute: Int64 = 60_000_000
  /// The current minute and those before it that count.
  private static let minutes = 5

  private var counts: [Int] = []
  private var periods: [Int64] = []
  private var first: Timestamp?

  /// No calls.
  public init() {}

  /// A call has come.
  public mutating func count(at now: Timestamp) {
    if counts.isEmpty {
      counts = Array(repeating: 0, count: Self.minutes)
      periods = Array(repeating: .min, count: Self.minutes)
    }
    if first == nil { first = now }
    let period = now.microseconds / Self.minute
    let place = Int(period % Int64(Self.minutes))
    if periods[place] != period {
      counts[place] = 0
      periods[place] = period
    }
    counts[place] += 1
  }

  /// Calls per second in the last four to five minutes, or since the first if that is later, but over a minute at least,
  /// because many calls at once are not the beginning of many more; 0 without calls.
  public func perSecond(at now: Timestamp) -> Double {
    guard let first else { return 0 }
    let period = now.microseconds / Self.minute
    var sum = 0
    for place in counts.indices where periods[place] > period - Int64(Self.minutes) && periods[place] <= period {
      sum += counts[place]
    }
    let start = Timestamp(microseconds: (period - Int64(Self.minutes) + 1) * Self.minute)
    return Double(sum) / max(60, (now - max(start, min(first, now))).inSeconds)
  }
}
