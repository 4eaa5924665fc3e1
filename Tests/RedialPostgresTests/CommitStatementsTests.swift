import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Testing

@testable import RedialPostgres

@Suite("The statements of a commit")
struct CommitStatementsTests {
  @Test("divide payloads into pieces with a bound, each row once and in order")
  func pieces() {
    let sizes = [5, 3, 1, 9, 20, 0, 2].map { $0 << 20 }
    let pieces = CommitStatements.pieces(sizes) { $0 }
    #expect(pieces.map { $0.map { $0 >> 20 } } == [[5, 3], [1], [9], [20], [0, 2]])
    #expect(CommitStatements.pieces([Int]()) { $0 }.isEmpty)
  }

  @Test("with thirty bodies of a megabyte and more are stored in one transaction, and read back")
  func largeBodies() throws {
    let database = TestDatabase()
    let instance = try Instance(database.settings, meets: false)
    defer { instance.kill() }
    _ = try instance.lease()
    var random = RandomSource(seed: 7)
    let calls = (1...30).map { number in
      Sample.call(
        number, target: "t",
        body: (0..<(1 << 20) + number).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
    try instance.works.commit(calls.map { .insert($0) })
    #expect(
      try database.number("SELECT sum(length(body))::int8 FROM requests")
        == Int64(calls.reduce(0) { $0 + $1.body.count }))
    let bodies = try PostgresBodies(database.settings, connections: 1)
    let body = bodies.body(of: calls[7].id, size: calls[7].body.count)
    var read: [UInt8] = []
    while read.count < calls[7].body.count { read += try body.next(atMost: 100_000) }
    #expect(read == calls[7].body)
  }
}
