import Glibc
import RedialModel
import Testing

@testable import RedialStore

@Suite("What is appended to the write-ahead log is gathered")
struct LogBufferTests {
  private let folder = TemporaryFolder()

  /// A writer's connection with an empty table, whose cache holds so many pages.
  private func writer(cachePages: Int, synchronous: String = "FULL") throws -> SQLiteConnection {
    let writer = try SQLiteConnection(path: folder.file("log.db"), role: .writer)
    try writer.execute(
      "set up",
      """
      PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = \(synchronous);
      CREATE TABLE rows (id INTEGER PRIMARY KEY, content BLOB); PRAGMA cache_size = \(cachePages); PRAGMA cache_spill = 1;
      """)
    return writer
  }

  private func insert(_ ids: ClosedRange<Int>, bytes: Int = 1000) -> String {
    """
    WITH RECURSIVE n (id) AS (SELECT \(ids.lowerBound) UNION ALL SELECT id + 1 FROM n WHERE id < \(ids.upperBound))
    INSERT INTO rows SELECT id, zeroblob(\(bytes)) FROM n;
    """
  }

  private func logBytes() -> Int {
    var status = stat()
    return stat(folder.file("log.db-wal"), &status) == 0 ? Int(status.st_size) : 0
  }

  /// What somebody sees who opens the file as SQLite does by itself.
  private func seen() throws -> (rows: Int64, isIntact: Bool) {
    let reader = try SQLiteConnection(path: folder.file("log.db"), role: .reader)
    let rows = try reader.value("count", "SELECT count(*) FROM rows") { $0.integer(0) }
    let verdict = try reader.value("check", "PRAGMA integrity_check") { $0.text(0) }
    return (try #require(rows), verdict == "ok")
  }

  @Test("nothing of a transaction reaches the log before it ends, as long as it is short")
  func gathers() throws {
    let writer = try writer(cachePages: 1)
    let before = logBytes()
    try writer.execute("write", "BEGIN; \(insert(1...24))")
    #expect(logBytes() == before)
    try writer.execute("write", "COMMIT")
    #expect(logBytes() > before + 24 * 1000)
    #expect(try seen() == (24, true))
  }

  @Test("a commit is there for others even where it is not synced", arguments: ["FULL", "NORMAL", "OFF"])
  func isTold(synchronous: String) throws {
    let writer = try writer(cachePages: 100, synchronous: synchronous)
    for id in 1...20 {
      try writer.execute("write", insert(id...id))
      #expect(try seen() == (Int64(id), true))
    }
  }

  @Test("a transaction that outgrows the cache and changes what it has written already stays whole")
  func outgrowsCache() throws {
    let writer = try writer(cachePages: 5)
    try writer.execute(
      "write",
      """
      BEGIN; \(insert(1...500)) UPDATE rows SET content = zeroblob(900) WHERE id % 3 = 0;
      DELETE FROM rows WHERE id % 5 = 0; UPDATE rows SET content = zeroblob(1100) WHERE id % 7 = 0; COMMIT
      """)
    #expect(try seen() == (400, true))
    let changed = try writer.value("count", "SELECT count(*) FROM rows WHERE length(content) = 1100") { $0.integer(0) }
    #expect(changed == 57)
  }

  @Test("of a transaction that was undone after it had outgrown the cache nothing is left in the next")
  func undone() throws {
    let writer = try writer(cachePages: 5)
    try writer.execute("write", insert(1...10))
    for round in 1...5 {
      try writer.execute("write", "BEGIN; \(insert(1000...(1000 + 37 * round))) ROLLBACK")
      try writer.execute("write", insert((10 * round + 1)...(10 * round + 10)))
      #expect(try seen() == (Int64(10 * round + 10), true))
    }
  }

  @Test("rows longer than what is gathered are written at once, in order")
  func longRows() throws {
    let writer = try writer(cachePages: 100)
    try writer.execute("write", "BEGIN; \(insert(1...5, bytes: 200_000)) COMMIT")
    #expect(try seen() == (5, true))
  }

  @Test("a log that starts again from its beginning holds what came last")
  func startsAgain() throws {
    let writer = try writer(cachePages: 100)
    for round in 1...4 {
      try writer.execute("write", insert((20 * round - 19)...(20 * round)))
      #expect(try seen() == (Int64(20 * round), true))
      #expect(try writer.checkpoint() != nil)
    }
    writer.close()
    #expect(try seen() == (80, true))
  }
}
