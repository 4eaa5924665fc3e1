import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("How payloads are stored")
struct PayloadCodingTests {
  let folder = TemporaryFolder()
  static let text = Array(String(repeating: #"{"amount": 100, "currency": "EUR"}, "#, count: 500).utf8)

  private static func noise(_ count: Int) -> [UInt8] {
    var random = RandomSource(seed: 9)
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  @Test("long payloads that become smaller are compressed; short or other ones are stored unchanged")
  func choice() throws {
    #expect(PayloadCoding.deflated(Self.text, threshold: 4096).map { $0.count < Self.text.count / 10 } == true)
    #expect(PayloadCoding.deflated(Self.text, threshold: Self.text.count + 1) == nil)
    #expect(PayloadCoding.deflated(Self.noise(100_000), threshold: 4096) == nil)
    #expect(PayloadCoding.deflated([], threshold: 0) == nil)
  }

  @Test("damaged payloads, and those that inflate to a wrong size, are detected")
  func damage() throws {
    let stored = try #require(PayloadCoding.deflated(Self.text, threshold: 0))
    let size = Int64(Self.text.count)
    func read(_ bytes: [UInt8], _ size: Int64?) -> [UInt8]? {
      bytes.withUnsafeBufferPointer { PayloadCoding.payload($0, size: size) }
    }
    #expect(read(stored, size) == Self.text)
    #expect(read(stored, nil) == stored)
    for wrong in [size - 1, size + 1, 0, -1, .max] { #expect(read(stored, wrong) == nil) }
    #expect(read(Array(stored.dropLast()), size) == nil)
    for index in [0, 1, stored.count / 2, stored.count - 1] {
      var broken = stored
      broken[index] ^= 0x55
      #expect(read(broken, size) == nil, "byte \(index)")
    }
  }

  @Test("a call with many attempts keeps only the latest response bodies, but everything else of all attempts")
  func manyAttempts() throws {
    let path = folder.file("calls.db")
    let store = try SQLiteStore(path: path, payloads: PayloadRule(keptResponses: 3))
    defer { store.close() }
    let reader = try SQLiteReader(path: path, connections: 1, beside: store)
    var call = Sample.call(1, .running)
    try store.commit([.insert(call)])
    for number in 1...8 {
      call.progress.attempts = number
      try store.commit([.update(call.id, call.progress, Sample.attempt(number, body: number == 2 ? [] : Self.text))])
    }
    let attempts = try #require(try reader.call(call.id, allResponses: true)).attempts
    #expect(attempts.map(\.number) == Array(1...8))
    #expect(attempts.map { $0.response?.body == Self.text } == [false, false, false, false, false, true, true, true])
    // A removed body is marked as such; an empty one has not become shorter.
    #expect(attempts.map { $0.response?.truncated } == [true, false, true, true, true, false, false, false])
    #expect(attempts.allSatisfy { $0.response?.head == Sample.attempt(1).response?.head && $0.status == 503 })
  }

  @Test("bodies and captured responses are read back whole, and use less space", arguments: [0, 4096, Int.max])
  func roundTrip(threshold: Int) throws {
    let path = folder.file("calls.db")
    let store = try SQLiteStore(path: path, payloads: PayloadRule(compressMinBytes: threshold))
    defer { store.close() }
    let reader = try SQLiteReader(path: path, connections: 1, beside: store)
    let bodies = [[], [7], Self.text, Self.noise(20_000), Self.text + Self.noise(5000)]
    for (number, body) in bodies.enumerated() {
      let call = Sample.call(number, .running, body: body)
      try store.commit([.insert(call), .update(call.id, call.progress, Sample.attempt(1, body: body))])
    }
    for (number, body) in bodies.enumerated() {
      let found = try #require(try reader.call(Sample.id(number), allResponses: true))
      #expect(found.record.body == body)
      #expect(found.attempts.first?.response?.body == body)
    }
    func stored(_ sql: String) throws -> Int64 {
      try store.file.connection.value("check", "\(sql) = \(Sample.id(2).rawValue)") { $0.integer(0) } ?? 0
    }
    let sizes = [
      try stored("SELECT length(body) FROM requests WHERE id"),
      try stored("SELECT length(response_body) FROM attempts WHERE call_id"),
    ]
    for size in sizes {
      #expect(threshold == .max ? size == Self.text.count : size < Self.text.count / 10)
    }
  }
}
