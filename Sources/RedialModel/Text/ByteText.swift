/// Bytes of other programs as text for people.
public enum ByteText {
  /// The text in UTF-8, or if the bytes are not that, in ISO-8859-1: a character for each byte.
  public static func decoded(_ bytes: some Collection<UInt8>) -> (text: String, isLatin1: Bool) {
    if let text = String(validating: bytes, as: UTF8.self) { return (text, false) }
    return (latin1(bytes), true)
  }

  /// The text in ISO-8859-1.
  static func latin1(_ bytes: some Collection<UInt8>) -> String {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
    return String(text)
  }

  /// The first bytes of a text in UTF-8; nil if they are not such.
  ///
  /// - Parameter mayEndEarly: Whether the text goes on, so that its last character may be incomplete, and is left out.
  static func leading(_ bytes: [UInt8], mayEndEarly: Bool) -> String? {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    guard mayEndEarly, let start = bytes.suffix(3).lastIndex(where: { $0 >= 0xC0 }) else { return nil }
    let rest = bytes[start...]
    // By its first byte a character has up to four; the second one has bounds of its own (Unicode, table 3-7).
    let isIncomplete = [UInt8(0x80), 0x90, 0xA0].contains { second in
      (1...3).contains { missing in
        let added = [second] + Array(repeating: 0x80, count: missing - 1)
        return rest.count + missing <= 4 && String(validating: rest + added, as: UTF8.self)?.unicodeScalars.count == 1
      }
    }
    return isIncomplete ? String(validating: bytes[..<start], as: UTF8.self) : nil
  }
}
