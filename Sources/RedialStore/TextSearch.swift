/// Searches texts for one part. ASCII letters are equal in either case.
///
/// By Knuth, Morris and Pratt ("Fast Pattern Matching in Strings", SIAM Journal on Computing 6, 1977). Clients choose both
/// the part and the texts, so the search must be linear in the worst case too.
package struct TextSearch: Sendable {
  private let part: [UInt8]
  /// By length of a prefix of `part`: the length of the longest shorter prefix that it ends with.
  private let fallbacks: [Int]

  /// - Complexity: O(*n*) in the length of the part.
  package init(_ text: String) {
    let part = text.utf8.map(Self.lowercased)
    var fallbacks = [0, 0]
    fallbacks.reserveCapacity(part.count + 1)
    var matched = 0
    for byte in part.dropFirst() {
      while matched > 0, part[matched] != byte { matched = fallbacks[matched] }
      if part[matched] == byte { matched += 1 }
      fallbacks.append(matched)
    }
    self.part = part
    self.fallbacks = fallbacks
  }

  /// Whether the part occurs in a text.
  ///
  /// - Complexity: O(*n*) in the length of the text, whatever the part. Nothing is copied.
  package func occurs(in text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      part.withUnsafeBufferPointer { part in
        fallbacks.withUnsafeBufferPointer { fallbacks in Self.occurs(part, fallbacks, in: bytes) }
      }
    }
  }

  private static func occurs(
    _ part: UnsafeBufferPointer<UInt8>, _ fallbacks: UnsafeBufferPointer<Int>, in bytes: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    guard !part.isEmpty else { return true }
    var matched = 0
    for byte in bytes {
      let byte = lowercased(byte)
      while matched > 0, part[matched] != byte { matched = fallbacks[matched] }
      if part[matched] == byte { matched += 1 }
      if matched == part.count { return true }
    }
    return false
  }

  @inline(__always)
  private static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
