/// Comparisons of names that are ASCII and whose case does not matter.
enum ASCIIText {
  /// Whether a text is that name, whatever the case of its letters.
  ///
  /// - Parameter name: In lower case.
  static func equal(_ text: String, ignoringCase name: StaticString) -> Bool {
    // The length settles it nearly always.
    guard text.utf8.count == name.utf8CodeUnitCount else { return false }
    var at = name.utf8Start
    for byte in text.utf8 {
      guard (byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte) == at.pointee else { return false }
      at += 1
    }
    return true
  }
}
