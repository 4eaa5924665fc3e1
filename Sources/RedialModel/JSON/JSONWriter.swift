public import RedialCore

/// Writes JSON straight into a byte array.
///
/// Commas are its own business; that names and values alternate inside objects
/// is its caller's. ``field(_:_:)-(_,String)`` and its siblings write a member at once.
public struct JSONWriter {
  /// What has been written.
  public private(set) var bytes: [UInt8]
  private var needsComma = false

  /// An empty writer with room for `capacity` bytes.
  public init(capacity: Int = 512) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  // MARK: Structure

  /// Opens an object.
  public mutating func beginObject() { open(UInt8(ascii: "{")) }
  /// Closes an object.
  public mutating func endObject() { close(UInt8(ascii: "}")) }
  /// Opens an array.
  public mutating func beginArray() { open(UInt8(ascii: "[")) }
  /// Closes an array.
  public mutating func endArray() { close(UInt8(ascii: "]")) }

  /// Writes a member's name, which must need no escape.
  public mutating func key(_ name: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a member's name.
  public mutating func key(_ name: String) {
    separate()
    quoted(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  // MARK: Values

  /// Writes a string.
  public mutating func string(_ value: String) {
    separate()
    quoted(value)
  }

  /// Writes a string that needs no escape.
  public mutating func string(_ value: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    value.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes a whole number.
  public mutating func integer(_ value: Int64) {
    separate()
    bytes.appendDecimal(value)
  }

  /// Writes a number; one that JSON cannot say becomes null.
  public mutating func double(_ value: Double) {
    separate()
    bytes.append(contentsOf: (value.isFinite ? value.description : "null").utf8)
  }

  /// Writes `true` or `false`.
  public mutating func bool(_ value: Bool) { literal(value ? "true" : "false") }
  /// Writes `null`.
  public mutating func null() { literal("null") }

  /// Writes bytes that are one JSON value already.
  public mutating func raw(_ value: some Collection<UInt8>) {
    separate()
    bytes.append(contentsOf: value)
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

  /// Writes a member with a span in its canonical form.
  public mutating func field(_ name: StaticString, _ value: Duration) {
    key(name)
    string(DurationText.format(value))
  }

  /// Writes a member with an instant as RFC 3339 text, or null.
  public mutating func field(_ name: StaticString, _ value: Timestamp?) {
    key(name)
    guard let value else { return null() }
    separate()
    bytes.append(UInt8(ascii: "\""))
    TimestampText.append(value, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  // MARK: Bytes

  private mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func literal(_ text: StaticString) {
    separate()
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  private mutating func quoted(_ value: String) {
    bytes.append(UInt8(ascii: "\""))
    var value = value
    value.withUTF8 { text in
      var clean = 0
      for at in text.indices where text[at] < 0x20 || text[at] == UInt8(ascii: "\"") || text[at] == UInt8(ascii: "\\") {
        bytes.append(contentsOf: text[clean..<at])
        escape(text[at])
        clean = at + 1
      }
      bytes.append(contentsOf: text[clean...])
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func escape(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    default:
      bytes.append(contentsOf: "u00".utf8)
      let digits: StaticString = "0123456789abcdef"
      digits.withUTF8Buffer {
        bytes.append($0[Int(byte >> 4)])
        bytes.append($0[Int(byte & 15)])
      }
    }
  }
}

extension [UInt8] {
  /// Appends a whole number in decimal digits.
  public mutating func appendDecimal(_ value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    let start = count
    repeat {
      append(UInt8(0x30 + rest % 10))
      rest /= 10
    } while rest > 0
    self[start...].reverse()
  }

  /// Appends a whole number in decimal digits, filled up with zeros to `width`.
  public mutating func appendDecimal(_ value: Int, width: Int) {
    let start = count
    appendDecimal(Int64(value))
    while count - start < width { insert(0x30, at: start) }
  }
}
