import RedialCore
import Testing

@testable import RedialStore

@Suite("What kept calls take")
struct KeptBytesTests {
  @Test("without enough samples nothing has to go, and a sample without calls says nothing")
  func nothing() {
    var kept = KeptBytes()
    for _ in 0..<9 { kept.add(bytes: 100, calls: 0) }
    for _ in 0..<4 { kept.add(bytes: 100_000, calls: 100) }
    #expect(kept.excess(over: 1, of: 1000, in: 1 << 40) == 0)
    kept.add(bytes: 100_000, calls: 100)
    #expect(kept.excess(over: 1, of: 1000, in: 1 << 40) == 1000)
  }

  @Test("as many go as the limit has no room for, and no more than the size of the files can explain")
  func excess() {
    var kept = KeptBytes()
    for _ in 0..<5 { kept.add(bytes: 100_000, calls: 100) }
    #expect(kept.excess(over: 1_000_000, of: 1000, in: 1 << 40) == 0)
    #expect(kept.excess(over: 1_000_000, of: 1001, in: 1 << 40) == 1)
    #expect(kept.excess(over: 999_000, of: 2000, in: 1 << 40) == 1001)
    #expect(kept.excess(over: 0, of: 5, in: 1 << 40) == 5)
    #expect(kept.excess(over: .max, of: 1 << 50, in: .max) == 0)
    // The files are within the limit, or hardly larger.
    #expect(kept.excess(over: 1_000_000, of: 5000, in: 999_999) == 0)
    #expect((45...51).contains(kept.excess(over: 1_000_000, of: 5000, in: 1_010_000)))
  }

  @Test(
    "few large calls among many small ones are not missed, and the mean follows when calls change", arguments: 1...5)
  func samples(seed: UInt64) throws {
    var random = RandomSource(seed: seed)
    var kept = KeptBytes()
    func take(share: Double) {
      let sizes = (0..<500).map { _ in Double.random(in: 0..<1, using: &random) < share ? 1_000_000 : 500 }
      kept.add(bytes: sizes.reduce(0, +), calls: sizes.count)
    }
    // 10,495 bytes are the mean.
    for _ in 0..<60 { take(share: 0.01) }
    #expect(try abs(#require(kept.bytesPerCall) / 10_495 - 1) < 0.35)
    for _ in 0..<120 { take(share: 0) }
    #expect(try #require(kept.bytesPerCall) < 510)
  }
}
