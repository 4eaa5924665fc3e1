internal import CZlib
internal import RedialJSON

/// The last member of a line of an archive: the CRC-32 of the bytes before it, in hexadecimal. An archive stays somewhere for
/// long, and much of it is text that reads as well with another character.
enum LineChecksum {
  private static let name = Array(",\"checksum\":\"".utf8)
  private static let digits = 8

  /// Ends an object with its checksum.
  static func end(_ writer: inout JSONWriter) {
    writer.field("checksum", writer.bytes.withUnsafeBufferPointer { text(of: $0[...]) })
    writer.endObject()
  }

  /// Whether a line ends with its checksum; a line whose checksum somebody has removed has none.
  static func isThere(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
    let place = place(in: line)
    return place > 0 && line[place...].starts(with: name)
  }

  /// Compares a line with its checksum.
  static func check(_ line: UnsafeBufferPointer<UInt8>) throws(JSONError) {
    let place = place(in: line)
    let stored = String(decoding: line[(place + name.count)...].prefix(digits), as: UTF8.self)
    guard stored == text(of: line[..<place]) else {
      throw JSONError(
        offset: place,
        reason: "the line has another checksum; if you have changed it on purpose, remove the member checksum")
    }
  }

  private static func place(in line: UnsafeBufferPointer<UInt8>) -> Int { line.count - name.count - digits - 2 }

  private static func text(of bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
    let text = String(crc32(0, bytes.base.baseAddress, UInt32(clamping: bytes.count)), radix: 16)
    return String(repeating: "0", count: digits - text.count) + text
  }
}
