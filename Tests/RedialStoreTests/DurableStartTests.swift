import RedialCore
import RedialModel
import Synchronization
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("A store starts from durable data")
struct DurableStartTests {
  private let folder = TemporaryFolder()

  /// How many pages of the log count as moved, by the log's index.
  private func movedPages(_ path: String) throws -> UInt32 {
    let index = try #require(contents(of: path + "-shm"))
    return index.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 96, as: UInt32.self) }
  }

  @Test("no page counts as moved after a start, even while another process has the file open")
  func resetsMovedPages() throws {
    let path = folder.file("log.db")
    let writer = try SQLiteConnection(path: path, role: .writer)
    try writer.execute(
      "set up",
      "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE rows (content); INSERT INTO rows VALUES (1)"
    )
    let reader = try SQLiteConnection(path: path, role: .reader)
    #expect(try reader.value("count", "SELECT count(*) FROM rows") { $0.integer(0) } == 1)
    // A read transaction of this moment, after which no page is moved: the file is not synced then.
    try reader.execute("look", "BEGIN; SELECT count(*) FROM rows")
    try writer.execute("write", "INSERT INTO rows VALUES (2)")
    let moved = try #require(try writer.checkpoint())
    #expect(moved.pages > 0 && !moved.isComplete)
    #expect(try movedPages(path) == UInt32(moved.pages))
    writer.keepLogOnClose()
    writer.close()

    try DurableStart.prepare(path: path)
    let next = try SQLiteConnection(path: path, role: .writer)
    #expect(try next.value("count", "SELECT count(*) FROM rows") { $0.integer(0) } == 2)
    #expect(try movedPages(path) == 0)
    #expect(try reader.value("count", "SELECT count(*) FROM rows") { $0.integer(0) } == 1, "its view stays")
    try reader.execute("end the look", "COMMIT")
    #expect(try reader.value("count", "SELECT count(*) FROM rows") { $0.integer(0) } == 2)
    try next.execute("write", "INSERT INTO rows VALUES (3)")
    #expect(try next.checkpoint()?.isComplete == true)
  }

  @Test("a file without a log, an empty one, and a missing one are unchanged")
  func leavesOthers() throws {
    let path = folder.file("plain.db")
    try SQLiteConnection(path: path, role: .writer).execute("set up", "CREATE TABLE rows (content)")
    let before = try #require(contents(of: path))
    try DurableStart.prepare(path: path)
    #expect(contents(of: path) == before)
    #expect(contents(of: path + "-shm") == nil && contents(of: path + "-wal") == nil)
    try DurableStart.prepare(path: folder.file("new.db"))
    #expect(contents(of: folder.file("new.db")) == [])
  }

  @Test("after an fsync that failed a store refuses everything, says so once, and keeps its log")
  func refusesAll() throws {
    let path = folder.file("calls.db")
    let failures = CountedFailures()
    let store = try SQLiteStore(path: path, syncFailed: { _ in failures.add() })
    try store.commit([.insert(Sample.call(1))])
    let error = StoreError(kind: .syncFailed, message: "the disk said no")
    store.file.recordFailure(StoreError(kind: .unavailable, message: "something else"))
    try store.commit([.insert(Sample.call(2))])
    store.file.recordFailure(error)
    store.file.recordFailure(error)
    #expect(throws: error) { try store.commit([.insert(Sample.call(3))]) }
    #expect(throws: error) { try store.claimDue(before: Sample.start, limit: 1) }
    #expect(throws: error) { try store.setSetting("name", to: "value") }
    #expect(failures.count == 1)
    store.close()
    #expect(try #require(contents(of: path + "-wal")).count > 4096, "it was moved into the file and deleted")
    let again = try SQLiteStore(path: path)
    defer { again.close() }
    #expect(try again.recover(at: Sample.start).unfinished == 2)
  }
}

/// Counts across threads.
private final class CountedFailures: Sendable {
  private let value = Mutex(0)
  var count: Int { value.withLock { $0 } }
  func add() { value.withLock { $0 += 1 } }
}
