// The standard library normalizes text to compare strings, and has no public name for it.
@_spi(_Unicode) internal import Swift

/// Whether texts that mean the same are the same bytes.
public enum NormalForm {
  /// Whether a text is in the normalization form C of Unicode (UAX #15), as nearly all text is.
  ///
  /// Swift's strings are equal when they are canonically equivalent; SQLite compares bytes. So a name that calls share, and
  /// that is looked up in memory and in the store, has to be in one form, or it would be one name here and two there.
  public static func isComposed(_ text: String) -> Bool {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return true }
    return text._nfc.elementsEqual(text.unicodeScalars)
  }
}
