internal import CCrypto

/// Bytes that nobody can guess, from libcrypto.
enum RandomBytes {
  /// - Returns: Nil when the system has none to give.
  static func make(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return RAND_bytes(&bytes, Int32(count)) == 1 ? bytes : nil
  }
}
