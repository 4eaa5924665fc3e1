@testable import HTTPServer

/// Bytes in a content coding, and decoded.
enum Coded {
  /// `hello` as written by gzip(1), RFC 1952.
  static let helloGzip: [UInt8] = [
    0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xFF, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x86, 0xA6,
    0x10, 0x36, 0x05, 0x00, 0x00, 0x00,
  ]
  /// `hello` in the zlib format, RFC 1950.
  static let helloDeflate: [UInt8] = [
    0x78, 0x9C, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x06, 0x2C, 0x02, 0x15,
  ]
  /// A member without data.
  static let emptyGzip = gzip([])

  static func gzip(_ plain: [UInt8]) -> [UInt8] {
    var encoder = GzipEncoder(level: 6)
    var output = ByteBuffer()
    guard encoder.encode(plain, mustShrink: false, into: &output) else { return [] }
    return output.array
  }

  static func gzip(_ text: String) -> [UInt8] { gzip(Array(text.utf8)) }

  /// The compressed data of a gzip member between the two marks of the zlib format.
  static func deflate(_ text: String) -> [UInt8] {
    var (low, high) = (UInt32(1), UInt32(0))
    for byte in text.utf8 {
      low = (low + UInt32(byte)) % 65521
      high = (high + low) % 65521
    }
    let sum = high << 16 | low
    let ending = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> $0) }
    return [0x78, 0x9C] + gzip(text).dropFirst(10).dropLast(8) + ending
  }

  /// The content of a gzip body.
  static func inflated(_ body: [UInt8]) throws -> String {
    let limits = ContentLimits(maxBodyBytes: 1 << 26, maxInflationRatio: 1 << 20, inflationFloorBytes: 0)
    return String(decoding: try decode(body, .gzip, limits), as: UTF8.self)
  }

  static func decode(_ body: [UInt8], _ coding: ContentCoding, _ limits: ContentLimits) throws -> [UInt8] {
    var decoder = ContentDecoder(limits: limits)
    var output = ByteBuffer()
    try body.withUnsafeBytes { try decoder.decode($0, coding, into: &output) }
    return output.array
  }

  /// Bytes with random changes, insertions, removals or truncation.
  static func damaged(_ bytes: [UInt8], _ random: inout SplitMix) -> [UInt8] {
    var bytes = bytes
    for _ in 0...random.below(4) where !bytes.isEmpty {
      let index = random.below(bytes.count)
      switch random.below(5) {
      case 0: bytes[index] ^= 1 << UInt8(random.below(8))
      case 1: bytes[index] = UInt8(random.below(256))
      case 2: bytes.insert(UInt8(random.below(256)), at: index)
      case 3: bytes.remove(at: index)
      default: bytes.removeLast(random.below(bytes.count))
      }
    }
    return bytes
  }

  /// Repeated words, which shrink to about a third.
  static func prose(_ count: Int) -> String {
    var random = SplitMix(seed: 7)
    let words = ["call", "attempt", "backoff", "jitter", "deadline", "breaker", "budget", "lease", "é"]
    var text = ""
    while text.utf8.count < count { text += words[random.below(words.count)] + "\(random.below(1000)) " }
    while text.utf8.count > count { text.removeLast() }
    while text.utf8.count < count { text += "." }
    return text
  }
}

/// Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators (2014).
struct SplitMix {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

extension ByteBuffer {
  /// The content.
  var array: [UInt8] { Array(UnsafeBufferPointer(start: bytes, count: count)) }
}
