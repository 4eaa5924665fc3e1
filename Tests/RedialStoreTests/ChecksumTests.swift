import CLinux
import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialStore

@Suite("Checksums")
struct ChecksumTests {
  private func sum(_ bytes: [UInt8], by add: (UInt32, UnsafeRawPointer?, Int) -> UInt32) -> UInt32 {
    bytes.withUnsafeBytes { ~add(.max, $0.baseAddress, $0.count) }
  }

  @Test("are CRC-32C")
  func vectors() {
    // RFC 3720, appendix B.4, and the check value of the catalogue of CRCs.
    let vectors: [([UInt8], UInt32)] = [
      ([UInt8](repeating: 0, count: 32), 0x8A91_36AA), ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
      (Array(0..<32), 0x46DD_794E), (Array((0..<32).reversed()), 0x113F_DB5C), (Array("123456789".utf8), 0xE306_9283),
    ]
    for (bytes, expected) in vectors {
      var checksum = Checksum()
      bytes.withUnsafeBytes { checksum.add(piece: $0) }
      #expect(checksum.value == expected)
      #expect(sum(bytes, by: redial_continue_crc32c_slowly) == expected)
    }
  }

  @Test("are the same with and without the instruction, and in pieces", arguments: 1...3)
  func pieces(seed: UInt64) {
    var random = RandomSource(seed: seed)
    for _ in 0..<200 {
      let bytes = (0..<Int.random(in: 0...70, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let cut = Int.random(in: 0...bytes.count, using: &random)
      var checksum = Checksum()
      for piece in [bytes[..<cut], bytes[cut...]] { piece.withUnsafeBytes { checksum.add(piece: $0) } }
      #expect(checksum.value == sum(bytes, by: redial_continue_crc32c))
      #expect(checksum.value == sum(bytes, by: redial_continue_crc32c_slowly))
    }
  }

  @Test("differ for missing and empty values, and by the end of each")
  func values() {
    let adds: [(inout Checksum) -> Void] = [
      { _ in }, { $0.add(nil as Int64?) }, { $0.add(0) }, { $0.add(-1) }, { $0.add([] as [UInt8]) },
      { $0.add("") }, { $0.add(nil as String?) },
      {
        $0.add("a"); $0.add("bc")
      },
      {
        $0.add("ab"); $0.add("c")
      },
    ]
    let sums = adds.map { add in
      var checksum = Checksum()
      add(&checksum)
      return checksum.value
    }
    // Empty bytes and an empty text are one, and so are a number and a text that are not there.
    #expect(Set(sums).count == adds.count - 3)
  }

  @Test("of a request and an attempt are found in their columns again")
  func columns() throws {
    for number in 0..<300 {
      let id = Sample.id(number)
      let request = StoredRequest(spec: [UInt8(number % 256)], body: [1], inflatedSize: number % 2 == 0 ? nil : 5)
      #expect(StoredRequest.Sums(column: request.sums(of: id).column) == request.sums(of: id))
      let attempt = StoredAttempt(Sample.attempt(1 + number % 200), of: id, compressMinBytes: 4096, .none)
      let sums = AttemptSums(attempt, of: id)
      let column = try #require(sums.response)
      let read = AttemptSums(facts: sums.sum, head: column >> 32, body: column & 0xFFFF_FFFF)
      #expect(read == sums)
      try read.check(attempt, of: id)
      #expect(throws: AttemptDamage.self) { try read.check(attempt, of: Sample.id(number + 1)) }
    }
  }
}
