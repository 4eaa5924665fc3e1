/// Refuses, on this side, part of the requests to a target that refuses most of them.
///
/// A request is refused with probability p = max(0, (requests − K · accepts) / (requests + 1)), both counted over a
/// sliding window (Beyer et al., "Site Reliability Engineering", chapter 21 "Handling Overload", section "Client-Side
/// Throttling", with K = 2 over two minutes). So about K times as many reach an overloaded target as it accepts; and
/// since p is never 1, a few still reach one that accepts none, by which its recovery is noticed.
///
/// A request counts when its result is known: refused here, or answered. Requests in flight do not count, so that a
/// burst to an idle target does not look like a wave of refusals. An attempt that was cancelled, or failed on this
/// side, is not recorded at all. Nothing is allocated.
public struct AdaptiveThrottle: Sendable, Hashable {
  /// The range of ``multiplier``.
  public static let multipliers = 1.0...1000.0

  /// How many requests are let through for each accepted one, K: 1 refuses the most, higher values cost the target more
  /// and notice its recovery sooner.
  public let multiplier: Double

  /// The first count is all requests, the second the accepted ones.
  private var window: RollingCounts

  /// A throttle without requests, which refuses nothing.
  ///
  /// - Parameters:
  ///   - multiplier: K, clamped to ``multipliers``; 2 if it is not a number.
  ///   - window: The length of the window, 10 ms to a day, in ten steps.
  public init(multiplier: Double = 2, window: Duration = .seconds(120)) {
    let usable = multiplier.isNaN ? 2 : multiplier
    self.multiplier = min(max(usable, Self.multipliers.lowerBound), Self.multipliers.upperBound)
    self.window = RollingCounts(length: window)
  }

  /// Decides on one request. A refused one is counted at once; an admitted one must be followed by
  /// ``record(accepted:at:)``. A number is drawn only if the answer is not certain.
  public mutating func admits(at now: Timestamp, using random: inout some RandomNumberGenerator) -> Bool {
    let probability = rejectionProbability(at: now)
    guard probability > 0, random.unitInterval() < probability else { return true }
    window.count(.first, at: now)
    return false
  }

  /// Counts the response to an admitted request: whether the target accepted it, rather than refuse it for overload or
  /// fail.
  public mutating func record(accepted: Bool, at now: Timestamp) {
    window.count(.first, at: now)
    if accepted { window.count(.second, at: now) }
  }

  /// The probability, 0..<1, that a request at this time is refused.
  public func rejectionProbability(at now: Timestamp) -> Double {
    var window = window
    let sums = window.sums(at: now)
    let requests = Double(sums.first)
    return max(0, (requests - multiplier * Double(sums.second)) / (requests + 1))
  }
}
