import Glibc
import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("A damaged store")
struct SalvageTests {
  private static let calls = 40
  private let folder = TemporaryFolder()
  private var path: String { folder.file("calls.db") }
  private var new: String { folder.file("new.db") }

  /// A store as a killed process leaves it, with its index: each call has a commit of its own. Some are only in the log of
  /// calls, and some in the tables.
  private func write(isFolded: Bool = false) throws {
    let store = try SQLiteStore(path: path)
    try store.setSetting("webhookSecret", to: "secret")
    try store.commit([.add(StoredDocument(.apiKey, id: "key", [1, 2]))])
    try store.commit([.target("t", TargetRecord(controls: TargetControls(isPaused: true)))])
    for number in 1...Self.calls {
      let call = Sample.call(number, number % 3 == 0 ? .scheduled : .running, body: [UInt8](repeating: 7, count: 700))
      try store.commit([
        .insert(call),
        .key(
          KeyRecord(
            key: IdempotencyKey("k\(number)", fingerprint: [1]), call: call.id, createdAt: Sample.start,
            expiresAt: Sample.time(900))),
      ])
    }
    if isFolded { try store.fold() }
    store.file.connection.keepLogOnClose()
    let index = try #require(contents(of: path + "-shm"))
    store.file.close()
    writeFile(path + "-shm", index)
  }

  /// Everything that belongs to the store, to see that nothing is changed.
  private func files() -> [[UInt8]?] { ["", "-wal", "-shm"].map { contents(of: path + $0) } }

  private func found(_ path: String, told: inout [String]) throws -> Set<CallID> {
    let export = try StoreExport(path: path, state: nil)
    defer { export.close() }
    var found: Set<CallID> = []
    var damage: [String] = []
    try export.forEach {
      #expect(found.insert($0.record.id).inserted, "twice: \($0.record.id)")
    } damage: {
      damage.append($0.message)
    }
    told = damage
    return found
  }

  /// Salvages the store; checks that nothing else is changed or left, and returns the reports.
  private func salvage() throws -> (calls: Int, told: [String]) {
    let before = files()
    var told: [String] = []
    let calls = try StoreSalvage.run(from: path, to: new, at: Sample.time(1)) { told.append($0) }
    #expect(files() == before)
    for name in ["new.db.copy", "new.db.partial", "new.db.partial.lock", "new.db.partial-wal"] {
      #expect(access(folder.file(name), F_OK) != 0, "\(name)")
    }
    #expect(permissions(of: new) == 0o600)
    return (calls, told)
  }

  private func isSound(_ path: String) throws -> Bool {
    let inspection = try SQLiteInspection(path: path)
    defer { inspection.close() }
    return try inspection.report(at: Sample.time(1)).findings.allSatisfy { $0.count == 0 }
  }

  @Test("that is whole is copied with all that is about no call", arguments: [false, true])
  func whole(isFolded: Bool) throws {
    try write(isFolded: isFolded)
    let (calls, told) = try salvage()
    #expect(told == [] && calls == Self.calls)
    #expect(try isSound(new))
    let store = try SQLiteStore(path: new)
    defer { store.close() }
    #expect(try store.setting("webhookSecret") == "secret")
    #expect(try store.document(.apiKey, id: "key") == [1, 2])
    let state = try store.recover(at: Sample.time(1))
    #expect(state.targets.map(\.target) == ["t"] && state.unfinished == Self.calls)
    #expect(try store.find(key: "k7", at: Sample.time(2))?.call == Sample.id(7))
    #expect(throws: StoreError.self) { try StoreSalvage.run(from: path, to: new, at: Sample.time(1)) { _ in } }
  }

  @Test("with one damaged row in the log of calls keeps all calls but those in it", arguments: 0..<20)
  func logRow(seed: Int) throws {
    try write()
    var random = RandomSource(seed: UInt64(seed))
    let connection = try SQLiteConnection(path: path, role: .writer)
    let rows = try connection.prepare("list", "SELECT place, length(changes) FROM call_log").rows {
      row throws(StoreError) in (row.integer(0), row.integer(1))
    }
    #expect(rows.count > 20)
    let (place, size) = rows[Int.random(in: 0..<rows.count, using: &random)]
    let offset = Int.random(in: 0..<Int(size), using: &random)
    let bytes = try #require(
      try connection.value("read", "SELECT changes FROM call_log WHERE place = \(place)") { $0.bytes(0) })
    let hex = String(bytes[offset] ^ 1 << UInt8.random(in: 0..<8, using: &random), radix: 16)
    try connection.execute(
      "damage a row",
      """
      UPDATE call_log SET changes = CAST(substr(changes, 1, \(offset)) || x'\(hex.count == 1 ? "0" : "")\(hex)'
        || substr(changes, \(offset + 2)) AS BLOB) WHERE place = \(place)
      """)
    connection.keepLogOnClose()
    connection.close()
    let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
    #expect(error?.message.contains("run `redial salvage`") == true)
    var told: [String] = []
    let exported = try found(path, told: &told)
    #expect(exported.count >= Self.calls - 1, "byte \(offset) of the row at place \(place), seed \(seed)")
    #expect(told.contains { $0.contains("place \(place) is damaged") }, "\(told)")
    let (calls, named) = try salvage()
    #expect(calls == exported.count && named == told)
    #expect(try isSound(new))
    #expect(try found(new, told: &told) == exported && told == [])
  }

  @Test("with a damaged write-ahead log keeps what stands behind the damage", arguments: 0..<20)
  func writeAheadLog(seed: Int) throws {
    try write(isFolded: seed % 2 == 0)
    var random = RandomSource(seed: UInt64(seed))
    var log = try #require(contents(of: path + "-wal"))
    let bytes = seed % 3 == 0 ? 4096 : 1
    let start = Int.random(in: 0..<log.count - bytes, using: &random)
    for place in start..<start + bytes { log[place] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
    writeFile(path + "-wal", log)
    let before = files()
    let error = #expect(throws: StoreError.self, "byte \(start) of \(log.count), seed \(seed)") {
      try SQLiteStore(path: path)
    }
    #expect(error?.message.contains("-wal is damaged") == true && files() == before)
    let (calls, told) = try salvage()
    // A page of a table may be among what is lost, with all of its calls.
    #expect(calls >= Self.calls - 30 && !told.isEmpty, "\(calls) calls, seed \(seed): \(told)")
    _ = try SQLiteStore(path: new).close()
  }

  @Test("with the root of the log of calls damaged keeps all calls", arguments: [false, true])
  func root(isInLog: Bool) throws {
    try write()
    let reader = try SQLiteConnection(path: path, role: .writer)
    let root = try #require(
      try reader.value("find", "SELECT rootpage FROM sqlite_schema WHERE name = 'call_log'") { Int($0.integer(0)) })
    if !isInLog { #expect(try reader.checkpointAndCut()?.isComplete == true) }
    reader.keepLogOnClose()
    reader.close()
    let name = isInLog ? path + "-wal" : path
    var file = try #require(contents(of: name))
    if isInLog {
      let frames = stride(from: WriteAheadHeader.bytes, to: file.count, by: 4096 + WriteAheadScan.headerBytes)
      let numbers = file.withUnsafeBytes { bytes in frames.map { Int(bytes.big32(at: $0)) } }
      let last = Array(frames)[try #require(numbers.lastIndex(of: root))]
      file[last + WriteAheadScan.headerBytes + 8] ^= 1
    } else {
      for byte in (root - 1) * 4096..<root * 4096 { file[byte] = 0 }
    }
    writeFile(name, file)
    let (calls, told) = try salvage()
    #expect(calls == Self.calls && told.contains { $0.contains("the rows were found") }, "\(told)")
  }

  @Test("with a damaged page keeps the calls of the others", arguments: 2..<12)
  func page(number: Int) throws {
    try write(isFolded: true)
    let mover = try SQLiteConnection(path: path, role: .writer)
    #expect(try mover.value("open the log", "SELECT count(*) FROM calls") { $0.integer(0) } == Int64(Self.calls))
    #expect(try mover.checkpointAndCut()?.isComplete == true)
    // Without the list of the tables there is nothing to find.
    let schema = try mover.prepare("find", "SELECT pageno - 1 FROM dbstat WHERE name = 'sqlite_schema'")
      .rows { row throws(StoreError) in Int(row.integer(0)) }
    mover.close()
    var file = try #require(contents(of: path))
    var page = number * 7919 % (file.count / 4096 - 1) + 1
    while schema.contains(page) { page -= 1 }
    let place = page * 4096
    for byte in place..<place + 4096 { file[byte] = 0xA5 }
    writeFile(path, file)
    var told: [String] = []
    let (calls, named) = try salvage()
    #expect(try found(new, told: &told).count == calls)
    #expect(
      calls == Self.calls || !named.isEmpty, "\(calls) calls without page \(place / 4096): \(named)")
  }

  @Test("of which a service runs is not salvaged, and one of which nothing is there gives nothing")
  func refusals() throws {
    let store = try SQLiteStore(path: path)
    defer { store.close() }
    for (source, words) in [(path, "in use by a service"), (folder.file("none.db"), "none.db")] {
      let error = #expect(throws: StoreError.self) {
        try StoreSalvage.run(from: source, to: new, at: Sample.start) { _ in }
      }
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
      #expect(access(new, F_OK) != 0 && access(new + ".copy", F_OK) != 0)
    }
  }
}
