internal import CCrypto

/// SHA-256 (FIPS 180-4), by libcrypto.
enum SHA256Digest {
  /// The number of bytes of a digest.
  static let length = 32

  /// The digest of a text, of ``length`` bytes.
  static func of(_ text: UnsafeRawBufferPointer) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    EVP_Digest(text.baseAddress, text.count, &digest, &length, EVP_sha256(), nil)
    return Array(digest.prefix(Int(length)))
  }

  /// HMAC-SHA256 (RFC 2104) of a message; 32 bytes.
  static func authentication(of message: [UInt8], _ key: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &digest, &length)
    return Array(digest.prefix(Int(length)))
  }
}
