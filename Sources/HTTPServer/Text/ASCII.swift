/// The byte classes of the HTTP grammar.
///
/// The 128-bit sets are written as two words with one bit per character, so a test is a shift and a mask.
enum ASCII {
  static let tab: UInt8 = 0x09
  static let lineFeed: UInt8 = 0x0A
  static let carriageReturn: UInt8 = 0x0D
  static let space: UInt8 = 0x20
  static let comma: UInt8 = 0x2C
  static let slash: UInt8 = 0x2F
  static let colon: UInt8 = 0x3A
  static let semicolon: UInt8 = 0x3B
  static let questionMark: UInt8 = 0x3F

  /// A `tchar` of RFC 9110 section 5.6.2.
  @inline(__always)
  static func isToken(_ byte: UInt8) -> Bool {
    contains(byte, low: 0x03ff_6cfa_0000_0000, high: 0x57ff_ffff_c7ff_fffe)
  }

  /// A byte of `uri-host [":" port]`, RFC 3986 section 3.2.2. The comma is excluded, because a recipient that joins
  /// repeated fields would produce one.
  @inline(__always)
  static func isHost(_ byte: UInt8) -> Bool {
    contains(byte, low: 0x2fff_6ff2_0000_0000, high: 0x47ff_fffe_afff_fffe)
  }

  @inline(__always)
  private static func contains(_ byte: UInt8, low: UInt64, high: UInt64) -> Bool {
    guard byte < 128 else { return false }
    return ((byte < 64 ? low : high) &>> UInt64(byte & 63)) & 1 != 0
  }

  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  @inline(__always)
  static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

  /// A byte that a field value may contain, RFC 9110 section 5.5.
  @inline(__always)
  static func isFieldValue(_ byte: UInt8) -> Bool { (byte >= 0x20 && byte != 0x7F) || byte == tab }

  @inline(__always)
  static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

  /// The value of a hexadecimal digit, or nil.
  @inline(__always)
  static func hexadecimalValue(_ byte: UInt8) -> Int? {
    if isDigit(byte) { return Int(byte &- 0x30) }
    let letter = (byte | 0x20) &- 0x61
    return letter < 6 ? Int(letter) + 10 : nil
  }

  /// Whether `count` bytes at `bytes` spell `lowercase`, whatever their case.
  @inline(__always)
  static func equal(_ bytes: UnsafePointer<UInt8>, _ count: Int, _ lowercase: StaticString) -> Bool {
    guard count == lowercase.utf8CodeUnitCount else { return false }
    let expected = lowercase.utf8Start
    for index in 0..<count where lowercased(bytes[index]) != expected[index] { return false }
    return true
  }
}
