/// Percent-encoding (RFC 3986 §2.1).
package enum PercentCoding {
  /// A text as a part of a URL: everything is encoded but what is unreserved (§2.3).
  package static func encode(_ text: String) -> String {
    encode(text.utf8) { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
      default: false
      }
    }
  }

  /// The bytes of a URL, with those outside ASCII encoded as they are, whatever characters they mean (§2.5): so its origin
  /// gets back the bytes that it has sent.
  package static func asciiURL(_ bytes: some Sequence<UInt8>) -> String { encode(bytes) { $0 < 0x80 } }

  private static func encode(_ bytes: some Sequence<UInt8>, except isPlain: (UInt8) -> Bool) -> String {
    let digits: StaticString = "0123456789ABCDEF"
    var encoded: [UInt8] = []
    for byte in bytes {
      if isPlain(byte) {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), digits.utf8Start[Int(byte >> 4)], digits.utf8Start[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// The text that was encoded; nil for a `%` without two hex digits, or bytes that are not UTF-8.
  package static func decode(_ text: Substring) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst(), let low = rest.popFirst(), let byte = self.byte(high, low) else { return nil }
      bytes.append(byte)
    }
    // Bytes that are not UTF-8 are repaired, and then say something else.
    let decoded = String(decoding: bytes, as: UTF8.self)
    return decoded.utf8.elementsEqual(bytes) ? decoded : nil
  }

  /// The byte that two hex digits say; nil where they are none.
  package static func byte(_ high: UInt8, _ low: UInt8) -> UInt8? {
    guard let high = digit(high), let low = digit(low) else { return nil }
    return high << 4 | low
  }

  private static func digit(_ character: UInt8) -> UInt8? {
    switch character {
    case 0x30...0x39: character - 0x30
    case 0x41...0x46, 0x61...0x66: (character | 0x20) - 0x57
    default: nil
    }
  }
}
