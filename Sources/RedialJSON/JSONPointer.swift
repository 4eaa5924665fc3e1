/// Names a value within a JSON text (RFC 6901), such as `/card/number`. `*` in place of an index stands for each element
/// of an array.
public struct JSONPointer: Sendable, Hashable {
  /// The pointer as it was given.
  public let text: String
  /// The names and indexes, from the outside.
  let tokens: [Token]

  struct Token: Sendable, Hashable {
    /// The name, without escapes.
    let name: String
    /// The index that it is too; nil if it is none.
    let index: Int?
    /// Whether it stands for each element of an array.
    var isEach: Bool { name == "*" }
  }

  /// Reads a pointer; nil for a text that is none.
  public init?(_ text: String) {
    guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else { return nil }
    var tokens: [Token] = []
    for part in text.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
      guard let name = Self.unescaped(part) else { return nil }
      let isIndex =
        name == "0" || name.utf8.first != UInt8(ascii: "0") && name.utf8.allSatisfy { (0x30...0x39).contains($0) }
      tokens.append(Token(name: name, index: isIndex ? Int(name) : nil))
    }
    self.text = text
    self.tokens = tokens
  }

  /// A member name as part of a pointer (RFC 6901 §3).
  public static func escaped(_ key: String) -> String {
    guard key.utf8.contains(UInt8(ascii: "~")) || key.utf8.contains(UInt8(ascii: "/")) else { return key }
    return key.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) }.joined()
  }

  private static func unescaped(_ part: Substring) -> String? {
    guard part.utf8.contains(UInt8(ascii: "~")) else { return String(part) }
    var name: [UInt8] = []
    var rest = part.utf8.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "~") else {
        name.append(byte)
        continue
      }
      switch rest.next() {
      case UInt8(ascii: "0"): name.append(UInt8(ascii: "~"))
      case UInt8(ascii: "1"): name.append(UInt8(ascii: "/"))
      default: return nil
      }
    }
    return String(decoding: name, as: UTF8.self)
  }
}
