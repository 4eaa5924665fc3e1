import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialStore

@Suite("Packed attempts")
struct PackedAttemptsTests {
  private static func bytes(_ count: Int, _ random: inout RandomSource) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  private static func attempt(_ random: inout RandomSource, largest: Int = 40) -> StoredAttempt {
    func any() -> Int64 {
      let shift = Int64.random(in: 0...63, using: &random)
      return Int64.random(in: .min ... .max, using: &random) >> shift
    }
    var attempt = StoredAttempt(
      number: any(), startedAt: any(), duration: any(), outcome: any(), status: nil, failure: nil,
      decision: bytes(.random(in: 0...largest, using: &random), &random),
      figures: bytes(.random(in: 0...largest, using: &random), &random), response: nil)
    if Bool.random(using: &random) { attempt.status = any() }
    if Bool.random(using: &random) {
      let message = String(decoding: bytes(.random(in: 0...largest, using: &random), &random), as: UTF8.self)
      attempt.failure = AttemptFailure(code: Bool.random(using: &random) ? "" : "a\0ä", message: message)
    }
    if Bool.random(using: &random) {
      let body = bytes(.random(in: 0...largest, using: &random), &random)
      attempt.response = StoredAttempt.Response(
        isTruncated: .random(using: &random), head: bytes(.random(in: 0...largest, using: &random), &random),
        body: body, inflatedSize: !body.isEmpty && Bool.random(using: &random) ? any() : nil)
    }
    return attempt
  }

  private static func attempts(_ random: inout RandomSource) -> [StoredAttempt] {
    (0..<Int.random(in: 1...5, using: &random)).map { _ in attempt(&random) }
  }

  /// The size of a part that begins there, with its frame.
  private static func size(_ bytes: [UInt8], at place: Int) -> Int {
    PackedAttempts.frame + bytes[place..<(place + PackedAttempts.sizeBytes)].reduce(0) { $0 << 8 | Int($1) }
  }

  @Test("are read back as they were, whatever they are")
  func roundTrip() throws {
    for seed: UInt64 in 1...500 {
      var random = RandomSource(seed: seed)
      let attempts = Self.attempts(&random)
      let packed = try #require(PackedAttempts.packed(attempts))
      #expect(try PackedAttempts.attempts(in: packed) == attempts, "seed \(seed)")
    }
  }

  @Test("may be many and large, up to their limits")
  func limits() throws {
    var random = RandomSource(seed: 1)
    let one = Self.attempt(&random)
    let many = try #require(PackedAttempts.packed(Array(repeating: one, count: PackedAttempts.most)))
    #expect(try PackedAttempts.attempts(in: many).count == PackedAttempts.most)
    #expect(PackedAttempts.packed(Array(repeating: one, count: PackedAttempts.most + 1)) == nil)
    #expect(PackedAttempts.packed([]) == nil)
    var large = one
    func body(_ count: Int) -> StoredAttempt.Response {
      StoredAttempt.Response(isTruncated: false, head: [], body: Array(repeating: 7, count: count))
    }
    // A body of that size has its size, of 4 bytes, in its part.
    large.response = body(PackedAttempts.largestPart - 4)
    #expect(try PackedAttempts.packed([large]).map { try PackedAttempts.attempts(in: $0) } == [large])
    large.response = body(PackedAttempts.largestPart - 3)
    #expect(PackedAttempts.packed([large]) == nil)
  }

  @Test("have the same bytes in every version, because stores keep them")
  func format() throws {
    let attempt = StoredAttempt(
      number: 1, startedAt: 1_790_000_000_000_000, duration: 2500, outcome: 0, status: 503,
      failure: AttemptFailure(code: "c", message: "m"), decision: [0x7B, 0x7D], figures: [9],
      response: StoredAttempt.Response(isTruncated: true, head: [0x68], body: [0x62, 0x63], inflatedSize: 70))
    let expected: [UInt8] = [
      1, 1,
      0, 0, 24, 3, 2, 128, 128, 175, 162, 219, 255, 173, 6, 136, 39, 0, 238, 7, 1, 99, 1, 109, 2, 123, 125, 1, 9, 231,
      111,
      57, 178,
      0, 0, 3, 15, 1, 104, 57, 5, 66, 254,
      0, 0, 5, 140, 1, 2, 98, 99, 59, 148, 158, 248,
    ]
    #expect(PackedAttempts.packed([attempt]) == expected)
    #expect(try PackedAttempts.attempts(in: expected) == [attempt])
  }

  @Test("are an error if any byte is damaged, or if some are missing or too many")
  func damage() throws {
    for seed: UInt64 in 1...20 {
      var random = RandomSource(seed: seed)
      let packed = try #require(PackedAttempts.packed(Self.attempts(&random)))
      for place in packed.indices {
        for bit in 0..<8 {
          var broken = packed
          broken[place] ^= 1 << UInt8(bit)
          #expect(throws: AttemptDamage.self, "seed \(seed), bit \(bit) of byte \(place)") {
            try PackedAttempts.attempts(in: broken)
          }
        }
      }
      // Whole parts may be missing at the end.
      var cuts: Set<Int> = [PackedAttempts.prefix + Self.size(packed, at: PackedAttempts.prefix)]
      if let facts = cuts.first, facts < packed.count { cuts.insert(facts + Self.size(packed, at: facts)) }
      for count in packed.indices where !cuts.contains(count) {
        #expect(throws: AttemptDamage.self, "seed \(seed), \(count) bytes") {
          try PackedAttempts.attempts(in: Array(packed.prefix(count)))
        }
      }
      #expect(throws: AttemptDamage.self) { try PackedAttempts.attempts(in: packed + [0]) }
      #expect(throws: AttemptDamage.self) { try PackedAttempts.attempts(in: packed + packed) }
    }
  }

  /// Puts the right checksums behind damaged parts, so that reading goes on.
  private static func sealed(_ bytes: [UInt8]) -> [UInt8] {
    var (bytes, place) = (bytes, PackedAttempts.prefix)
    for part in PackedAttempts.Part.allCases {
      guard bytes.count >= place + PackedAttempts.frame else { break }
      let end = place + size(bytes, at: place) - PackedAttempts.checksumBytes
      guard end + PackedAttempts.checksumBytes <= bytes.count else { break }
      let sum = PackedAttempts.checksum(bytes[(part == .facts ? 0 : place)..<end], of: part)
      for index in 0..<PackedAttempts.checksumBytes {
        bytes[end + index] = UInt8(truncatingIfNeeded: sum >> UInt32(24 - 8 * index))
      }
      place = end + PackedAttempts.checksumBytes
    }
    return bytes
  }

  @Test("that are damaged and have right checksums are an error, or attempts, but never the end of the process")
  func fuzz() throws {
    var (readable, refused) = (0, 0)
    for seed: UInt64 in 1...20_000 {
      var random = RandomSource(seed: seed)
      var bytes = try #require(PackedAttempts.packed(Self.attempts(&random)))
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0...3, using: &random) {
        case 0: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
        case 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
        case 2: bytes.remove(at: place)
        default: bytes.insert(.random(in: 0...255, using: &random), at: place)
        }
      }
      do {
        let attempts = try PackedAttempts.attempts(in: Self.sealed(bytes))
        // What was read can be decoded, or is damaged, too.
        for attempt in attempts { _ = try? attempt.record(of: Sample.id(1), .none) }
        readable += 1
      } catch {
        refused += 1
      }
      _ = try? PackedAttempts.attempts(in: Self.sealed(Self.bytes(.random(in: 0...64, using: &random), &random)))
    }
    #expect(readable > 100 && refused > 1000, "\(readable) were read, \(refused) were not")
  }

  @Test("lose their bodies or their responses when a store cuts off their last parts")
  func cut() throws {
    for seed: UInt64 in 1...200 {
      var random = RandomSource(seed: seed)
      var attempts = Self.attempts(&random)
      let packed = try #require(PackedAttempts.packed(attempts))
      let facts = PackedAttempts.prefix + Self.size(packed, at: PackedAttempts.prefix)
      guard facts < packed.count else {
        #expect(attempts.allSatisfy { $0.response == nil })
        continue
      }
      let heads = facts + Self.size(packed, at: facts)
      for index in attempts.indices { attempts[index].forgetBody() }
      #expect(try PackedAttempts.attempts(in: Array(packed.prefix(heads))) == attempts, "seed \(seed)")
      for index in attempts.indices { attempts[index].response = nil }
      #expect(try PackedAttempts.attempts(in: Array(packed.prefix(facts))) == attempts, "seed \(seed)")
    }
  }

  @Test("become records again, and bodies that are compressed are inflated", arguments: [0, Int.max])
  func records(threshold: Int) throws {
    for body in [[], Array(String(repeating: "text ", count: 100).utf8)] {
      let record = Sample.attempt(3, body: body)
      let stored = StoredAttempt(record, of: Sample.id(1), compressMinBytes: threshold, .none)
      #expect((stored.response?.inflatedSize != nil) == (threshold == 0 && !body.isEmpty))
      #expect(try stored.record(of: Sample.id(1), .none) == record)
    }
    var broken = StoredAttempt(Sample.attempt(3), of: Sample.id(1), compressMinBytes: .max, .none)
    broken.outcome = 99
    #expect(throws: AttemptDamage(reason: "the outcome of attempt 3 is 99")) {
      try broken.record(of: Sample.id(1), .none)
    }
    broken.outcome = 0
    broken.response?.inflatedSize = 5
    #expect(throws: AttemptDamage(reason: "the response body of attempt 3 cannot be decompressed", isBroken: true)) {
      try broken.record(of: Sample.id(1), .none)
    }
  }
}
