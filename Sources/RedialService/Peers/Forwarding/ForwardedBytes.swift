/// Writes the form in which instances exchange submissions: numbers as eight bytes, the lowest first, and bytes after their
/// number.
struct ForwardedWriter: Sendable {
  private(set) var bytes: [UInt8] = []

  init(capacity: Int = 0) {
    bytes.reserveCapacity(capacity)
  }

  mutating func add(_ number: Int64) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func add(_ other: [UInt8]) {
    add(Int64(other.count))
    bytes += other
  }

  mutating func add(_ text: String) {
    add(Int64(text.utf8.count))
    bytes += text.utf8
  }

  /// Adds what was written apart.
  mutating func add(raw other: [UInt8]) {
    bytes += other
  }
}

/// Reads it again. What is missing or impossible is nil.
struct ForwardedReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0

  /// - Parameter bytes: They must outlive the reader.
  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  /// Whether everything was read.
  var isAtEnd: Bool { position == bytes.count }

  mutating func number() -> Int64? {
    guard bytes.count - position >= 8 else { return nil }
    defer { position += 8 }
    return UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: position, as: Int64.self).littleEndian
  }

  /// The next bytes, without a copy.
  mutating func slice() -> UnsafeBufferPointer<UInt8>? {
    guard let count = number(), count >= 0, count <= bytes.count - position else { return nil }
    defer { position += Int(count) }
    return UnsafeBufferPointer(rebasing: bytes[position..<position + Int(count)])
  }

  mutating func array() -> [UInt8]? { slice().map { Array($0) } }

  mutating func text() -> String? { slice().map { String(decoding: $0, as: UTF8.self) } }
}
