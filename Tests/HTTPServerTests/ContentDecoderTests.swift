import Testing

@testable import HTTPServer

@Suite("The decoder of bodies")
struct ContentDecoderTests {
  @Test(
    "never uses memory beyond the limit, except to grow its buffer", arguments: [ContentCoding.gzip, .deflate])
  func boundsMemory(coding: ContentCoding) {
    let limits = ContentLimits(maxBodyBytes: 100_000, maxInflationRatio: 1 << 20, inflationFloorBytes: 0)
    let zeros = String(repeating: "\0", count: 8 << 20)
    let bomb = coding == .gzip ? Coded.gzip(zeros) : Coded.deflate(zeros)
    var decoder = ContentDecoder(limits: limits)
    var output = ByteBuffer()
    let error = #expect(throws: ProtocolError.self) {
      try bomb.withUnsafeBytes { try decoder.decode($0, coding, into: &output) }
    }
    #expect(error == .bodyTooLarge)
    #expect(output.count == limits.maxBodyBytes + 1)
    #expect(output.count + output.spareCapacity < 4 * limits.maxBodyBytes)
  }

  @Test("has a limit that cannot overflow")
  func boundsSum() {
    var limits = ContentLimits(maxBodyBytes: 1 << 48, maxInflationRatio: .max, inflationFloorBytes: 0)
    #expect(limits.bound(of: 3) == 1 << 48)
    limits.maxInflationRatio = 100
    #expect(limits.bound(of: 3) == 300)
    limits.inflationFloorBytes = 500
    #expect(limits.bound(of: 3) == 500 && limits.bound(of: 6) == 600)
  }

  @Test("refuses a damaged body or decodes it, within its limit, and decodes the next body")
  func survivesDamage() throws {
    let limits = ContentLimits(maxBodyBytes: 5000, maxInflationRatio: 50, inflationFloorBytes: 1000)
    var decoder = ContentDecoder(limits: limits)
    var refused = 0
    for seed in 0..<3000 as Range<UInt64> {
      var random = SplitMix(seed: seed)
      let text = Coded.prose(random.below(2000))
      let coding = random.below(2) == 0 ? ContentCoding.gzip : .deflate
      let whole = coding == .gzip ? Coded.gzip(text) : Coded.deflate(text)
      let damaged = Coded.damaged(whole, &random)
      var output = ByteBuffer()
      do {
        try damaged.withUnsafeBytes { try decoder.decode($0, coding, into: &output) }
        #expect(output.text == text, "seed \(seed)")
      } catch let error as ProtocolError {
        refused += 1
        #expect(error.status == 400 || error.status == 413, "seed \(seed)")
      }
      #expect(output.count <= limits.maxBodyBytes + 1, "seed \(seed)")
      var again = ByteBuffer()
      try whole.withUnsafeBytes { try decoder.decode($0, coding, into: &again) }
      #expect(again.text == text, "seed \(seed)")
    }
    #expect(refused > 2000)
  }

  @Test("accepts many members without data")
  func takesEmptyMembers() throws {
    let limits = ContentLimits(maxBodyBytes: 1000, maxInflationRatio: 100, inflationFloorBytes: 0)
    let body = (0..<20_000).flatMap { _ in Coded.emptyGzip } + Coded.helloGzip
    #expect(try Coded.decode(body, .gzip, limits) == Array("hello".utf8))
  }
}
