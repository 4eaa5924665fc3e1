import Testing

@testable import HTTPServer

@Suite("The settings of an event loop")
struct LoopSettingsTests {
  private func settings(_ configure: (inout HTTPServerConfiguration) -> Void) -> LoopSettings {
    var configuration = HTTPServerConfiguration()
    configure(&configuration)
    return LoopSettings(configuration)
  }

  @Test("each loop has its share of the connections, rounded up")
  func shares() {
    let three = settings { ($0.loops, $0.maxConnections, $0.maxSurplusConnections) = (3, 100, 10) }
    #expect(three.maxConnections == 34)
    #expect(three.maxSurplus == 4)
    let none = settings { ($0.loops, $0.maxConnections, $0.maxSurplusConnections) = (2, 0, 0) }
    #expect(none.maxConnections == 1)
    #expect(none.maxSurplus == 0)
  }

  @Test("a bound that is out of range becomes the nearest possible one")
  func clamps() {
    let least = settings {
      ($0.maxRequestsPerConnection, $0.maxOutputBacklogBytes, $0.maxPipelinedBytes, $0.gzipLevel) = (0, 0, -1, -1)
    }
    #expect(least.maxRequestsPerConnection == 1)
    #expect(least.maxOutputBacklogBytes == 1)
    #expect(least.readAheadBytes == 1)
    #expect(least.compression.level == 0)
    let most = settings { ($0.maxOutputBacklogBytes, $0.maxPipelinedBytes, $0.gzipLevel) = (.max, .max, 10) }
    #expect(most.maxOutputBacklogBytes == 1 << 48)
    // What is read ahead must fit the memory in which it is received.
    #expect(most.readAheadBytes == RequestInput.scratchBytes)
    #expect(most.compression.level == 9)
  }

  @Test("each kind of wait has its own configured length")
  func waits() {
    let waits = settings {
      ($0.idleTimeout, $0.headerTimeout, $0.bodyTimeout) = (.seconds(1), .seconds(2), .seconds(3))
      ($0.bodyPieceTimeout, $0.writeTimeout, $0.lingerTimeout) = (.seconds(4), .seconds(5), .seconds(6))
    }.waits
    let expected: [DeadlineKind: UInt64] = [
      .idle: 1000, .header: 2000, .first: 2000, .surplus: 2000, .body: 3000, .piece: 4000, .write: 5000,
      .linger: 6000, .surplusLinger: 6000,
    ]
    for kind in DeadlineKind.allCases { #expect(waits[Int(kind.rawValue)] == expected[kind], "\(kind)") }
  }

  @Test(
    "a duration is counted in milliseconds, rounded up, at least one",
    arguments: [
      (Duration.milliseconds(1500), UInt64(1500)), (.nanoseconds(1_000_001), 2), (.zero, 1), (.seconds(-5), 1),
      (.seconds(Int64.max), (1 << 40) * 1000),
    ])
  func milliseconds(_ duration: Duration, _ expected: UInt64) {
    #expect(LoopSettings.milliseconds(duration) == expected)
  }

  @Test("content is compressed between two sizes, and below them only for a client that takes nothing else")
  func compression() {
    let compression = LoopSettings.Compression(level: 1, minBytes: 10, maxBytes: 20)
    #expect([9, 10, 20, 21].map { compression.covers($0, isRequired: false) } == [false, true, true, false])
    #expect([9, 10, 20, 21].map { compression.covers($0, isRequired: true) } == [true, true, true, false])
    let off = LoopSettings.Compression(level: 0, minBytes: 10, maxBytes: 20)
    #expect(!off.covers(15, isRequired: true))
  }
}
