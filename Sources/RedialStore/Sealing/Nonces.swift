/// Nonces that are used once: 64 random bits, and a count of 32.
///
/// A nonce of 96 random bits may be used 2^32 times with a key (NIST SP 800-38D, 8.3), which is a day of a busy service. Here
/// two nonces can only be the same if two of the random parts are. There is one for each process, and one for each 2^32 values;
/// of a million of them, two are the same with a probability of 2^-25.
struct Nonces {
  private var prefix = Self.random()
  private var next: UInt32 = 0

  /// The first of so many nonces; the others have the counts that follow.
  mutating func take(_ count: Int) -> Nonce {
    if UInt32.max - next < UInt32(count) {
      prefix = Self.random()
      next = 0
    }
    defer { next += UInt32(count) }
    return Nonce(prefix: prefix, count: next)
  }

  private static func random() -> UInt64 { SealingBytes.random(8).reduce(0) { $0 << 8 | UInt64($1) } }
}

/// The 96 bits that are used once with a key.
struct Nonce {
  var prefix: UInt64
  var count: UInt32

  /// A nonce of random bits, for a key that seals few values.
  static func random() -> Nonce {
    var nonces = Nonces()
    var nonce = nonces.take(1)
    nonce.count = SealingBytes.random(4).reduce(0) { $0 << 8 | UInt32($1) }
    return nonce
  }

  /// Writes its 12 bytes.
  func store(to bytes: UnsafeMutableRawPointer) {
    bytes.storeBytes(of: prefix.bigEndian, as: UInt64.self)
    bytes.storeBytes(of: count.bigEndian, toByteOffset: 8, as: UInt32.self)
  }
}
