public import RedialCore

internal import Glibc

/// The header section of a response, stored as the received bytes.
///
/// A response's header is stored far more often than it is read, so it is one buffer of `name: value CR LF` lines,
/// which is parsed only when a field is requested.
public struct HeaderBlock: Sendable, Hashable {
  /// The lines, each ended by CR LF; no status line and no final empty line.
  public var bytes: [UInt8]

  /// Creates a block from lines already in the form that ``bytes`` describes.
  public init(bytes: [UInt8] = []) {
    self.bytes = bytes
  }

  /// The value of the first field of that name, without surrounding white space, or nil.
  ///
  /// - Parameter name: The name in lower case ASCII.
  /// - Complexity: O(*n*) in the size of the block.
  public func first(_ name: StaticString) -> ArraySlice<UInt8>? {
    var found: ArraySlice<UInt8>?
    forEach { field, value in
      if found == nil, Self.matches(field, name) { found = value }
    }
    return found
  }

  /// The longest wait that `Retry-After` fields request; nil if none does.
  public func retryAfter(at now: Timestamp) -> Duration? {
    guard mayName(startingWith: UInt8(ascii: "r"), or: UInt8(ascii: "r")) else { return nil }
    var longest: Duration?
    forEach { name, value in
      guard Self.matches(name, "retry-after"), let wait = RetryAfter.longest(in: value, at: now) else { return }
      longest = max(longest ?? .zero, wait)
    }
    return longest
  }

  /// Calls `body` with the name and the trimmed value of each field, in order.
  ///
  /// Lines without a colon are skipped.
  public func forEach(_ body: (_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Void) {
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
      if let colon = bytes[start..<end].firstIndex(of: UInt8(ascii: ":")) {
        body(bytes[start..<colon], Self.trimmed(bytes[(colon + 1)..<end]))
      }
      start = end < bytes.endIndex ? end + 1 : end
    }
  }

  /// Whether a field's name may begin with one of two letters, in lower case here. Only the beginnings of lines are looked
  /// at, so it is worth it before ``forEach(_:)``.
  public func mayName(startingWith one: UInt8, or other: UInt8) -> Bool {
    bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return false }
      var place = 0
      while place < bytes.count {
        let letter = bytes[place] | 0x20
        if letter == one || letter == other { return true }
        // Sound: what is searched is within the buffer, and so is what is found.
        guard let end = memchr(start + place, 0x0A, bytes.count - place) else { return false }
        place = UnsafeRawPointer(end) - start + 1
      }
      return false
    }
  }

  private static func matches(_ field: ArraySlice<UInt8>, _ name: StaticString) -> Bool {
    guard field.count == name.utf8CodeUnitCount else { return false }
    return name.withUTF8Buffer { wanted in
      zip(field, wanted).allSatisfy { byte, want in
        (byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte) == want
      }
    }
  }

  private static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
    var value = value
    while let first = value.first, isSpace(first) { value = value.dropFirst() }
    while let last = value.last, isSpace(last) { value = value.dropLast() }
    return value
  }
}
