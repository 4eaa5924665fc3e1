/// Reads JSON (RFC 8259) from bytes in place, one token at a time.
///
/// It is strict: no comments, no trailing commas, no leading zeros, only valid UTF-8 and paired surrogates. It builds
/// only values that the caller requests. ``skipValue()`` skips a value, but still checks it.
///
/// ```swift
/// try reader.beginObject()
/// while let key = try reader.nextKey() {
///   if key == "url" { url = try reader.string() } else { _ = try reader.skipValue() }
/// }
/// try reader.finish()
/// ```
public struct JSONReader {
  /// The kind of the next value.
  public enum Kind: Sendable, Hashable {
    case object, array, string, number, bool, null
  }

  /// The maximum depth of nesting; one word has a flag for each level.
  public static let maximumDepth = 64

  private let bytes: UnsafeBufferPointer<UInt8>
  private var index = 0
  private var depth = 0
  /// Bit `d` is set once the container at depth `d` has had an element.
  private var hasElement: UInt64 = 0

  /// A reader at the start of `bytes`, which must outlive it.
  public init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  /// Bytes read so far.
  public var offset: Int { index }

  /// The bytes between two offsets of the text.
  public func raw(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: bytes[range])
  }

  /// The bytes that were not read yet.
  public var rest: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: bytes[index...])
  }

  /// Skips one value whose text is known to be next and was read before without a fault.
  public mutating func passKnownValue(of count: Int) {
    index += count
  }

  // MARK: Structure

  /// The kind of the next value, without reading it.
  public mutating func peek() throws(JSONError) -> Kind {
    skipSpace()
    guard index < bytes.count else { throw error("the text ends where a value should be") }
    switch bytes[index] {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
    case UInt8(ascii: "n"): return .null
    case UInt8(ascii: "-"), 0x30...0x39: return .number
    default: throw error("no value starts with this character")
    }
  }

  /// Reads the `{` of an object; read its members with ``nextKey()``.
  public mutating func beginObject() throws(JSONError) {
    guard try peek() == .object else { throw error("an object was expected") }
    try enter()
  }

  /// Reads the next member's name; its value is then next. Nil at the end of the object, whose `}` is read then.
  public mutating func nextKey() throws(JSONError) -> String? {
    guard let name = try nextName() else { return nil }
    return try text(of: name)
  }

  /// A string of the text that has been checked.
  public struct Found {
    /// The position of its content in the text.
    public var range: Range<Int>
    /// Whether its bytes are its text: ASCII without an escape.
    public var isPlain: Bool
  }

  /// Like ``nextKey()``, without creating a text that may not be needed.
  public mutating func nextName() throws(JSONError) -> Found? {
    guard try advance(closing: UInt8(ascii: "}")) else { return nil }
    guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { throw error("a member name was expected") }
    let name = try foundString()
    try skipColon()
    return name
  }

  /// The text of a string that was found.
  public func text(of found: Found) throws(JSONError) -> String {
    // The common case, without the general check: `decoding` has a fast path for ASCII.
    if found.isPlain { return String(decoding: raw(found.range), as: UTF8.self) }
    return try decoded(found.range)
  }

  /// Reads the `[` of an array; read its elements with ``nextElement()``.
  public mutating func beginArray() throws(JSONError) {
    guard try peek() == .array else { throw error("an array was expected") }
    try enter()
  }

  /// Whether another element follows, which is then next; at the end the `]` is read.
  public mutating func nextElement() throws(JSONError) -> Bool {
    try advance(closing: UInt8(ascii: "]"))
  }

  /// Checks that only white space is left.
  public mutating func finish() throws(JSONError) {
    skipSpace()
    guard index == bytes.count else { throw error("something follows the value") }
  }

  // MARK: Values

  public mutating func string() throws(JSONError) -> String {
    try expectString()
    let (range, isPlain) = try scanString()
    return isPlain ? String(decoding: raw(range), as: UTF8.self) : try decoded(range)
  }

  /// Reads a string, as the UTF-8 bytes of its text.
  public mutating func utf8String() throws(JSONError) -> [UInt8] {
    try expectString()
    let (range, isPlain) = try scanString()
    if isPlain { return Array(raw(range)) }
    return try hasEscape(range) ? unescape(range) : Array(decoded(range).utf8)
  }

  /// Reads a string, without creating a text yet.
  public mutating func nextString() throws(JSONError) -> Found {
    try expectString()
    return try foundString()
  }

  private mutating func expectString() throws(JSONError) {
    skipSpace()
    if index < bytes.count, bytes[index] == UInt8(ascii: "\"") { return }
    // If it is not a valid value at all, that error is reported first.
    _ = try peek()
    throw error("a string was expected")
  }

  /// Reads and checks the string that begins at `index`.
  private mutating func foundString() throws(JSONError) -> Found {
    let (range, isPlain) = try scanString()
    if !isPlain { _ = try decoded(range) }
    return Found(range: range, isPlain: isPlain)
  }

  /// The text of a string that has escapes or is not ASCII, which is checked.
  @inline(never)
  private func decoded(_ range: Range<Int>) throws(JSONError) -> String {
    if hasEscape(range) { return String(decoding: try unescape(range), as: UTF8.self) }
    guard let text = String(validating: bytes[range], as: UTF8.self) else {
      throw JSONError(offset: range.lowerBound, reason: "the string is not valid UTF-8")
    }
    return text
  }

  private func hasEscape(_ range: Range<Int>) -> Bool { raw(range).contains(UInt8(ascii: "\\")) }

  /// Reads a number.
  public mutating func double() throws(JSONError) -> Double {
    guard try peek() == .number else { throw error("a number was expected") }
    let start = index
    try scanNumber()
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    guard let value = Double(text), value.isFinite else {
      throw JSONError(offset: start, reason: "the number is out of range")
    }
    return value
  }

  /// Reads a whole number that fits 64 bits. It may be written with a fraction of zeros or an exponent, such as `3.0`
  /// or `1e3`, as in JSON Schema, up to 2^53: beyond that such a form may not be exact.
  public mutating func integer() throws(JSONError) -> Int64 {
    guard try peek() == .number else { throw error("a whole number was expected") }
    let start = index
    try scanNumber()
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    if let value = Int64(text) { return value }
    guard let number = Double(text), abs(number) <= 0x1p53, let value = Int64(exactly: number) else {
      throw JSONError(offset: start, reason: "a whole number was expected")
    }
    return value
  }

  /// Reads `true` or `false`.
  public mutating func bool() throws(JSONError) -> Bool {
    guard try peek() == .bool else { throw error("true or false was expected") }
    if bytes[index] == UInt8(ascii: "t") {
      try literal("true")
      return true
    }
    try literal("false")
    return false
  }

  /// Reads `null` if that is next, and returns whether it was.
  public mutating func null() throws(JSONError) -> Bool {
    guard try peek() == .null else { return false }
    try literal("null")
    return true
  }

  /// Reads one value of any kind, checks it, and returns its position in the text.
  public mutating func skipValue() throws(JSONError) -> Range<Int> {
    let kind = try peek()
    let start = index
    switch kind {
    case .string: try skipString()
    case .number: try scanNumber()
    case .bool: _ = try bool()
    case .null: _ = try null()
    case .object:
      try beginObject()
      while try advance(closing: UInt8(ascii: "}")) {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { throw error("a member name was expected") }
        try skipString()
        try skipColon()
        _ = try skipValue()
      }
    case .array:
      try beginArray()
      while try nextElement() { _ = try skipValue() }
    }
    return start..<index
  }

  // MARK: Scanning

  private func error(_ reason: String) -> JSONError {
    JSONError(offset: index, reason: reason)
  }

  @inline(__always)
  private mutating func skipSpace() {
    while index < bytes.count, bytes[index] <= 0x20, Self.isSpace(bytes[index]) { index += 1 }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x20, 0x09, 0x0A, 0x0D: true
    default: false
    }
  }

  private mutating func skipColon() throws(JSONError) {
    skipSpace()
    guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else { throw error("a colon was expected") }
    index += 1
  }

  /// Checks a string as strictly as if it were requested.
  private mutating func skipString() throws(JSONError) {
    let (range, isPlain) = try scanString()
    if !isPlain { _ = try decoded(range) }
  }

  private mutating func enter() throws(JSONError) {
    guard depth < Self.maximumDepth else { throw error("the value is nested too deeply") }
    index += 1
    hasElement &= ~(1 << UInt64(depth))
    depth += 1
  }

  /// Reads a comma if one is due, or the closing bracket; false at the end of the container.
  private mutating func advance(closing: UInt8) throws(JSONError) -> Bool {
    skipSpace()
    guard index < bytes.count else { throw error("the text ends inside an object or array") }
    let flag: UInt64 = 1 << UInt64(depth - 1)
    if bytes[index] == closing {
      index += 1
      depth -= 1
      return false
    }
    if hasElement & flag != 0 {
      guard bytes[index] == UInt8(ascii: ",") else { throw error("a comma or a closing bracket was expected") }
      index += 1
      skipSpace()
    }
    hasElement |= flag
    return true
  }

  private mutating func literal(_ text: StaticString) throws(JSONError) {
    let matches = text.withUTF8Buffer { wanted in
      bytes.count - index >= wanted.count && wanted.indices.allSatisfy { bytes[index + $0] == wanted[$0] }
    }
    guard matches else { throw error("\(text) was expected") }
    index += text.utf8CodeUnitCount
  }

  /// `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
  private mutating func scanNumber() throws(JSONError) {
    if bytes[index] == UInt8(ascii: "-") { index += 1 }
    let first = index
    let whole = skipDigits()
    guard whole > 0, whole == 1 || bytes[first] != UInt8(ascii: "0") else { throw error("the number is malformed") }
    if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
      index += 1
      guard skipDigits() > 0 else { throw error("a digit was expected") }
    }
    if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
      index += 1
      if index < bytes.count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") { index += 1 }
      guard skipDigits() > 0 else { throw error("a digit was expected") }
    }
  }

  private mutating func skipDigits() -> Int {
    let start = index
    while index < bytes.count, bytes[index] >= 0x30, bytes[index] <= 0x39 { index += 1 }
    return index - start
  }

  /// Finds the end of the string at `index` and moves after it.
  ///
  /// - Returns: The position of its content, and whether that is ASCII without an escape.
  private mutating func scanString() throws(JSONError) -> (content: Range<Int>, isPlain: Bool) {
    let start = index + 1
    var at = start
    var isPlain = true
    // Sound: bytes are loaded only at `at < count`, and sixteen only if as many follow.
    let (raw, count) = (UnsafeRawBufferPointer(bytes), bytes.count)
    while at < count {
      // Up to the first byte that is not plain text: sixteen at a time.
      while at + 16 <= count {
        let special = Self.special(raw.loadUnaligned(fromByteOffset: at, as: SIMD16<Int8>.self))
        at += special ?? 16
        if special != nil { break }
      }
      guard at < count else { break }
      let byte = raw[at]
      if byte == UInt8(ascii: "\"") {
        index = at + 1
        return (start..<at, isPlain)
      }
      guard byte >= 0x20 else {
        index = at
        throw error("a control character in a string must be escaped")
      }
      if byte == UInt8(ascii: "\\") {
        isPlain = false
        at += 1
      }
      at += 1
      if byte >= 0x80 {
        isPlain = false
        while at < count, raw[at] >= 0x80 { at += 1 }
      }
    }
    index = count
    throw error("the text ends inside a string")
  }

  /// The first of sixteen bytes that is not ASCII, or is a quotation mark, a backslash or a control character.
  @inline(__always)
  private static func special(_ bytes: SIMD16<Int8>) -> Int? {
    // As signed numbers, bytes beyond ASCII are below the control characters.
    JSONText.first(
      in: (bytes .< SIMD16(repeating: 0x20))
        .| (bytes .== SIMD16(repeating: 0x22)) .| (bytes .== SIMD16(repeating: 0x5C)))
  }

  /// The UTF-8 bytes of a string with escapes, which are checked.
  private func unescape(_ range: Range<Int>) throws(JSONError) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(range.count)
    var at = range.lowerBound
    while at < range.upperBound {
      let end = bytes[at..<range.upperBound].firstIndex(of: UInt8(ascii: "\\")) ?? range.upperBound
      text.append(contentsOf: raw(at..<end))
      at = end
      guard at < range.upperBound else { break }
      switch bytes[at + 1] {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(bytes[at + 1])
      case UInt8(ascii: "b"): text.append(0x08)
      case UInt8(ascii: "f"): text.append(0x0C)
      case UInt8(ascii: "n"): text.append(0x0A)
      case UInt8(ascii: "r"): text.append(0x0D)
      case UInt8(ascii: "t"): text.append(0x09)
      case UInt8(ascii: "u"):
        let (scalar, length) = try unicodeEscape(at, limit: range.upperBound)
        text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        at += length
        continue
      default: throw JSONError(offset: at, reason: "the escape is unknown")
      }
      at += 2
    }
    guard text.withUnsafeBufferPointer({ (try? UTF8Span(validating: $0.span)) != nil }) else {
      throw JSONError(offset: range.lowerBound, reason: "the string is not valid UTF-8")
    }
    return text
  }

  /// Reads `\uXXXX`, or the two of a surrogate pair.
  private func unicodeEscape(_ at: Int, limit: Int) throws(JSONError) -> (Unicode.Scalar, length: Int) {
    let high = try hexQuad(at + 2, limit: limit)
    if let scalar = Unicode.Scalar(high) { return (scalar, 6) }
    let next = at + 6
    if high < 0xDC00, next + 1 < limit, bytes[next] == UInt8(ascii: "\\"), bytes[next + 1] == UInt8(ascii: "u") {
      let low = try hexQuad(next + 2, limit: limit)
      if (0xDC00...0xDFFF).contains(low),
        let scalar = Unicode.Scalar(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
      {
        return (scalar, 12)
      }
    }
    throw JSONError(offset: at, reason: "half a surrogate pair stands alone")
  }

  private func hexQuad(_ at: Int, limit: Int) throws(JSONError) -> UInt32 {
    guard at + 4 <= limit else { throw JSONError(offset: at, reason: "four hex digits were expected") }
    var value: UInt32 = 0
    for byte in bytes[at..<(at + 4)] {
      switch byte {
      case 0x30...0x39: value = value << 4 | UInt32(byte - 0x30)
      case 0x41...0x46, 0x61...0x66: value = value << 4 | UInt32((byte | 0x20) - 0x57)
      default: throw JSONError(offset: at, reason: "four hex digits were expected")
      }
    }
    return value
  }
}
