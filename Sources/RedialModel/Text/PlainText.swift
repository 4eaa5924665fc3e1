/// Text of other authors, made safe for a terminal or a log.
///
/// A target chooses its header and its body, and clients choose targets, labels, names and reasons. Shown unchanged
/// they could move the cursor, overwrite the screen, set the window's title, change the order of text, or hide a part
/// of it.
public enum PlainText {
  /// The text with `\u001b` and the like in place of each scalar that a terminal acts on or does not show: the control
  /// characters C0, DEL and C1, the separators of lines and paragraphs, and formatting characters, which set the
  /// direction of text or have no width. One beyond U+FFFF is written as in JSON, in two halves.
  ///
  /// Add styles after it. The result is one line unless `keepsLines` keeps line feeds and tabs. A backslash stays
  /// unchanged, so that paths and JSON remain readable. JSON keeps its meaning: such scalars occur only in its strings.
  public static func escaped(_ text: String, keepsLines: Bool = false) -> String {
    guard text.unicodeScalars.contains(where: { isActive($0, keepsLines) }) else { return text }
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      guard isActive(scalar, keepsLines) else {
        escaped.append(scalar)
        continue
      }
      for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
        let digits = String(unit, radix: 16)
        escaped += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars
      }
    }
    return String(escaped)
  }

  /// Whether ``escaped(_:keepsLines:)`` would replace anything in a text.
  public static func needsEscapes(_ text: String) -> Bool {
    text.unicodeScalars.contains { isActive($0, false) }
  }

  /// Whether a text has a control character (C0, DEL, C1), a separator of lines or paragraphs, or one that changes the
  /// direction of text. Joiners, which words of several scripts need, do not count.
  public static func hasControls(_ text: String) -> Bool {
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return false }
    return text.unicodeScalars.contains { isControl($0) }
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0...0x1F, 0x7F...0x9F: true
    // Marks, embeddings, overrides and isolates of direction, and the two separators between them.
    case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  private static func isActive(_ scalar: Unicode.Scalar, _ keepsLines: Bool) -> Bool {
    if scalar == "\n" || scalar == "\t" { return !keepsLines }
    if scalar.value < 0xA0 { return isControl(scalar) }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: return true
    // Fillers and selectors without a width, whose category is letter or mark (Unicode, DerivedCoreProperties).
    default: return scalar.properties.isDefaultIgnorableCodePoint
    }
  }
}
