internal import RedialModel

/// The bytes of a sealed value: a byte that tells it from a plain one, the number of its data key (4 bytes), and chunks, each of
/// a nonce, the encrypted bytes and a tag. All chunks but the last have 64 KiB of the value, so any of them can be opened alone.
package enum SealedForm {
  /// No text in UTF-8 begins with it, and so no JSON.
  package static let marker: UInt8 = 0xF5
  package static let chunkBytes = 64 * 1024
  package static let headBytes = 5
  /// What a chunk has besides the value's bytes.
  package static let chunkRoom = GCMKey.nonceBytes + GCMKey.tagBytes
  /// Before the base 64 of a sealed value in a column of text. No text that Redial writes begins with it.
  package static let textPrefix = "\u{1}"

  /// The size of the sealed form of so many bytes.
  package static func size(of plain: Int) -> Int { headBytes + plain + chunks(of: plain) * chunkRoom }

  /// How many chunks so many bytes are.
  package static func chunks(of plain: Int) -> Int { max(1, (plain + chunkBytes - 1) / chunkBytes) }

  /// How many bytes a sealed form of this size has; nil if there is no such form.
  package static func plainSize(of sealed: Int) -> Int? {
    let content = sealed - headBytes
    guard content >= chunkRoom else { return nil }
    let plain = content - (content + chunkBytes + chunkRoom - 1) / (chunkBytes + chunkRoom) * chunkRoom
    return plain >= 0 && size(of: plain) == sealed ? plain : nil
  }

  /// Where the chunk with a number is in a sealed form of this size.
  package static func range(ofChunk chunk: Int, in sealed: Int) -> Range<Int> {
    let first = headBytes + chunk * (chunkBytes + chunkRoom)
    return first..<min(sealed, first + chunkBytes + chunkRoom)
  }

  /// The sealed value in a column of text; nil for a plain one.
  static func bytes(of text: String) -> [UInt8]? {
    text.hasPrefix(textPrefix) ? Base64.decode(String(text.dropFirst(textPrefix.count))) : nil
  }

  /// Whether bytes are sealed, where a plain value is JSON or nothing.
  package static func isSealed(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool { bytes.first == marker }

  /// The number of the data key of a sealed value.
  package static func key(of bytes: UnsafeBufferPointer<UInt8>) -> UInt32? {
    guard bytes.count >= headBytes, bytes[0] == marker else { return nil }
    return bytes[1..<headBytes].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
