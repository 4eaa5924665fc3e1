/// Nonces that are used once: 64 random bits, and a count of 32.
///
/// A nonce of 96 random bits may be used 2^32 times with a key (NIST SP 800-38D, 8.3), which is a day of a busy service. Here
/// two nonces can only be the same if two of the random parts are. There is one for each process, and one for each 2^32 values;
/// of a million of them, two are the same with a probability of 2^-25.
struct Nonces {
  private var prefix = SealingBytes.random(8)
  private var next: UInt32 = 0

  /// The first of so many nonces; the others differ from it in their last four bytes, which count up.
  mutating func take(_ count: Int) -> [UInt8] {
    if UInt32.max - next < UInt32(count) {
      prefix = SealingBytes.random(8)
      next = 0
    }
    defer { next += UInt32(count) }
    return prefix + (0..<4).map { UInt8(truncatingIfNeeded: next >> UInt32(24 - 8 * $0)) }
  }
}
