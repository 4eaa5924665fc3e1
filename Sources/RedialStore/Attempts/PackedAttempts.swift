internal import CZlib
internal import RedialModel

/// Attempts of one call, packed into one value that is stored with the call, so that they need no rows of their own.
///
/// The value is a byte with the format, a byte with the number of attempts, and up to three parts: the facts of all
/// attempts, then the heads of their responses, then the bodies. Each part is its size (3 bytes, the highest first), its
/// bytes, and a checksum of both (4 bytes, likewise; that of the first part begins with the format). Every number in a part has
/// seven bits a byte, the lowest first.
///
/// A store can cut the last parts off without reading them: without the third, all bodies are forgotten; without the second
/// too, there are no responses, as after their content was erased.
package enum PackedAttempts {
  /// The maximum number of attempts in a value.
  package static let most = 255
  /// The maximum size of a part, in bytes.
  package static let largestPart = 1 << 24 - 1

  /// The format of this version.
  static let format: UInt8 = 1
  /// The bytes before the first part.
  package static let prefix = 2
  /// The bytes of a part besides its content.
  package static let frame = sizeBytes + checksumBytes
  package static let sizeBytes = 3
  static let checksumBytes = 4

  // MARK: Packing

  /// The packed attempts; nil if there are none, too many, or if they are too large.
  package static func packed(_ attempts: [StoredAttempt]) -> [UInt8]? {
    guard (1...most).contains(attempts.count) else { return nil }
    var packing = Packing(capacity: prefix + attempts.reduce(0) { $0 + $1.roughSize })
    packing.bytes += [format, UInt8(attempts.count)]
    packing.part(.facts) { packing in for attempt in attempts { packing.add(factsOf: attempt) } }
    if attempts.contains(where: { $0.response != nil }) {
      packing.part(.heads) { packing in for attempt in attempts { packing.add(headOf: attempt.response) } }
    }
    if attempts.contains(where: { $0.response?.body.isEmpty == false }) {
      packing.part(.bodies) { packing in for attempt in attempts { packing.add(bodyOf: attempt.response) } }
    }
    return packing.isTooLarge ? nil : packing.bytes
  }

  // MARK: Reading

  /// The attempts in packed bytes.
  ///
  /// - Throws: If the bytes were not packed by this version, or are damaged. Any bytes may be given.
  package static func attempts(in bytes: [UInt8]) throws(AttemptDamage) -> [StoredAttempt] {
    guard let first = bytes.first else { throw AttemptDamage(reason: "its packed attempts are empty", isBroken: true) }
    guard first == format else {
      throw AttemptDamage(reason: "its packed attempts have the format \(first), and this version reads \(format)")
    }
    guard let attempts = Unpacking(bytes).attempts() else {
      throw AttemptDamage(reason: "its packed attempts are damaged", isBroken: true)
    }
    return attempts
  }

  // MARK: Parts

  /// The parts, in order.
  enum Part: UInt, CaseIterable {
    case facts, heads, bodies
  }

  /// The checksum of bytes of a part. One part is never taken for another, because each begins with another value.
  static func checksum(_ bytes: ArraySlice<UInt8>, of part: Part) -> UInt32 {
    bytes.withUnsafeBufferPointer { UInt32(truncatingIfNeeded: crc32(part.rawValue, $0.baseAddress, UInt32($0.count))) }
  }

  /// What is there of an attempt: bits of the first byte of its facts.
  struct Facts: OptionSet {
    let rawValue: UInt8
    static let status = Facts(rawValue: 1)
    static let failure = Facts(rawValue: 2)
    static let known: Facts = [.status, .failure]
  }

  /// What is there of a response: bits of the first byte of its head. That of an attempt without a response is 0.
  struct Head: OptionSet {
    let rawValue: UInt8
    static let response = Head(rawValue: 1)
    static let truncated = Head(rawValue: 2)
    static let body = Head(rawValue: 4)
    static let compressed = Head(rawValue: 8)
    static let sealed = Head(rawValue: 16)
    static let known: Head = [.response, .truncated, .body, .compressed, .sealed]
  }
}

// MARK: - Packing

extension PackedAttempts {
  private struct Packing {
    var bytes: [UInt8] = []
    var isTooLarge = false

    init(capacity: Int) {
      bytes.reserveCapacity(capacity)
    }

    mutating func part(_ part: Part, _ content: (inout Packing) -> Void) {
      // The format and the number of attempts belong to the first part's checksum.
      let (first, size) = (part == .facts ? 0 : bytes.count, bytes.count)
      bytes += [0, 0, 0]
      content(&self)
      let count = bytes.count - size - sizeBytes
      if count > largestPart { isTooLarge = true }
      for place in 0..<sizeBytes { bytes[size + place] = UInt8(truncatingIfNeeded: count >> (16 - 8 * place)) }
      let sum = checksum(bytes[first...], of: part)
      for place in 0..<checksumBytes { bytes.append(UInt8(truncatingIfNeeded: sum >> UInt32(24 - 8 * place))) }
    }

    mutating func add(factsOf attempt: StoredAttempt) {
      var facts: Facts = []
      if attempt.status != nil { facts.insert(.status) }
      if attempt.failure != nil { facts.insert(.failure) }
      bytes.append(facts.rawValue)
      add(attempt.number)
      add(attempt.startedAt)
      add(attempt.duration)
      add(attempt.outcome)
      if let status = attempt.status { add(status) }
      if let failure = attempt.failure {
        add(Array(failure.code.utf8))
        add(Array(failure.message.utf8))
      }
      add(attempt.decision)
      add(attempt.figures)
    }

    mutating func add(headOf response: StoredAttempt.Response?) {
      guard let response else { return bytes.append(0) }
      var head: Head = .response
      if response.isTruncated { head.insert(.truncated) }
      if response.isSealed { head.insert(.sealed) }
      if !response.body.isEmpty { head.formUnion(response.inflatedSize == nil ? .body : [.body, .compressed]) }
      bytes.append(head.rawValue)
      add(response.head)
    }

    mutating func add(bodyOf response: StoredAttempt.Response?) {
      guard let response, !response.body.isEmpty else { return }
      if let size = response.inflatedSize { add(size) }
      add(response.body)
    }

    /// A number of any sign: the sign becomes the lowest bit, so that small numbers take few bytes.
    private mutating func add(_ value: Int64) {
      add(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    private mutating func add(_ value: UInt64) {
      var rest = value
      while rest > 0x7F {
        bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      bytes.append(UInt8(rest))
    }

    private mutating func add(_ content: [UInt8]) {
      add(UInt64(content.count))
      bytes += content
    }
  }
}

extension StoredAttempt {
  /// About how many bytes it takes packed, and not fewer.
  fileprivate var roughSize: Int {
    let failure = failure.map { $0.code.utf8.count + $0.message.utf8.count } ?? 0
    let response = response.map { $0.head.count + $0.body.count } ?? 0
    return 96 + failure + decision.count + figures.count + response
  }
}
