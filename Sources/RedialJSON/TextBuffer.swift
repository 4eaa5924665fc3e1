/// Bytes that are appended one after the other, and read once, at the end.
///
/// An array checks with each byte whether it is shared and has room. A call's JSON has some hundred short pieces, so
/// that was most of the time of writing it (6.4 µs against 1.0 for a spec of 610 bytes).
struct TextBuffer: ~Copyable {
  // Sound: allocated by `init` or `grow`, freed by `deinit` or `grow`, and the buffer cannot be copied. Of `capacity` bytes
  // the first `count` have been written; every write is preceded by `reserve`.
  private var start: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  private(set) var count = 0

  init(capacity: Int) {
    self.capacity = max(64, capacity)
    start = .allocate(capacity: self.capacity)
  }

  deinit { start.deallocate() }

  /// The written bytes.
  var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

  /// Makes room for so many more bytes.
  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if capacity - count < more { grow(by: more) }
  }

  @inline(never)
  private mutating func grow(by more: Int) {
    capacity = max(2 * capacity, count + more)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    larger.update(from: start, count: count)
    start.deallocate()
    start = larger
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    start[count] = byte
    count += 1
  }

  mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let source = bytes.baseAddress else { return }
    reserve(bytes.count)
    (start + count).update(from: source, count: bytes.count)
    count += bytes.count
  }

  /// Appends a text of ASCII characters between two bytes.
  mutating func append(_ text: StaticString, between first: UInt8, and last: UInt8) {
    let length = text.utf8CodeUnitCount
    reserve(length + 2)
    let place = start + count
    place[0] = first
    Self.copy(text.utf8Start, to: place + 1, length)
    place[length + 1] = last
    count += length + 2
  }

  /// Appends a member's name, which must need no escape, with its quotation marks and its colon.
  mutating func append(name: StaticString, afterComma: Bool) {
    let length = name.utf8CodeUnitCount
    reserve(length + 4)
    var place = start + count
    if afterComma {
      place[0] = UInt8(ascii: ",")
      place += 1
    }
    place[0] = UInt8(ascii: "\"")
    Self.copy(name.utf8Start, to: place + 1, length)
    place[length + 1] = UInt8(ascii: "\"")
    place[length + 2] = UInt8(ascii: ":")
    count = place - start + length + 3
  }

  /// Copies a few bytes: for names of a dozen letters a call of the library costs more.
  @inline(__always)
  private static func copy(_ source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, _ length: Int) {
    // Sound: from four bytes on, words that overlap in the middle cover all of them and nothing else.
    let (from, to) = (UnsafeRawPointer(source), UnsafeMutableRawPointer(target))
    switch length {
    case 8...16:
      let last = from.loadUnaligned(fromByteOffset: length - 8, as: UInt64.self)
      to.storeBytes(of: from.loadUnaligned(as: UInt64.self), as: UInt64.self)
      to.storeBytes(of: last, toByteOffset: length - 8, as: UInt64.self)
    case 4..<8:
      let last = from.loadUnaligned(fromByteOffset: length - 4, as: UInt32.self)
      to.storeBytes(of: from.loadUnaligned(as: UInt32.self), as: UInt32.self)
      to.storeBytes(of: last, toByteOffset: length - 4, as: UInt32.self)
    default: to.copyMemory(from: from, byteCount: length)
    }
  }

  /// Appends the bytes of a JSON string up to the first that needs an escape, and returns their number.
  mutating func append(unescaped bytes: UnsafeBufferPointer<UInt8>) -> Int {
    reserve(bytes.count)
    let copied = JSONText.copy(bytes, to: start + count)
    count += copied
    return copied
  }

  /// Begins a JSON string with the bytes up to the first that needs an escape, and returns their number; if that is all
  /// of them, the string is also ended.
  ///
  /// - Parameters:
  ///   - afterComma: Whether a comma comes before it.
  ///   - isName: Whether a colon follows its end.
  mutating func append(quoted bytes: UnsafeBufferPointer<UInt8>, afterComma: Bool, isName: Bool) -> Int {
    reserve(bytes.count + 4)
    var place = start + count
    if afterComma {
      place[0] = UInt8(ascii: ",")
      place += 1
    }
    place[0] = UInt8(ascii: "\"")
    let copied = JSONText.copy(bytes, to: place + 1)
    place += copied + 1
    if copied == bytes.count {
      place[0] = UInt8(ascii: "\"")
      place[1] = UInt8(ascii: ":")
      place += isName ? 2 : 1
    }
    count = place - start
    return copied
  }

  /// Appends a word of ASCII characters.
  mutating func append(word: StaticString, afterComma: Bool) {
    let length = word.utf8CodeUnitCount
    reserve(length + 1)
    var place = start + count
    if afterComma {
      place[0] = UInt8(ascii: ",")
      place += 1
    }
    Self.copy(word.utf8Start, to: place, length)
    count = place - start + length
  }

  /// Appends a whole number in decimal digits.
  mutating func append(decimal value: Int64) {
    reserve(20)
    if value < 0 { append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    var length = 1
    var power: UInt64 = 10
    while length < 19, rest >= power {
      length += 1
      power *= 10
    }
    var at = count + length
    repeat {
      at -= 1
      start[at] = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
      rest /= 10
    } while rest > 0
    count += length
  }

  /// Appends the last `width` decimal digits of a number that is not negative.
  mutating func append(_ value: Int, width: Int) {
    reserve(width)
    var rest = UInt(bitPattern: value)
    for place in stride(from: count + width - 1, through: count, by: -1) {
      start[place] = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
      rest /= 10
    }
    count += width
  }

  /// Has `body` write that many bytes in place.
  @inline(__always)
  mutating func append(_ length: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Void) {
    reserve(length)
    body(start + count)
    count += length
  }
}
