/// Comparisons of ASCII names, ignoring case.
enum ASCIIText {
  /// Calls `body` with the bytes of a text, usually without a copy.
  @inline(__always)
  static func withBytes<Result>(of text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
    var copy = text
    return copy.withUTF8(body)
  }

  /// Whether bytes are that name, ignoring case.
  ///
  /// - Parameter name: In lower case.
  static func equal(_ bytes: UnsafeBufferPointer<UInt8>, ignoringCase name: StaticString) -> Bool {
    guard bytes.count == name.utf8CodeUnitCount else { return false }
    // Sound: both have that length.
    let wanted = name.utf8Start
    for index in 0..<bytes.count where lowercased(bytes[index]) != wanted[index] { return false }
    return true
  }

  /// Whether bytes begin with a text.
  static func starts(_ bytes: UnsafeBufferPointer<UInt8>, with text: StaticString) -> Bool {
    guard bytes.count >= text.utf8CodeUnitCount else { return false }
    // Sound: both have at least that length.
    let wanted = text.utf8Start
    for index in 0..<text.utf8CodeUnitCount where bytes[index] != wanted[index] { return false }
    return true
  }

  @inline(__always)
  private static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

  /// Marks, by the top bit of each, the bytes of a word that are below `bound`, at most 128. Bytes above a marked one
  /// may be marked wrongly, but no byte is marked if none is below.
  @inline(__always)
  static func marks(of word: UInt64, below bound: UInt64) -> UInt64 {
    (word &- ones &* bound) & ~word & tops
  }

  /// Like ``marks(of:below:)``, for bytes that are equal to `byte`.
  @inline(__always)
  static func marks(of word: UInt64, equalTo byte: UInt64) -> UInt64 {
    let difference = word ^ ones &* byte
    return (difference &- ones) & ~difference & tops
  }

  /// Eight bytes of one each.
  static let ones: UInt64 = 0x0101_0101_0101_0101
  /// The top bit of each of eight bytes.
  static let tops: UInt64 = 0x8080_8080_8080_8080

  /// Whether any word of the bytes is marked. It checks eight bytes at a time; the last eight may overlap those before.
  ///
  /// - Parameter marks: For a word of eight equal bytes, it must mark each byte as it would mark that byte alone.
  @inline(__always)
  static func anyMarked(_ bytes: UnsafeBufferPointer<UInt8>, _ marks: (UInt64) -> UInt64) -> Bool {
    // Sound: eight bytes are loaded only where as many follow.
    let (raw, count) = (UnsafeRawBufferPointer(bytes), bytes.count)
    guard count >= 8 else {
      for byte in raw where marks(ones &* UInt64(byte)) != 0 { return true }
      return false
    }
    var at = 0
    while at + 8 <= count {
      if marks(raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)) != 0 { return true }
      at += 8
    }
    return marks(raw.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)) != 0
  }

  /// Whether a text is that name, ignoring case.
  ///
  /// - Parameter name: In lower case.
  static func equal(_ text: String, ignoringCase name: StaticString) -> Bool {
    // Nearly always the length decides.
    guard text.utf8.count == name.utf8CodeUnitCount else { return false }
    var at = name.utf8Start
    for byte in text.utf8 {
      guard lowercased(byte) == at.pointee else { return false }
      at += 1
    }
    return true
  }
}
