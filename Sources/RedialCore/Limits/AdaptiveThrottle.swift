/// Throttles requests on the client's side by the share that the target has accepted lately ("Handling Overload", Site
/// Reliability Engineering, 2016, chapter 21).
///
/// Of the requests of a window, *requests* were wanted, and *accepts* of them were accepted. One more is refused here with the
/// probability
///
///     max(0, (requests − k · accepts) / (requests + 1))
///
/// but never more than ``maximumRefusal``, without which a client with many requests would notice the end of an outage late
/// (failsafe-go's throttler has the same bound). So nothing is refused while the target accepts one in *k*. A request that is
/// refused here was wanted, too; one that is sent counts when it has ended, so that those in flight do not look refused. With the
/// defaults all passes again within twice the window after an outage.
///
/// Nothing is allocated.
public struct AdaptiveThrottle: Sendable, Hashable {
  /// *k*: how many times what the target accepts it may get; 1.1 or more. 2 by default: of the load of an overloaded target
  /// half is in vain, which costs it little and is noticed soon when it takes more.
  public let multiplier: Double
  /// The maximum probability, 0...1; 0.9 by default.
  public let maximumRefusal: Double
  /// First: wanted. Second: accepted.
  private var counts: RollingCounts

  /// A throttle that has seen nothing.
  ///
  /// - Parameters:
  ///   - multiplier: ``multiplier``; what is less than 1.1 counts as 1.1.
  ///   - maximumRefusal: ``maximumRefusal``; what lies outside counts as the nearer end.
  ///   - window: How long a request counts, 10 ms to a day.
  public init(multiplier: Double = 2, maximumRefusal: Double = 0.9, window: Duration = .seconds(10)) {
    self.multiplier = multiplier > 1.1 ? min(multiplier, 1e6) : 1.1
    self.maximumRefusal = maximumRefusal > 0 ? min(maximumRefusal, 1) : 0
    counts = RollingCounts(length: window)
  }

  /// The probability, 0...1, with which the next request is refused.
  public mutating func refusalProbability(at now: Timestamp) -> Double {
    let sums = counts.sums(at: now)
    let (wanted, accepted) = (Double(sums.first), Double(sums.second))
    return min(maximumRefusal, max(0, (wanted - multiplier * accepted) / (wanted + 1)))
  }

  /// Whether a request may be sent. If not, it counts as wanted.
  public mutating func admits(at now: Timestamp, using random: inout some RandomNumberGenerator) -> Bool {
    let isAdmitted = random.unitInterval() >= refusalProbability(at: now)
    if !isAdmitted { counts.count(.first, at: now) }
    return isAdmitted
  }

  /// Counts a request that was sent, at its end. One that says nothing about the target does not count.
  ///
  /// - Parameters:
  ///   - wasAccepted: Whether the target did the work, or said something about it.
  ///   - now: The time of its end.
  public mutating func record(wasAccepted: Bool, at now: Timestamp) {
    counts.count(.first, at: now)
    if wasAccepted { counts.count(.second, at: now) }
  }
}
