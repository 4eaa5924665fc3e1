import Glibc

/// The positions of one header field's name and value, as offsets from the request's first byte.
struct FieldSlot {
  var name: RequestHead.Slice
  var value: RequestHead.Slice
}

/// The header fields of the current request. A loop has one table, because it parses one head at a time.
struct FieldTable: ~Copyable {
  /// `maxHeaderCount` slots, of which the first `count` are set.
  ///
  /// Sound: allocated once at full size, freed with the table. The scanner has compared the number of lines with the
  /// limit before a slot is written, and `append` checks it again.
  let slots: UnsafeMutablePointer<FieldSlot>
  private let capacity: Int
  private(set) var count = 0

  init(limits: ParserLimits) {
    capacity = max(1, limits.maxHeaderCount)
    slots = .allocate(capacity: capacity)
  }

  deinit { slots.deallocate() }

  /// Parses the header section, RFC 9112 section 5, and determines the framing of the body, section 6.3.
  ///
  /// - Parameters:
  ///   - bytes: The request's first byte.
  ///   - start: The first field line.
  ///   - end: The end of the head, after its empty line.
  mutating func parse(
    _ bytes: UnsafePointer<UInt8>, from start: Int, to end: Int, into head: inout RequestHead
  ) throws(ProtocolError) {
    count = 0
    var framing = Framing()
    var index = start
    let last = end - 2
    while index < last {
      let nameStart = index
      while ASCII.isToken(bytes[index]) { index += 1 }
      // This refuses obs-fold and space before the colon too (RFC 9112 sections 5.1 and 5.2).
      guard index > nameStart, bytes[index] == ASCII.colon else {
        throw .badRequest("A header line is not a name, a colon and a value.")
      }
      let nameCount = index - nameStart
      index += 1
      guard let found = memchr(bytes + index, Int32(ASCII.lineFeed), end - index) else {
        throw .badRequest("A header line has no end.")
      }
      let next = UnsafeRawPointer(found) - UnsafeRawPointer(bytes) + 1
      var valueEnd = next - 2
      while index < valueEnd, ASCII.isBlank(bytes[index]) { index += 1 }
      while valueEnd > index, ASCII.isBlank(bytes[valueEnd - 1]) { valueEnd -= 1 }
      // Without an early exit, so that the compiler can check many bytes at once.
      var dirty: UInt8 = 0
      for position in index..<valueEnd { dirty |= ASCII.isFieldValue(bytes[position]) ? 0 : 1 }
      guard dirty == 0 else { throw .badRequest("A header value holds a control byte.") }
      guard count < capacity else { throw .fieldsTooLarge }
      (slots + count).initialize(
        to: FieldSlot(
          name: .init(offset: UInt32(nameStart), count: UInt32(nameCount)),
          value: .init(offset: UInt32(index), count: UInt32(valueEnd - index))))
      count += 1
      try framing.read(bytes + nameStart, nameCount, bytes + index, valueEnd - index)
      index = next
    }
    try framing.decide(into: &head)
  }

  /// Removes every field of that name.
  ///
  /// - Parameter bytes: The request's first byte.
  mutating func remove(_ lowercaseName: StaticString, _ bytes: UnsafePointer<UInt8>) {
    var kept = 0
    for index in 0..<count {
      let name = slots[index].name
      if ASCII.equal(bytes + Int(name.offset), Int(name.count), lowercaseName) { continue }
      slots[kept] = slots[index]
      kept += 1
    }
    count = kept
  }
}
