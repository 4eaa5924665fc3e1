import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("Bodies that are read in pieces")
struct StoredBodyTests {
  let folder = TemporaryFolder()
  private static let noise: [UInt8] = {
    var random = RandomSource(seed: 9)
    return (0..<300_001).map { _ in UInt8.random(in: 0...255, using: &random) }
  }()
  private static let text = Array(String(repeating: #"{"amount": 100, "currency": "EUR"}, "#, count: 9000).utf8)

  private func store(
    _ bodies: [[UInt8]], streamAbove: Int = 1000, vault: Vault = .none
  ) throws -> SQLiteStore {
    var rule = PayloadRule()
    rule.streamBodiesAbove = streamAbove
    let store = try SQLiteStore(path: folder.file("calls.db"), payloads: rule, vault: vault)
    try store.commit(
      bodies.enumerated().map { .insert(Sample.call($0.offset, .scheduled, due: Sample.start, body: $0.element)) })
    return store
  }

  private func read(_ body: StoredBody, by count: Int) throws -> [UInt8] {
    var all: [UInt8] = []
    while true {
      let piece = try body.next(atMost: count)
      if piece.isEmpty { return all }
      #expect(piece.count <= count)
      all += piece
    }
  }

  @Test(
    "they are read back unchanged, compressed or not, in pieces of any size, and again after a rewind",
    arguments: [false, true])
  func roundTrip(isSealed: Bool) throws {
    let bodies = [Self.noise, Self.text, Self.noise + Self.text, Array(Self.text.prefix(4097))]
    let vault = isSealed ? TestKey.vault() : .none
    let store = try store(bodies, vault: vault)
    defer { store.close() }
    let stored = try StoredBodies(path: folder.file("calls.db"), connections: 1, vault: vault)
    let compressed: Int64? = try store.file.connection.value(
      "check", "SELECT count(*) FROM requests WHERE body_size IS NOT NULL"
    ) { $0.integer(0) }
    #expect(compressed == 3)
    for (number, body) in bodies.enumerated() {
      for count in [1000, 65_536, .max / 2] {
        let source = stored.body(of: Sample.id(number), size: body.count)
        #expect(try read(source, by: count) == body, "\(number) by \(count)")
        source.rewind()
        #expect(try source.next(atMost: 10) == Array(body.prefix(10)))
        source.rewind()
        #expect(try read(source, by: count) == body, "\(number) by \(count), again")
      }
    }
  }

  @Test("a call is claimed without a large body, but with its size")
  func claims() throws {
    let bodies = [Self.noise, Self.text, Array(Self.text.prefix(1000)), Array(Self.text.prefix(1001)), []]
    let store = try store(bodies)
    defer { store.close() }
    let calls = try store.claimDue(before: Sample.time(10), limit: 10).calls.sorted { $0.id < $1.id }
    let expected: [RequestBody] = [
      .stored(size: Self.noise.count), .stored(size: Self.text.count), .held(bodies[2]), .stored(size: 1001), .held([]),
    ]
    #expect(calls.map(\.content) == expected)
    #expect(try store.claim(Sample.id(0))?.content == .stored(size: Self.noise.count))
  }

  @Test("a webhook is claimed with its body, because it is signed as a whole")
  func webhooks() throws {
    let store = try store([])
    defer { store.close() }
    try store.commit([.insert(Sample.call(1, kind: .webhook, body: Self.noise))])
    #expect(try store.claim(Sample.id(1))?.content == .held(Self.noise))
  }

  @Test("a body that is erased or removed meanwhile ends with an error, also in the middle")
  func gone() throws {
    let store = try store([Self.noise, Self.noise, Self.text])
    defer { store.close() }
    let stored = try StoredBodies(path: folder.file("calls.db"))
    let sources = (0..<3).map { stored.body(of: Sample.id($0), size: ($0 < 2 ? Self.noise : Self.text).count) }
    for source in sources { #expect(try source.next(atMost: 4096).count == 4096) }
    try store.commit([
      .erase(Sample.id(0), Sample.spec()), .discard(Sample.id(1)), .erase(Sample.id(2), Sample.spec()),
    ])
    for source in sources[..<2] { #expect(throws: StoredBodyError.gone) { try source.next(atMost: 4096) } }
    // More of a compressed body was read than requested; it ends all the same.
    #expect(throws: StoredBodyError.gone) { try read(stored.body(of: Sample.id(2), size: Self.text.count), by: 4096) }
    #expect(throws: StoredBodyError.gone) { try stored.body(of: Sample.id(9), size: 5).next(atMost: 5) }
  }

  @Test("a body that is sealed by a new key meanwhile is read to its end")
  func rekeyed() throws {
    let bodies = [Self.noise + Self.noise, Self.text + Self.noise]
    let vault = TestKey.vault()
    let store = try store(bodies, vault: vault)
    defer { store.close() }
    let stored = try StoredBodies(path: folder.file("calls.db"), connections: 1, vault: vault)
    let sources = bodies.indices.map { stored.body(of: Sample.id($0), size: bodies[$0].count) }
    let begins = try sources.map { try $0.next(atMost: 10) }
    for _ in 1...2 {
      try store.beginRekey()
      while try store.rekeyStep() != nil {}
    }
    for (number, source) in sources.enumerated() {
      #expect(try begins[number] + read(source, by: 65_536) == bodies[number])
    }
  }

  @Test("a body in clear text that is sealed meanwhile is not read on as it is")
  func sealed() throws {
    try store([Self.noise + Self.noise]).close()
    let vault = TestKey.vault()
    let store = try SQLiteStore(path: folder.file("calls.db"), vault: vault)
    defer { store.close() }
    let stored = try StoredBodies(path: folder.file("calls.db"), connections: 1, vault: vault)
    let source = stored.body(of: Sample.id(0), size: 2 * Self.noise.count)
    #expect(try source.next(atMost: 10) == Array(Self.noise.prefix(10)))
    try store.beginRekey()
    while try store.rekeyStep() != nil {}
    #expect(throws: StoredBodyError.self) { try source.next(atMost: 10) }
    source.rewind()
    #expect(try read(source, by: 65_536) == Self.noise + Self.noise)
  }

  @Test("a damaged body is detected, wherever the damage is")
  func damage() throws {
    let store = try store([Self.text, Self.noise])
    defer { store.close() }
    let stored = try StoredBodies(path: folder.file("calls.db"))
    for (number, size) in [(0, Self.text.count), (1, Self.noise.count)] {
      for wrong in [size - 1, size + 1] {
        #expect(throws: StoredBodyError.self) {
          try read(stored.body(of: Sample.id(number), size: wrong), by: 5000)
        }
      }
    }
    let length = try #require(
      try store.file.connection.value("check", "SELECT length(body) FROM requests WHERE id = \(Sample.id(0).rawValue)")
      {
        $0.integer(0)
      })
    // A byte of the header, one in the middle, one of the checksum.
    for place in [1, length / 2, length] {
      try store.file.connection.execute(
        "damage a body",
        """
        UPDATE requests SET body = CAST(substr(body, 1, \(place - 1)) || x'AA' || substr(body, \(place + 1)) AS BLOB)
        WHERE id = \(Sample.id(0).rawValue)
        """)
      #expect(throws: StoredBodyError.self, "byte \(place)") {
        try read(stored.body(of: Sample.id(0), size: Self.text.count), by: 5000)
      }
    }
    try store.file.connection.execute("damage a body", "UPDATE requests SET body = substr(body, 1, 100)")
    #expect(throws: StoredBodyError.self) { try read(stored.body(of: Sample.id(0), size: Self.text.count), by: 5000) }
  }

  @Test("a half-read body does not prevent the log from being truncated")
  func logIsFree() throws {
    let store = try store([Self.noise, Self.text])
    defer { store.close() }
    let stored = try StoredBodies(path: folder.file("calls.db"))
    let sources = [
      stored.body(of: Sample.id(0), size: Self.noise.count), stored.body(of: Sample.id(1), size: Self.text.count),
    ]
    for source in sources { _ = try source.next(atMost: 4096) }
    try store.commit([.insert(Sample.call(7))])
    // The first column is whether a reader blocked the truncation.
    let blocked: Int64? = try store.file.connection.value("check", "PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) }
    #expect(blocked == 0)
    #expect(try read(sources[0], by: 65_536) == Array(Self.noise.dropFirst(4096)))
  }
}
