// In place of the standard library's, which match any collection: they bring its parser of regular expressions, 1.4 MB, into
// the binary. `Scripts/binary` builds without that module.
extension StringProtocol {
  /// Where `other` is first, byte by byte; nil if it is nowhere.
  package func firstRange(of other: String) -> Range<Index>? {
    let (bytes, sought) = (utf8, other.utf8)
    guard let first = sought.first else { return startIndex..<startIndex }
    var start = bytes.startIndex
    while let found = bytes[start...].firstIndex(of: first) {
      if bytes[found...].starts(with: sought) { return found..<bytes.index(found, offsetBy: sought.count) }
      start = bytes.index(after: found)
    }
    return nil
  }

  /// If `other` is in it, byte by byte.
  package func contains(_ other: String) -> Bool { firstRange(of: other) != nil }

  /// The text with `replacement` in place of each `other`, from left to right. An empty `other` is nowhere.
  package func replacing(_ other: String, with replacement: String) -> String {
    guard !other.isEmpty else { return String(self) }
    var (result, rest) = ("", self[...])
    while let found = rest.firstRange(of: other) {
      result += rest[..<found.lowerBound] + replacement
      rest = rest[found.upperBound...]
    }
    return result + rest
  }
}
