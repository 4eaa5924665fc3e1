/// Text that others wrote, as it may be shown at a terminal.
///
/// A target chooses its header and its body, and whoever may submit calls chooses labels, names and reasons. Shown as they
/// are they could move the cursor, rewrite what stands there, set the window's title, or let text read in another order
/// than it has.
enum PlainText {
  /// The text with each scalar in its place that a terminal would act on, as `\u001b`: the control characters C0, DEL and
  /// C1, the separators of lines and paragraphs, and what says in which direction text runs.
  ///
  /// Styles are added behind it. What is left is one line unless `keepsLines` lets line feeds and tabs stay. A backslash
  /// stays as it is, so that paths and JSON can be read.
  static func escaped(_ text: String, keepsLines: Bool = false) -> String {
    guard text.unicodeScalars.contains(where: { isActive($0, keepsLines) }) else { return text }
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      guard isActive(scalar, keepsLines) else {
        escaped.append(scalar)
        continue
      }
      let digits = String(scalar.value, radix: 16)
      escaped += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars
    }
    return String(escaped)
  }

  private static func isActive(_ scalar: Unicode.Scalar, _ keepsLines: Bool) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A: !keepsLines
    case 0...0x1F, 0x7F...0x9F: true
    // Marks, embeddings, overrides and isolates of direction, and the two separators between them.
    case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

extension JSONValue {
  /// The text, to be shown to people on one line.
  var shown: String? { text.map { PlainText.escaped($0) } }
}
