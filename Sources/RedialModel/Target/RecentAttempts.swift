public import RedialCore
internal import RedialJSON
internal import RedialText

/// Results of a target's attempts in the last minutes: tallies of ten seconds for the last minute, and of a minute
/// for the last quarter of an hour. Old tallies are overwritten.
///
/// Nothing is allocated before the first attempt; then it takes about 4 KiB, however many follow.
public struct RecentAttempts: Sendable, Hashable {
  /// The length of a window.
  public enum Window: String, Sendable, Hashable, CaseIterable {
    /// The last minute.
    case minute = "1m"
    /// The last five minutes.
    case fiveMinutes = "5m"
    /// The last quarter of an hour.
    case quarterHour = "15m"

    var minutes: Int64 {
      switch self {
      case .minute: 1
      case .fiveMinutes: 5
      case .quarterHour: 15
      }
    }
  }

  /// Tallies of equal length in a ring.
  private struct Ring: Sendable, Hashable {
    let length: Int64
    let count: Int
    var tallies: [AttemptTally] = []
    var periods: [Int64] = []

    mutating func count(
      _ duration: Duration, succeeded: Bool, ended: Bool, at now: Timestamp
    ) {
      if tallies.isEmpty {
        tallies = Array(repeating: AttemptTally(), count: count)
        periods = Array(repeating: .min, count: count)
      }
      let period = now.microseconds / length
      let place = Int(period % Int64(count))
      if periods[place] != period {
        tallies[place] = AttemptTally()
        periods[place] = period
      }
      tallies[place].count(duration, succeeded: succeeded, ended: ended)
    }

    /// The counts of the last periods, including the current one.
    func sum(last wanted: Int, at now: Timestamp) -> AttemptTally {
      let period = now.microseconds / length
      var sum = AttemptTally()
      for place in tallies.indices where periods[place] <= period && periods[place] >= period - Int64(wanted) {
        sum.add(tallies[place])
      }
      return sum
    }
  }

  private static let second: Int64 = 1_000_000
  private var fine = Ring(length: 10 * second, count: 7)
  private var coarse = Ring(length: 60 * second, count: 16)
  private var first: Timestamp?

  /// No attempts.
  public init() {}

  /// Whether no attempt was ever counted.
  public var isEmpty: Bool { first == nil }

  /// Counts an attempt that has ended now.
  ///
  /// - Parameters:
  ///   - duration: How long it took.
  ///   - succeeded: Whether its call succeeded with it.
  ///   - ended: Whether its call ended with it.
  public mutating func count(_ duration: Duration, succeeded: Bool, ended: Bool, at now: Timestamp) {
    if first == nil { first = now }
    fine.count(duration, succeeded: succeeded, ended: ended, at: now)
    coarse.count(duration, succeeded: succeeded, ended: ended, at: now)
  }

  /// Results of the attempts of the last minutes. A tally is forgotten as a whole, so up to ten more seconds are
  /// included, or up to a minute in the longer windows.
  public func tally(over window: Window, at now: Timestamp) -> AttemptTally {
    switch window {
    case .minute: fine.sum(last: 6, at: now)
    case .fiveMinutes: coarse.sum(last: 5, at: now)
    case .quarterHour: coarse.sum(last: 15, at: now)
    }
  }

  /// Whether all attempts of the last quarter of an hour have failed, and there were several.
  public func isFailing(at now: Timestamp) -> Bool {
    guard !isEmpty else { return false }
    let tally = tally(over: .quarterHour, at: now)
    return tally.successes == 0 && tally.failures >= Self.fewFailures
  }

  private static let fewFailures = 2

  /// How long a tally has been counting: for a new target, less than its window.
  public func length(of window: Window, at now: Timestamp) -> Duration {
    let length = window == .minute ? fine.length : coarse.length
    let start = Timestamp(microseconds: (now.microseconds / length) * length - window.minutes * 60 * Self.second)
    return now - max(start, min(first ?? now, now))
  }

  /// Writes the windows as one object.
  func write(to writer: inout JSONWriter, at now: Timestamp) {
    writer.beginObject()
    for window in Window.allCases {
      let tally = tally(over: window, at: now)
      writer.key(window.rawValue)
      writer.beginObject()
      writer.field("succeeded", tally.successes)
      writer.field("failed", tally.failures)
      writer.key("latency")
      if tally.attempts == 0 {
        writer.null()
      } else {
        writer.beginObject()
        for (name, share) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
          writer.key(name)
          writer.string(DurationText.format(tally.quantile(share) ?? .zero))
        }
        writer.endObject()
      }
      writer.endObject()
    }
    writer.endObject()
  }
}
