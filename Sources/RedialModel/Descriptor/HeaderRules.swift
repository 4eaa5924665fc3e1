/// Which header fields a client may put on its call.
enum HeaderRules {
  static let maximumCount = 100
  static let maximumBytes = 16 * 1024

  /// Fields that belong to the connection or to the framing of the message, which libcurl looks after
  /// (RFC 9110 §7.6.1, RFC 9112 §6).
  private static let forbidden: [StaticString] = [
    "connection", "content-length", "expect", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade",
  ]

  /// What is wrong with a field name; nil when nothing is.
  static func fault(inName name: String) -> String? {
    guard isToken(name) else { return "is not a header field name" }
    guard !forbidden.contains(where: { ASCIIText.equal(name, ignoringCase: $0) }) else {
      return "is set by Redial and cannot be given"
    }
    return nil
  }

  /// What is wrong with a field value; nil when nothing is (RFC 9110 §5.5).
  static func fault(inValue value: String) -> String? {
    let bytes = value.utf8
    let isClean =
      bytes.withContiguousStorageIfAvailable { Self.lacksControls($0) }
      ?? bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    guard isClean else { return "has a control character in it" }
    guard bytes.first != 0x20, bytes.first != 0x09, bytes.last != 0x20, bytes.last != 0x09 else {
      return "starts or ends with white space"
    }
    return nil
  }

  private static func lacksControls(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    for byte in bytes where byte < 0x20 && byte != 0x09 || byte == 0x7F { return false }
    return true
  }

  /// Whether the text is a token (RFC 9110 §5.6.2).
  static func isToken(_ text: String) -> Bool {
    guard !text.isEmpty else { return false }
    let isToken = text.utf8.withContiguousStorageIfAvailable { bytes in
      for byte in bytes where !isTokenByte(byte) { return false }
      return true
    }
    return isToken ?? text.utf8.allSatisfy { isTokenByte($0) }
  }

  @inline(__always)
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
    default: false
    }
  }
}
