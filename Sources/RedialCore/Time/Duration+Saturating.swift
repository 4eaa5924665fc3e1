/// `Duration` traps if it is created from a number that it cannot hold (`.seconds(1e30)`, `.seconds(.infinity)`), so
/// every computed wait passes through here and is clamped before a `Duration` exists.
extension Duration {
  /// The longest duration in Redial: some 292 thousand years, the range of ``Timestamp``.
  public static let longest = Duration.microseconds(Int64.max)

  private static let shortest = Duration.microseconds(Int64.min)

  /// Whole microseconds, rounded toward zero and clamped to 64 bits.
  public var wholeMicroseconds: Int64 {
    // `components` divides 128 bits twice, and traps beyond 2^63 seconds; `attoseconds` needs macOS 15. Its halves are
    // there since there is `Duration`. The bound is half of 10^12, so the quotient is below 2^63.
    if (0..<500_000_000_000).contains(_high) {
      return Int64((1_000_000_000_000 as UInt64).dividingFullWidth((UInt64(_high), _low)).quotient)
    }
    guard self < .longest else { return .max }
    guard self > Self.shortest else { return .min }
    let (seconds, attoseconds) = components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }

  /// The difference in whole microseconds, clamped to 64 bits. The operator traps beyond 2^127 attoseconds.
  func subtracting(_ other: Duration) -> Duration {
    Timestamp(microseconds: wholeMicroseconds) - Timestamp(microseconds: other.wholeMicroseconds)
  }

  /// Seconds as a floating-point number.
  public var inSeconds: Double {
    Double(wholeMicroseconds) / 1_000_000
  }

  /// A duration of that many seconds, to the microsecond: 0 if it is negative or not a number, ``longest`` if it is too
  /// long.
  public init(clampingSeconds seconds: Double) {
    guard seconds > 0 else {
      self = .zero
      return
    }
    let microseconds = (seconds * 1_000_000).rounded()
    // 2^63 as a Double; everything below it converts exactly.
    self = microseconds < 9_223_372_036_854_775_808 ? .microseconds(Int64(microseconds)) : .longest
  }
}
