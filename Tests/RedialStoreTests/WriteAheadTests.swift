import Glibc
import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("A write-ahead log, before SQLite opens it")
struct WriteAheadTests {
  private static let frameBytes = 4096 + WriteAheadScan.headerBytes
  private let folder = TemporaryFolder()
  private var path: String { folder.file("calls.db") }

  /// A log as a killed process leaves it.
  private struct Written {
    var log: [UInt8]
    /// How many frames it has without the last commit.
    var frames = 0
    /// How many it has without the last two.
    var sure = 0
  }

  /// Writes a log of some commits, without its index.
  private func written(commits: Int = 12, rows: Int = 20) throws -> Written {
    let writer = try SQLiteConnection(path: path, role: .writer)
    try writer.execute(
      "set up",
      "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE rows (n INTEGER PRIMARY KEY, content)")
    var written = Written(log: [])
    for _ in 0..<commits {
      written.sure = written.frames
      written.frames = Self.frames(try #require(contents(of: path + "-wal")))
      try insert(rows, writer)
    }
    written.log = try closeKeepingLog(writer)
    return written
  }

  private func insert(_ rows: Int, _ writer: SQLiteConnection) throws {
    let values = Array(repeating: "(randomblob(900))", count: rows).joined(separator: ", ")
    try writer.execute("write", "INSERT INTO rows (content) VALUES \(values)")
  }

  private func closeKeepingLog(_ writer: SQLiteConnection) throws -> [UInt8] {
    writer.keepLogOnClose()
    writer.close()
    unlink(path + "-shm")
    return try #require(contents(of: path + "-wal"))
  }

  private static func frames(_ log: [UInt8]) -> Int { max(0, log.count - WriteAheadHeader.bytes) / frameBytes }
  private static func place(ofFrame frame: Int) -> Int { WriteAheadHeader.bytes + (frame - 1) * frameBytes }

  /// Whether a log counts as damaged; whatever it says, no file is changed.
  private func isDamaged(_ log: [UInt8]) throws -> Bool {
    writeFile(path + "-wal", log)
    let before = contents(of: path)
    defer {
      #expect(contents(of: path) == before && contents(of: path + "-wal") == log)
      #expect(access(path + ".lock", F_OK) != 0)
    }
    do throws(StoreError) {
      try WriteAheadFile.check(path)
      return false
    } catch {
      #expect(error.kind == .corrupt && error.message.contains("run `redial salvage`"), "\(error.message)")
      return true
    }
  }

  @Test("that is whole is in order, and so are one without commits, an empty one and none")
  func whole() throws {
    let log = try written().log
    #expect(try !isDamaged(log))
    #expect(try !isDamaged(Array(log[..<WriteAheadHeader.bytes])))
    #expect(try !isDamaged(Array(log[..<7])))
    #expect(try !isDamaged([]))
    #expect(try !isDamaged([UInt8](repeating: 0, count: log.count)))
    #expect(try !isDamaged((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 37) }))
    unlink(path + "-wal")
    try WriteAheadFile.check(path)
  }

  // Found by a check of a store beside its service, which said that a frame was damaged that was just being written.
  @Test("is damaged only if it is at the next look, too")
  func writtenBeside() throws {
    let written = try written()
    var torn = written.log
    torn[Self.place(ofFrame: written.sure) + 100] ^= 1
    let log = WriteAheadFile(of: path)
    writeFile(path + "-wal", torn)
    #expect(try log.contents()?.isDamaged == true)
    let found = try log.contents(hasLooked: { writeFile(path + "-wal", written.log) })
    #expect(found?.isDamaged == false)
  }

  @Test("is damaged if any bit of a commit has changed behind which another one begins", arguments: 0..<8)
  func bits(seed: Int) throws {
    let written = try written()
    let log = written.log
    var random = RandomSource(seed: UInt64(seed))
    // Each byte of the headers of the last frame of a commit and of another one, and some of the pages.
    let headers = [written.frames, Int.random(in: 1...written.frames, using: &random)].flatMap { frame in
      (0..<WriteAheadScan.headerBytes).map { Self.place(ofFrame: frame) + $0 }
    }
    let pages = (0..<60).map { _ in Int.random(in: 0..<Self.place(ofFrame: written.sure + 1), using: &random) }
    for place in headers + pages + [0, 11, 15, 17, 23, 31] {
      var damaged = log
      damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      // This bit alone says what a kill says that came while the log was begun again; the index tells them apart.
      if place == 15, damaged[place] == log[place] + 1 { continue }
      #expect(try isDamaged(damaged), "byte \(place) of \(log.count), seed \(seed)")
    }
  }

  @Test("is damaged if a block is missing that was synced", arguments: [512, 4096, 65536])
  func blocks(bytes: Int) throws {
    let written = try written(commits: 30)
    let log = written.log
    var random = RandomSource(seed: UInt64(bytes))
    for round in 0..<20 {
      let start = Int.random(in: 0..<(Self.place(ofFrame: written.sure + 1) - bytes) / bytes, using: &random) * bytes
      var damaged = log
      for place in start..<start + bytes {
        damaged[place] = round % 2 == 0 ? 0 : UInt8.random(in: 0...255, using: &random)
      }
      // The rest of a page may have been zeros before.
      if damaged != log { #expect(try isDamaged(damaged), "\(bytes) bytes at \(start) of \(log.count)") }
    }
  }

  @Test("is not damaged by a power cut, which leaves any sectors of what was not synced", arguments: 0..<40)
  func torn(seed: Int) throws {
    let base = try written(commits: 3, rows: 60).log
    let file = try #require(contents(of: path))
    func next(_ rows: Int) throws -> [UInt8] {
      writeFile(path, file)
      writeFile(path + "-wal", base)
      let writer = try SQLiteConnection(path: path, role: .writer)
      try insert(rows, writer)
      return try closeKeepingLog(writer)
    }
    var random = RandomSource(seed: UInt64(seed))
    // What was in this place before: nothing, a transaction that was never synced, or an older use of the file, in which
    // each frame was a commit.
    var older = try next(90)
    var log = try next(60)
    if seed % 3 == 0 { older.replaceSubrange(base.count..., with: repeatElement(0, count: older.count - base.count)) }
    if seed % 3 == 1 {
      for frame in 1...Self.frames(older) {
        older[Self.place(ofFrame: frame) + 7] = 1
        for byte in 8..<16 { older[Self.place(ofFrame: frame) + byte] ^= 0x5A }
      }
    }
    log += older[log.count...]
    let start = base.count
    for sector in stride(from: start / 512 * 512, to: log.count, by: 512) where Bool.random(using: &random) {
      for place in max(start, sector)..<min(sector + 512, log.count) where place < older.count {
        log[place] = older[place]
      }
    }
    #expect(try !isDamaged(log), "seed \(seed)")
  }

  @Test("may have frames of an earlier use behind, and those of a transaction that was rolled back")
  func leftovers() throws {
    let writer = try SQLiteConnection(path: path, role: .writer)
    try writer.execute(
      "set up",
      """
      PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 10; CREATE TABLE rows (content);
      """)
    let many = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
    try writer.execute("write", "\(many) INSERT INTO rows SELECT randomblob(900) FROM n")
    try writer.execute("write and undo", "BEGIN; \(many) INSERT INTO rows SELECT randomblob(900) FROM n; ROLLBACK")
    try writer.execute("write", "INSERT INTO rows VALUES (1)")
    try WriteAheadFile.check(path)
    #expect(try writer.checkpoint()?.isComplete == true)
    for number in 2...5 { try writer.execute("write", "INSERT INTO rows VALUES (\(number))") }
    try WriteAheadFile.check(path)
    writer.keepLogOnClose()
    writer.close()
    try WriteAheadFile.check(path)
    let log = try #require(contents(of: path + "-wal"))
    let found = try #require(try WriteAheadFile(of: path).contents())
    #expect(found.scan.intact < found.scan.count / 2, "there is something behind")
    var damaged = log
    damaged[Self.place(ofFrame: 1) + 100] ^= 4
    #expect(throws: StoreError.self) {
      writeFile(path + "-wal", damaged)
      try WriteAheadFile.check(path)
    }
  }

  @Test("in which a kill has left a part of a new header is in order: all of it is in the store's file")
  func begunAgain() throws {
    let log = try written().log
    var next = log[..<WriteAheadHeader.bytes].map { $0 }
    next[15] &+= 1
    next[19] &+= 1
    for place in 20..<24 { next[place] ^= 0x5A }
    let sum = next.withUnsafeBytes { WriteAheadSum().continued(over: $0.prefix(24), $0[3] & 1 == 1) }
    for (place, byte) in withUnsafeBytes(of: sum, { Array($0) }).enumerated() { next[24 + (place ^ 3)] = byte }
    for count in 0...WriteAheadHeader.bytes {
      #expect(try !isDamaged(Array(next[..<count]) + log[count...]), "\(count) bytes of the new header")
    }
  }

  @Test("tells by its index of a changed bit in the last commit, too, and of frames that are cut off")
  func index() throws {
    let store = try SQLiteStore(path: path)
    for number in 1...3 { try store.commit([.insert(Sample.call(number))]) }
    let log = try #require(contents(of: path + "-wal"))
    // As a kill leaves it: an orderly end removes the index.
    let index = try #require(contents(of: path + "-shm"))
    store.file.connection.keepLogOnClose()
    store.file.close()
    writeFile(path + "-shm", index)
    try WriteAheadFile.check(path)
    for damaged in [log.dropLast(1).map { $0 } + [log[log.count - 1] ^ 1], Array(log.dropLast(Self.frameBytes))] {
      writeFile(path + "-wal", damaged)
      let error = #expect(throws: StoreError.self) { try WriteAheadFile.check(path) }
      #expect(error?.message.contains("is damaged") == true)
    }
    // After a power cut nobody knows.
    var old = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
    utimensat(AT_FDCWD, path + "-shm", &old, 0)
    try WriteAheadFile.check(path)
  }

  @Test("is not left beside a store's file that is empty or missing")
  func withoutFile() throws {
    let log = try written().log
    for isMissing in [false, true] {
      if isMissing { unlink(path) } else { writeFile(path, []) }
      for opening in [
        { () throws in _ = try SQLiteStore(path: path) }, { () throws in _ = try SQLiteInspection(path: path) },
      ] {
        let error = #expect(throws: StoreError.self) { try opening() }
        #expect(error?.message.contains(isMissing ? "is missing" : "is empty") == true)
        #expect(contents(of: path) == (isMissing ? nil : []) && contents(of: path + "-wal") == log)
        #expect(access(path + ".lock", F_OK) != 0 && access(path + "-shm", F_OK) != 0)
      }
    }
  }

  @Test("is looked at by everything that opens a store")
  func openers() throws {
    let store = try SQLiteStore(path: path)
    for number in 1...9 { try store.commit([.insert(Sample.call(number))]) }
    store.file.connection.keepLogOnClose()
    store.file.close()
    var log = try #require(contents(of: path + "-wal"))
    log[log.count / 2] ^= 16
    writeFile(path + "-wal", log)
    unlink(path + "-shm")
    unlink(path + ".lock")
    let before = contents(of: path)
    let openers: [(String, () throws -> Void)] = [
      ("serve", { _ = try SQLiteStore(path: path, reserveBytes: 1 << 20) }),
      ("doctor", { _ = try SQLiteInspection(path: path) }),
      ("export", { _ = try StoreExport(path: path, state: nil) }),
      ("backup", { _ = try StoreBackup.copy(from: path, to: folder.file("copy.db")) }),
      ("import", { _ = try StoreImport(path: path, at: Sample.start) }),
      ("migrate from", { _ = try SQLiteSource(path: path) }),
      ("migrate to", { _ = try SQLiteArchiveDestination(filling: path, payloads: PayloadRule()) }),
    ]
    for (name, open) in openers {
      let error = #expect(throws: StoreError.self, "\(name)") { try open() }
      #expect(error?.message.contains("frame") == true, "\(name): \(error?.message ?? "")")
      #expect(contents(of: path) == before && contents(of: path + "-wal") == log, "\(name)")
      for suffix in ["-shm", ".lock", "-reserve"] { #expect(access(path + suffix, F_OK) != 0, "\(name): \(suffix)") }
    }
  }
}
