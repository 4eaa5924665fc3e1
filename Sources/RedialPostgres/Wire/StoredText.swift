/// Text as PostgreSQL stores it. Its texts cannot contain U+0000, and clients may send one, for example in a label.
///
/// U+0000 becomes U+F8FF followed by `0`, and U+F8FF itself, of the private use area, becomes two of them. All other
/// text is stored as it is.
enum StoredText {
  private static let mark: Unicode.Scalar = "\u{F8FF}"

  /// The UTF-8 of a text in its stored form.
  static func encoded(_ text: String) -> [UInt8] {
    // The first byte of the mark is rare, too.
    guard text.utf8.contains(where: { $0 == 0 || $0 == 0xEF }) else { return Array(text.utf8) }
    var stored = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\0": stored += [mark, "0"]
      case mark: stored += [mark, mark]
      default: stored.append(scalar)
      }
    }
    return Array(String(stored).utf8)
  }

  /// The stored form of a text in UTF-8.
  static func encoded(_ text: [UInt8]) -> [UInt8] {
    guard text.contains(where: { $0 == 0 || $0 == 0xEF }) else { return text }
    return encoded(String(decoding: text, as: UTF8.self))
  }

  /// The text that was stored.
  static func decoded(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    guard bytes.contains(0xEF) else { return text }
    var original = String.UnicodeScalarView()
    var isMarked = false
    for scalar in text.unicodeScalars {
      if isMarked {
        original.append(scalar == "0" ? "\0" : scalar)
        isMarked = false
      } else if scalar == mark {
        isMarked = true
      } else {
        original.append(scalar)
      }
    }
    return String(original)
  }
}
