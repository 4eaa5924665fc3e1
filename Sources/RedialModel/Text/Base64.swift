/// Base 64 with padding (RFC 4648 §4), strict in what it reads.
public enum Base64 {
  private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

  /// The text of the bytes.
  public static func encode(_ bytes: some Collection<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var group: UInt32 = 0
    var held = 0
    func emit(_ characters: Int, into text: inout [UInt8]) {
      alphabet.withUTF8Buffer { letters in
        for position in 0..<4 {
          text.append(position < characters ? letters[Int(group >> UInt32(18 - 6 * position)) & 63] : UInt8(ascii: "="))
        }
      }
    }
    for byte in bytes {
      group = group << 8 | UInt32(byte)
      held += 1
      if held == 3 {
        emit(4, into: &text)
        group = 0
        held = 0
      }
    }
    if held > 0 {
      group <<= UInt32(8 * (3 - held))
      emit(held + 1, into: &text)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of the text; nil if a character, the padding or an unused bit is wrong.
  public static func decode(_ text: String) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard characters.count % 4 == 0 else { return nil }
    let padding = characters.reversed().prefix(2).prefix { $0 == UInt8(ascii: "=") }.count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(characters.count / 4 * 3)
    var group: UInt32 = 0
    var bits: UInt32 = 0
    for character in characters.dropLast(padding) {
      guard let value = value(of: character) else { return nil }
      group = group << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: group >> bits))
        group &= (1 << bits) - 1
      }
    }
    return group == 0 ? bytes : nil
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case 0x41...0x5A: UInt32(character - 0x41)
    case 0x61...0x7A: UInt32(character - 0x61 + 26)
    case 0x30...0x39: UInt32(character - 0x30 + 52)
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
