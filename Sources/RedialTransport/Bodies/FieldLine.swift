internal import Glibc

/// A line of a head or of trailers that is a field (RFC 9112 §5).
struct FieldLine {
  private let line: UnsafeRawBufferPointer
  /// Where its colon is.
  let colon: Int
  /// The length of its name. Blanks before the colon belong to nothing (RFC 9112 §5.1); with them, a name would be hidden
  /// from those that look for it.
  let nameCount: Int

  /// - Parameter line: With its end.
  /// - Returns: Nil for a line that continues another, and for one without a name.
  init?(_ line: UnsafeRawBufferPointer) {
    guard !Self.isBlank(line[0]), let start = line.baseAddress, let found = memchr(start, 0x3A, line.count) else {
      return nil
    }
    colon = UnsafeRawPointer(found) - start
    var count = colon
    while count > 0, Self.isBlank(line[count - 1]) { count -= 1 }
    guard count > 0 else { return nil }
    (self.line, nameCount) = (line, count)
  }

  /// Whether there are blanks between its name and its colon. libcurl does not find the name of such a field.
  var hasBlanks: Bool { nameCount < colon }

  /// Its value, with the blanks and the line's end around it.
  var value: Slice<UnsafeRawBufferPointer> { line[(colon + 1)...] }

  /// Whether it has a name in lower case, ignoring its own case.
  func isNamed(_ name: StaticString) -> Bool {
    guard nameCount == name.utf8CodeUnitCount else { return false }
    for place in 0..<nameCount where line[place] | 0x20 != name.utf8Start[place] { return false }
    return true
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
