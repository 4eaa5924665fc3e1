/// An instant or a span, in microseconds and a fraction of one: some parts of so many that make a microsecond.
///
/// A sum of two 64-bit numbers does what one of 128 bits would, but runs where there are none: `Int128` needs macOS 15.
/// Sums and differences saturate. Both operands count in the same parts.
struct FineTime: Sendable, Hashable, Comparable {
  var microseconds: Int64
  /// Parts of a microsecond, 0 or more and fewer than make a whole one.
  var parts: Int64 = 0

  static let earliest = FineTime(microseconds: .min)
  static let latest = FineTime(microseconds: .max)

  static func < (a: FineTime, b: FineTime) -> Bool {
    a.microseconds == b.microseconds ? a.parts < b.parts : a.microseconds < b.microseconds
  }

  /// The instant later by a span that is not negative.
  func adding(_ span: FineTime, partsPerMicrosecond whole: Int64) -> FineTime {
    let parts = self.parts + span.parts
    let carry: Int64 = parts >= whole ? 1 : 0
    let (sum, overflow) = microseconds.addingReportingOverflow(span.microseconds)
    let (carried, overflowAgain) = sum.addingReportingOverflow(carry)
    return overflow || overflowAgain ? .latest : FineTime(microseconds: carried, parts: parts - carry * whole)
  }

  /// The instant earlier by a span that is not negative; the span since an earlier instant.
  func subtracting(_ span: FineTime, partsPerMicrosecond whole: Int64) -> FineTime {
    let parts = self.parts - span.parts
    let borrow: Int64 = parts < 0 ? 1 : 0
    let (difference, overflow) = microseconds.subtractingReportingOverflow(span.microseconds)
    let (borrowed, overflowAgain) = difference.subtractingReportingOverflow(borrow)
    guard overflow || overflowAgain else { return FineTime(microseconds: borrowed, parts: parts + borrow * whole) }
    return span.microseconds < 0 ? .latest : .earliest
  }

  /// Whole microseconds, no fewer than these.
  var roundedUp: Int64 {
    parts > 0 && microseconds < .max ? microseconds + 1 : microseconds
  }
}
