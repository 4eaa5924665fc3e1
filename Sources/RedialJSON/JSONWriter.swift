/// Writes JSON straight into a byte array.
///
/// It writes the commas; the caller must alternate names and values inside objects. ``field(_:_:)-(_,String)`` and its
/// siblings write a member at once.
public struct JSONWriter: ~Copyable {
  private var text: TextBuffer
  private var needsComma = false

  /// An empty writer with a capacity of `capacity` bytes.
  public init(capacity: Int = 512) {
    text = TextBuffer(capacity: capacity)
  }

  /// A copy of the written bytes.
  public var bytes: [UInt8] { text.bytes }

  // MARK: Structure

  public mutating func beginObject() { open(UInt8(ascii: "{")) }
  public mutating func endObject() { close(UInt8(ascii: "}")) }
  public mutating func beginArray() { open(UInt8(ascii: "[")) }
  public mutating func endArray() { close(UInt8(ascii: "]")) }

  /// Writes a member's name, which must need no escape.
  public mutating func key(_ name: StaticString) {
    text.append(name: name, afterComma: needsComma)
    needsComma = false
  }

  /// Writes a member's name.
  public mutating func key(_ name: String) {
    quoted(name, isName: true)
    needsComma = false
  }

  // MARK: Values

  public mutating func string(_ value: String) {
    quoted(value, isName: false)
    needsComma = true
  }

  /// Writes a string that needs no escape.
  public mutating func string(_ value: StaticString) {
    separate()
    text.append(value, between: UInt8(ascii: "\""), and: UInt8(ascii: "\""))
  }

  /// Writes a string of so many bytes, none of which needs an escape. `body` writes them in place.
  public mutating func plainString(_ length: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Void) {
    separate()
    text.append(length + 2) { place in
      place[0] = UInt8(ascii: "\"")
      body(place + 1)
      place[length + 1] = UInt8(ascii: "\"")
    }
  }

  /// Writes a whole number.
  public mutating func integer(_ value: Int64) {
    separate()
    text.append(decimal: value)
  }

  /// Writes a number; one without a JSON form becomes null.
  public mutating func double(_ value: Double) {
    separate()
    var digits = value.isFinite ? value.description : "null"
    digits.withUTF8 { text.append($0) }
  }

  public mutating func bool(_ value: Bool) { literal(value ? "true" : "false") }
  public mutating func null() { literal("null") }

  /// Writes bytes that already are one JSON value.
  public mutating func raw(_ value: [UInt8]) {
    separate()
    value.withUnsafeBufferPointer { text.append($0) }
  }

  // MARK: Members

  /// Writes a member with a string.
  public mutating func field(_ name: StaticString, _ value: String) {
    key(name)
    string(value)
  }

  /// Writes a member with a string, or null.
  public mutating func field(_ name: StaticString, _ value: String?) {
    key(name)
    if let value { string(value) } else { null() }
  }

  /// Writes a member with a whole number.
  public mutating func field(_ name: StaticString, _ value: Int) {
    key(name)
    integer(Int64(value))
  }

  /// Writes a member with true or false.
  public mutating func field(_ name: StaticString, _ value: Bool) {
    key(name)
    bool(value)
  }

  /// Writes a member with a number.
  public mutating func field(_ name: StaticString, _ value: Double) {
    key(name)
    double(value)
  }

  // MARK: Bytes

  private mutating func open(_ bracket: UInt8) {
    separate()
    text.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    text.append(bracket)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { text.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func literal(_ word: StaticString) {
    text.append(word: word, afterComma: needsComma)
    needsComma = true
  }

  private mutating func quoted(_ value: String, isName: Bool) {
    // The bytes of nearly every string lie there to be looked at.
    let isWritten: Void? = value.utf8.withContiguousStorageIfAvailable { quoted($0, isName: isName) }
    guard isWritten == nil else { return }
    var copy = value
    copy.withUTF8 { quoted($0, isName: isName) }
  }

  @inline(__always)
  private mutating func quoted(_ bytes: UnsafeBufferPointer<UInt8>, isName: Bool) {
    let at = text.append(quoted: bytes, afterComma: needsComma, isName: isName)
    if at < bytes.count { quote(bytes, from: at, isName: isName) }
  }

  /// The rest of a string whose next byte needs an escape, and its end.
  private mutating func quote(_ bytes: UnsafeBufferPointer<UInt8>, from place: Int, isName: Bool) {
    var at = place
    while at < bytes.count {
      escape(bytes[at])
      at += 1
      at += text.append(unescaped: UnsafeBufferPointer(rebasing: bytes[at...]))
    }
    text.append(UInt8(ascii: "\""))
    if isName { text.append(UInt8(ascii: ":")) }
  }

  private mutating func escape(_ byte: UInt8) {
    text.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): text.append(byte)
    case 0x0A: text.append(UInt8(ascii: "n"))
    case 0x0D: text.append(UInt8(ascii: "r"))
    case 0x09: text.append(UInt8(ascii: "t"))
    default:
      let digits: StaticString = "0123456789abcdef"
      text.append("00", between: UInt8(ascii: "u"), and: digits.utf8Start[Int(byte >> 4)])
      text.append(digits.utf8Start[Int(byte & 15)])
    }
  }
}
