/// Spaces requests at a steady rate, with limited bursts: the generic cell rate algorithm, in its form of virtual
/// scheduling (ITU-T Recommendation I.371, annex A).
///
/// Over any span of time t it permits at most `burst` + rate · t, with t good to the microsecond that the clock
/// resolves. Its state is the theoretical arrival time of the next request. That is kept in fractions of a microsecond,
/// one over the number of permits, and a request that comes within a microsecond after it counts as punctual, so that
/// three per second are three per second forever. Nothing is allocated.
///
/// If the clock steps back, nobody waits longer than an empty burst takes to fill, or than the longest open
/// reservation.
public struct RateLimiter: Sendable, Hashable {
  /// The answer to a request for permission.
  public enum Admission: Sendable, Hashable {
    /// It may go.
    case permitted
    /// It may go at this time at the earliest, if nothing else goes first; ``Timestamp/distantFuture`` if it never may,
    /// because it is larger than the burst.
    case rejected(until: Timestamp)
  }

  /// The maximum of ``permits`` and ``burst``.
  public static let most = 1_000_000_000

  /// How many requests are permitted per ``period``, 1...``most``.
  public let permits: Int
  /// The period over which ``permits`` are spread, 1 µs or more.
  public let period: Duration
  /// How many requests may come at once after a pause, 1...``most``.
  public let burst: Int

  /// The theoretical arrival time, to one part in ``permits`` of a microsecond.
  private var arrival = FineTime.earliest
  /// How far ahead of now the arrival can lie: by a whole burst, or by the reserved time.
  private var lead: FineTime
  /// How long a whole burst takes to fill.
  private let burstDuration: FineTime

  /// A limiter with its full burst. Values out of range are clamped.
  public init(permits: Int, per period: Duration = .seconds(1), burst: Int = 1) {
    let microseconds = max(1, period.wholeMicroseconds)
    self.permits = min(max(1, permits), Self.most)
    self.period = .microseconds(microseconds)
    self.burst = min(max(1, burst), Self.most)
    burstDuration = Self.duration(of: self.burst, permits: self.permits, periodMicroseconds: microseconds)
    lead = burstDuration
  }

  /// Asks whether `cost` requests may go now, together, and counts them if they may. A cost below 1 is free.
  public mutating func acquire(_ cost: Int = 1, at now: Timestamp) -> Admission {
    guard cost > 0 else { return .permitted }
    let admission = peek(cost, at: now)
    // Also kept after a refusal, so that time passes for a clock that stepped back.
    arrival = scheduled(at: now)
    if admission == .permitted {
      arrival = adding(arrival, duration(of: cost))
      lead = burstDuration
    }
    return admission
  }

  /// Counts `cost` requests now, and says how long to wait until they may go: zero where ``acquire(_:at:)`` would permit
  /// them. Whoever reserves goes after that wait without asking again, and all who ask later come after.
  ///
  /// ```swift
  /// var limiter = RateLimiter(permits: 10, burst: 1)
  /// limiter.reserve(at: .epoch, within: .seconds(5)) ?? .zero  // → 0.0 seconds
  /// // The next caller sleeps for this long, and then makes its request.
  /// limiter.reserve(at: .epoch, within: .seconds(5)) ?? .zero  // → 0.1 seconds
  /// ```
  ///
  /// - Parameters:
  ///   - cost: How many requests go together; below 1 it is free.
  ///   - now: The time.
  ///   - longest: The maximum wait that the caller accepts.
  /// - Returns: The wait, rounded up to a microsecond; nil if it would be longer than `longest`, or if the cost is
  ///   larger than the burst. Then nothing has been counted.
  public mutating func reserve(
    _ cost: Int = 1, at now: Timestamp, within longest: Duration = .longest
  ) -> Duration? {
    guard cost > 0 else { return .zero }
    guard cost <= burst else { return nil }
    let first = scheduled(at: now)
    let earliest = Timestamp(microseconds: subtracting(first, duration(of: burst - cost)).roundedUp)
    let wait = max(.zero, earliest - now)
    let next = adding(first, duration(of: cost))
    guard wait <= longest, next < .latest else { return nil }
    arrival = next
    lead = max(burstDuration, subtracting(arrival, FineTime(microseconds: now.microseconds)))
    return wait
  }

  /// The result that ``acquire(_:at:)`` would have, without counting anything.
  public func peek(_ cost: Int = 1, at now: Timestamp) -> Admission {
    guard cost > 0 else { return .permitted }
    guard cost <= burst else { return .rejected(until: .distantFuture) }
    let earliest = subtracting(scheduled(at: now), duration(of: burst - cost))
    return earliest <= FineTime(microseconds: now.microseconds)
      ? .permitted : .rejected(until: Timestamp(microseconds: earliest.roundedUp))
  }

  /// How many requests could go at once now, 0...``burst``.
  ///
  /// - Complexity: O(log ``burst``).
  public func available(at now: Timestamp) -> Int {
    let present = FineTime(microseconds: now.microseconds)
    let scheduled = scheduled(at: now)
    guard scheduled > present else { return burst }
    // The maximum that can go at once, by bisection: zero always can, and the whole burst cannot.
    var (some, tooMany) = (0, burst)
    while tooMany - some > 1 {
      let middle = (some + tooMany) / 2
      if subtracting(scheduled, duration(of: burst - middle)) <= present { some = middle } else { tooMany = middle }
    }
    return some
  }

  /// The theoretical arrival time of a request that arrives now: not before now, except for what the clock does not
  /// resolve, and no later than a whole burst and the reservations can have moved it, unless the clock stepped back.
  private func scheduled(at now: Timestamp) -> FineTime {
    let present = FineTime(microseconds: now.microseconds)
    let isRecent = arrival > subtracting(present, FineTime(microseconds: 1))
    return min(isRecent ? arrival : present, adding(present, lead))
  }

  private func adding(_ time: FineTime, _ duration: FineTime) -> FineTime {
    time.adding(duration, partsPerMicrosecond: Int64(permits))
  }

  private func subtracting(_ time: FineTime, _ duration: FineTime) -> FineTime {
    time.subtracting(duration, partsPerMicrosecond: Int64(permits))
  }

  /// How long that many requests take at the full rate; 0 or more, and no more than the burst.
  private func duration(of count: Int) -> FineTime {
    if count == 0 { return FineTime(microseconds: 0) }
    return count == burst
      ? burstDuration : Self.duration(of: count, permits: permits, periodMicroseconds: period.wholeMicroseconds)
  }

  /// `count · period / permits`, with 30 bits for the count and the permits: no product of two remainders overflows.
  private static func duration(of count: Int, permits: Int, periodMicroseconds period: Int64) -> FineTime {
    let (count, permits) = (Int64(count), Int64(permits))
    let (each, rest) = period.quotientAndRemainder(dividingBy: permits)
    let (more, parts) = (count * rest).quotientAndRemainder(dividingBy: permits)
    let (whole, overflow) = each.multipliedReportingOverflow(by: count)
    let (sum, overflowAgain) = whole.addingReportingOverflow(more)
    return overflow || overflowAgain ? .latest : FineTime(microseconds: sum, parts: parts)
  }
}
