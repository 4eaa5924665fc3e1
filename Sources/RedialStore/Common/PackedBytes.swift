/// Writes numbers and bytes one after the other. Numbers have seven bits a byte, the lowest first.
package struct PackedWriter: Sendable {
  /// What was written.
  package private(set) var bytes: [UInt8] = []

  /// Nothing is written yet.
  package init() {}

  /// Forgets what was written, and keeps the memory.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
  }

  /// Writes a number.
  package mutating func add(_ value: UInt64) {
    var rest = value
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Writes a number of any sign: the sign becomes the lowest bit, so that small numbers take few bytes.
  package mutating func add(_ value: Int64) {
    add(UInt64(bitPattern: value << 1 ^ value >> 63))
  }

  /// Writes a number, or that there is none.
  package mutating func add(_ value: Int64?) {
    guard let value else { return bytes.append(0) }
    bytes.append(1)
    add(value)
  }

  /// Writes one byte.
  package mutating func add(byte: UInt8) {
    bytes.append(byte)
  }

  /// Writes bytes with their count.
  package mutating func add(_ content: [UInt8]) {
    add(UInt64(content.count))
    bytes.append(contentsOf: content)
  }
}

/// Reads what a ``PackedWriter`` has written. Any bytes may be given: nothing outside them is read.
package struct PackedReader: Sendable {
  private let bytes: [UInt8]
  private var place: Int

  /// Reads bytes from a place on.
  package init(_ bytes: [UInt8], from place: Int = 0) {
    self.bytes = bytes
    self.place = place
  }

  /// Whether all bytes were read.
  package var isAtEnd: Bool { place >= bytes.count }

  /// A byte; nil at the end.
  package mutating func byte() -> UInt8? {
    guard place < bytes.count else { return nil }
    defer { place += 1 }
    return bytes[place]
  }

  /// A number without a sign; nil if there is none.
  package mutating func natural() -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: 0 as UInt64, to: 64, by: 7) {
      // The tenth byte has one bit.
      guard let byte = byte(), shift < 63 || byte <= 1 else { return nil }
      value |= UInt64(byte & 0x7F) << shift
      if byte & 0x80 == 0 { return value }
    }
    return nil
  }

  /// A number of any sign; nil if there is none.
  package mutating func number() -> Int64? {
    natural().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
  }

  /// A number that may have been left out: nil if the bytes are damaged, nil within if it was.
  package mutating func optional() -> Int64?? {
    switch byte() {
    case 0: .some(nil)
    case 1: number().map { .some($0) }
    default: nil
    }
  }

  /// Bytes; nil if there are not so many.
  package mutating func string() -> [UInt8]? {
    guard let size = natural(), size <= UInt64(bytes.count - place) else { return nil }
    defer { place += Int(size) }
    return Array(bytes[place..<(place + Int(size))])
  }

  /// Reads zeros up to the end. Returns false if there is anything else.
  package mutating func skipZeros() -> Bool {
    defer { place = bytes.count }
    return bytes[place...].allSatisfy { $0 == 0 }
  }
}
