/// A share of a count, in whole millionths, so that 57 % of 100 is 57 and not 56.
struct Share: Sendable, Hashable {
  let millionths: Int64

  /// A share within 0...`most`, rounded to the nearest millionth; 0 if it is not a number. `most` is 100 at most.
  init(_ share: Double, atMost most: Double) {
    let clamped = share > 0 ? min(share, most, 100) : 0
    millionths = Int64((clamped * 1_000_000).rounded())
  }

  /// The share of a count below 9 · 10^10, in millionths.
  func millionths(of count: Int64) -> Int64 {
    count * millionths
  }
}
