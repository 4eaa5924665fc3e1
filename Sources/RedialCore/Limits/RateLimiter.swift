/// Spaces requests at a steady rate, with bursts up to a bound: the generic cell rate algorithm, in its form of
/// virtual scheduling (ITU-T Recommendation I.371, annex A).
///
/// Over any span of time t it permits at most `burst` + rate · t, with t good to the microsecond that the clock
/// resolves. All its state is one number, the theoretical arrival time of the next request. That is kept in fractions
/// of a microsecond, one over the number of permits, and a request that comes within a microsecond after it counts as
/// punctual, so that three per second are three per second for ever. Nothing is allocated.
///
/// If the clock steps back, nobody waits longer than an emptied burst takes to fill.
public struct RateLimiter: Sendable, Hashable {
  /// The answer to a request for permission.
  public enum Admission: Sendable, Hashable {
    /// It may go.
    case permitted
    /// It may go at this time at the earliest, if nothing else goes first; ``Timestamp/distantFuture`` when it never
    /// may, being larger than the burst.
    case rejected(until: Timestamp)
  }

  /// The most that ``permits`` and ``burst`` can be.
  public static let most = 1_000_000_000

  /// How many requests are permitted per ``period``, 1...``most``.
  public let permits: Int
  /// The span that ``permits`` are spread over, 1 µs or more.
  public let period: Duration
  /// How many requests may come at once after a pause, 1...``most``.
  public let burst: Int

  /// The theoretical arrival time, in units of a microsecond / ``permits``. 30 bits for the permits and 64 for the
  /// time leave room for every sum below.
  private var arrival = Int128.min
  /// Between two requests at the full rate, in the same units: the period, in microseconds.
  private let interval: Int128

  /// A limiter whose burst is unused. What is out of range is clamped.
  public init(permits: Int, per period: Duration = .seconds(1), burst: Int = 1) {
    let microseconds = max(1, period.wholeMicroseconds)
    self.permits = min(max(1, permits), Self.most)
    self.period = .microseconds(microseconds)
    self.burst = min(max(1, burst), Self.most)
    interval = Int128(microseconds)
  }

  /// Asks whether `cost` requests may go now, together, and counts them if they may. A cost below 1 is free.
  public mutating func acquire(_ cost: Int = 1, at now: Timestamp) -> Admission {
    guard cost > 0 else { return .permitted }
    let admission = peek(cost, at: now)
    // Kept after a refusal too, so that time passes for a clock that stepped back.
    arrival = scheduled(at: now)
    if admission == .permitted { arrival += Int128(cost) * interval }
    return admission
  }

  /// What ``acquire(_:at:)`` would say, without counting anything.
  public func peek(_ cost: Int = 1, at now: Timestamp) -> Admission {
    guard cost > 0 else { return .permitted }
    guard cost <= burst else { return .rejected(until: .distantFuture) }
    let earliest = scheduled(at: now) - Int128(burst - cost) * interval
    return earliest <= units(now) ? .permitted : .rejected(until: timestamp(roundingUp: earliest))
  }

  /// How many requests could go at once now, 0...``burst``.
  public func available(at now: Timestamp) -> Int {
    min(burst, Int((units(now) + Int128(burst) * interval - scheduled(at: now)) / interval))
  }

  /// The theoretical arrival time of a request that comes now: not before now, save what the clock does not resolve,
  /// and no later than a whole burst can have pushed it, unless the clock stepped back.
  private func scheduled(at now: Timestamp) -> Int128 {
    let present = units(now)
    let isRecent = arrival > present - Int128(permits)
    return min(isRecent ? arrival : present, present + Int128(burst) * interval)
  }

  private func units(_ time: Timestamp) -> Int128 {
    Int128(time.microseconds) * Int128(permits)
  }

  private func timestamp(roundingUp units: Int128) -> Timestamp {
    let (quotient, remainder) = units.quotientAndRemainder(dividingBy: Int128(permits))
    return Timestamp(microseconds: Int64(clamping: remainder > 0 ? quotient + 1 : quotient))
  }
}
