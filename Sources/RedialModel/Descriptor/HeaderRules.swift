/// Which header fields a client may give its call.
enum HeaderRules {
  static let maximumCount = 100
  static let maximumBytes = 16 * 1024

  /// What is wrong with a field name; nil if it is valid.
  ///
  /// - Parameter isAccepted: Whether the call was accepted before. Earlier versions accepted the fields with the
  ///   attempt's ids; they are left out when the attempt is made.
  static func fault(inName name: String, isAccepted: Bool = false) -> String? {
    ASCIIText.withBytes(of: name) { name in
      guard isToken(name) else { return "is not a header field name" }
      return isForbidden(name) || !isAccepted && namesAttempt(name) ? "is set by Redial and cannot be given" : nil
    }
  }

  /// Whether Redial itself sets this field to identify the call and the attempt.
  private static func namesAttempt(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    name.count == 14
      && (ASCIIText.equal(name, ignoringCase: "redial-call-id")
        || ASCIIText.equal(name, ignoringCase: "redial-attempt"))
      || name.count == 11 && ASCIIText.equal(name, ignoringCase: "redial-hops")
  }

  /// Whether the field belongs to the connection or to the framing of the message, which libcurl handles (RFC 9110
  /// §7.6.1, RFC 9112 §6).
  private static func isForbidden(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    func isNamed(_ wanted: StaticString) -> Bool { ASCIIText.equal(name, ignoringCase: wanted) }
    return switch name.count {
    case 2: isNamed("te")
    case 6: isNamed("expect")
    case 7: isNamed("trailer") || isNamed("upgrade")
    case 10: isNamed("connection") || isNamed("keep-alive")
    case 14: isNamed("content-length")
    case 16: isNamed("proxy-connection")
    case 17: isNamed("transfer-encoding")
    case 19: isNamed("proxy-authorization")
    default: false
    }
  }

  /// What is wrong with a field value; nil if it is valid (RFC 9110 §5.5).
  static func fault(inValue value: String) -> String? {
    ASCIIText.withBytes(of: value) { bytes in
      // A tab is allowed within a value, but few have one.
      let mayBeFaulty = ASCIIText.anyMarked(bytes) {
        ASCIIText.marks(of: $0, below: 0x20) | ASCIIText.marks(of: $0, equalTo: 0x7F)
      }
      if mayBeFaulty, !bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) {
        return "has a control character in it"
      }
      guard let first = bytes.first, let last = bytes.last else { return nil }
      return isBlank(first) || isBlank(last) ? "starts or ends with white space" : nil
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// Whether the text is a token (RFC 9110 §5.6.2).
  static func isToken(_ text: String) -> Bool { ASCIIText.withBytes(of: text) { isToken($0) } }

  private static func isToken(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    for byte in bytes where !isTokenByte(byte) { return false }
    return !bytes.isEmpty
  }

  @inline(__always)
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    // Letters and digits, and `!#$%&'*+-.^_`|~`: two words with one bit per character.
    guard byte < 128 else { return false }
    let set: UInt64 = byte < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
    return set &>> UInt64(byte & 63) & 1 != 0
  }
}
