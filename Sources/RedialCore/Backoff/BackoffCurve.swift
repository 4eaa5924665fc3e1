/// How the base of a backoff grows with the retries. `i` counts them from 0.
public enum BackoffCurve: Sendable, Hashable {
  /// `b`
  case constant(Duration)
  /// `b + i·increment`; `b·(i + 1)` when both are the same.
  case linear(initial: Duration, increment: Duration)
  /// `b·m^i`; a multiplier below 1 counts as 1.
  case exponential(initial: Duration, multiplier: Double = 1.5)
  /// `offset + unit·(i + first)^p`, with `first` 1 in the textbooks and in River, 0 in Sidekiq.
  case polynomial(unit: Duration, exponent: Double, offset: Duration = .zero, first: Int = 1)
  /// `b·F(i + 1)`: 1, 1, 2, 3, 5 times the initial wait.
  case fibonacci(initial: Duration)
  /// `b^(i + 1)` with `b` in seconds, as in CircuitBreaker; it does not grow when `b` is a second or less.
  case power(base: Duration)
  /// `b·2^i` for a number of doublings, then another `b·2^doublings` each time (Google Cloud Tasks).
  case doublingsThenLinear(initial: Duration, doublings: Int)
  /// The waits of a list; after them the last repeats, or the schedule ends.
  case schedule([Duration], then: AfterSchedule)
  /// `s ← min(cap, uniform[b, 3s])`, each wait drawn from the one before (AWS Architecture Blog, 2015).
  case decorrelated(base: Duration)
  /// Polly's decorrelated jitter V2: exponential growth by 2 from a median first wait, spread smoothly, without peaks.
  case decorrelatedSmooth(median: Duration)

  /// What follows the waits of a schedule.
  public enum AfterSchedule: UInt8, Sendable, Hashable, CaseIterable {
    /// The last wait, again and again.
    case repeatLast
    /// No retry.
    case stop
  }

  /// The scaling factor of the smooth curve, which makes the median of its first wait the requested one
  /// (Polly.Contrib.WaitAndRetry: 1 / 1.4).
  static let smoothScale = 1.4

  /// `2^t·tanh(√4t)`
  static func smoothSum(_ t: Double) -> Double {
    Elementary.exp2(t) * Elementary.tanh((4 * t).squareRoot())
  }

  /// The base before retry `retry` in seconds, without any cap; never negative, never NaN, maybe infinite. Nil when a
  /// schedule has ended.
  func seconds(beforeRetry retry: Int) -> Double? {
    let i = Double(retry)
    return switch self {
    case .constant(let wait): Self.positive(wait)
    case .linear(let initial, let increment): Self.positive(initial) + Self.positive(increment) * i
    case .exponential(let initial, let multiplier):
      // A multiplier that is not a number counts as 1, too.
      Self.times(Self.positive(initial), Elementary.power(multiplier > 1 ? multiplier : 1, retry))
    case .polynomial(let unit, let exponent, let offset, let first):
      Self.positive(offset) + Self.times(Self.positive(unit), Self.raised(i + Double(max(0, first)), exponent))
    case .fibonacci(let initial): Self.times(Self.positive(initial), Self.fibonacci(retry))
    case .power(let base): Elementary.power(Self.positive(base), i + 1)
    case .doublingsThenLinear(let initial, let doublings):
      if retry <= max(0, doublings) {
        Self.times(Self.positive(initial), Elementary.power(2, retry))
      } else {
        Self.times(Self.positive(initial), Elementary.power(2, max(0, doublings)) * (i - Double(max(0, doublings)) + 1))
      }
    case .schedule(let waits, let then):
      if retry < waits.count {
        Self.positive(waits[retry])
      } else {
        then == .repeatLast ? waits.last.map(Self.positive) : nil
      }
    case .decorrelated(let base): Self.positive(base)
    case .decorrelatedSmooth: 0
    }
  }

  private static func positive(_ wait: Duration) -> Double { max(0, wait.inSeconds) }

  /// A product in which zero times infinity is zero.
  private static func times(_ a: Double, _ b: Double) -> Double { a == 0 || b == 0 ? 0 : a * b }

  private static func raised(_ x: Double, _ exponent: Double) -> Double {
    guard x > 0 else { return exponent > 0 ? 0 : 1 }
    // An exponent that is negative or not a number counts as 0.
    return exponent > 0 ? Elementary.power(x, exponent) : 1
  }

  /// F(i + 1), infinite where a Double overflows.
  private static func fibonacci(_ retry: Int) -> Double {
    var (current, next) = (1.0, 1.0)
    for _ in 0..<min(retry, 1480) { (current, next) = (next, current + next) }
    return current
  }
}
