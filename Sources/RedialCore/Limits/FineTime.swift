/// A time or a duration, in microseconds and a fraction of one, counted in equal parts of a microsecond.
///
/// A sum of two 64-bit numbers works like one of 128 bits, but also where there are none: `Int128` needs macOS 15. Sums
/// and differences saturate. Both operands use the same parts.
struct FineTime: Sendable, Hashable, Comparable {
  var microseconds: Int64
  /// Parts of a microsecond, 0 or more and fewer than a whole one.
  var parts: Int64 = 0

  static let earliest = FineTime(microseconds: .min)
  static let latest = FineTime(microseconds: .max)

  static func < (a: FineTime, b: FineTime) -> Bool {
    a.microseconds == b.microseconds ? a.parts < b.parts : a.microseconds < b.microseconds
  }

  /// The time later by a duration that is not negative.
  func adding(_ duration: FineTime, partsPerMicrosecond whole: Int64) -> FineTime {
    let parts = self.parts + duration.parts
    let carry: Int64 = parts >= whole ? 1 : 0
    let (sum, overflow) = microseconds.addingReportingOverflow(duration.microseconds)
    let (carried, overflowAgain) = sum.addingReportingOverflow(carry)
    return overflow || overflowAgain ? .latest : FineTime(microseconds: carried, parts: parts - carry * whole)
  }

  /// The time earlier by a duration that is not negative; the duration since an earlier time.
  func subtracting(_ duration: FineTime, partsPerMicrosecond whole: Int64) -> FineTime {
    let parts = self.parts - duration.parts
    let borrow: Int64 = parts < 0 ? 1 : 0
    let (difference, overflow) = microseconds.subtractingReportingOverflow(duration.microseconds)
    let (borrowed, overflowAgain) = difference.subtractingReportingOverflow(borrow)
    guard overflow || overflowAgain else { return FineTime(microseconds: borrowed, parts: parts + borrow * whole) }
    return duration.microseconds < 0 ? .latest : .earliest
  }

  /// Whole microseconds, rounded up.
  var roundedUp: Int64 {
    parts > 0 && microseconds < .max ? microseconds + 1 : microseconds
  }
}
