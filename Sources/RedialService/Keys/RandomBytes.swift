internal import CCrypto

/// Random bytes for secrets, from libcrypto.
enum RandomBytes {
  /// - Returns: Nil if the system provides none.
  static func make(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return RAND_bytes(&bytes, Int32(count)) == 1 ? bytes : nil
  }
}
