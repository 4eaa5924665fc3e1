// The standard library normalizes text to compare strings, but has no public function for it.
@_spi(_Unicode) internal import Swift

/// Whether equal texts have equal bytes.
public enum NormalForm {
  /// Whether a text is in the normalization form C of Unicode (UAX #15), like nearly all text.
  ///
  /// Swift's strings are equal if they are canonically equivalent; SQLite compares bytes. So a name that calls share,
  /// and that is looked up in memory and in the store, must have one form, or it would be one name here and two there.
  public static func isComposed(_ text: String) -> Bool {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return true }
    return text._nfc.elementsEqual(text.unicodeScalars)
  }
}
