import Glibc
import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("The write-ahead log")
struct CheckpointTests {
  let folder = TemporaryFolder()

  private func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  @Test("stays limited under a steady load, and its content is in the file")
  func bounded() throws {
    let path = folder.file("calls.db")
    let store = try SQLiteStore(path: path, payloads: PayloadRule(compressMinBytes: .max))
    let body = (0..<12_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
    var longest = 0
    // Eight times the log's limit.
    for start in stride(from: 0, to: 10_000, by: 25) {
      try store.commit((start..<start + 25).map { .insert(Sample.call($0, body: body)) })
      longest = max(longest, store.file.connection.logPages)
      // However slowly the pages are moved: between two of these, a fifth of the due size is appended.
      if start % 250 == 0 { store.file.waitForCheckpoint() }
    }
    #expect(longest < 3 * Checkpoints.dueAfter, "\(longest) pages")
    #expect(size(path) > 50_000_000)
    store.close()
    #expect(size(path + "-wal") == 0)
    let again = try SQLiteStore(path: path, payloads: PayloadRule(compressMinBytes: .max))
    defer { again.close() }
    #expect(try again.recover(at: Sample.start).unfinished == 10_000)
    #expect(try again.file.connection.value("check", "PRAGMA quick_check") { $0.text(0) } == "ok")
  }

  @Test("is moved, but not at each commit, while a reader prevents it from starting again")
  func heldByReader() throws {
    let path = folder.file("calls.db")
    let store = try SQLiteStore(path: path, payloads: PayloadRule(compressMinBytes: .max))
    defer { store.close() }
    try store.commit([.insert(Sample.call(0))])
    let reader = try SQLiteConnection(path: path, role: .reader)
    try reader.execute("prepare the test", "BEGIN")
    _ = try reader.value("prepare the test", "SELECT count(*) FROM calls") { $0.integer(0) }
    let body = (0..<12_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
    for start in stride(from: 1, to: 4001, by: 50) {
      try store.commit((start..<start + 50).map { .insert(Sample.call($0, body: body)) })
    }
    #expect(store.file.connection.logPages > 2 * Checkpoints.dueAfter)
    try reader.execute("prepare the test", "COMMIT")
    reader.close()
    for start in stride(from: 4001, to: 8001, by: 50) {
      try store.commit((start..<start + 50).map { .insert(Sample.call($0, body: body)) })
      // Otherwise moving pages would race with the commits that append others.
      store.file.waitForCheckpoint()
    }
    #expect(store.file.connection.logPages < 3 * Checkpoints.dueAfter)
  }

  @Test("no checkpoint begins on a log that is all in the file, which a commit could start again")
  func nothingToMove() async {
    await #expect(processExitsWith: .failure) {
      let folder = TemporaryFolder()
      guard let connection = try? SQLiteConnection(path: folder.file("calls.db"), role: .writer) else { return }
      guard (try? Schema.open(connection, .ofStores)) != nil else { return }
      let checkpoints = try? Checkpoints(of: connection, syncs: SyncWatch { _ in }, notices: StoreNotices())
      guard let checkpoints, (try? connection.execute("prepare the test", "CREATE TABLE rows (content)")) != nil,
        connection.logPages > 0
      else { return }
      checkpoints.moveAll()
      checkpoints.move(beyond: connection.logPages, round: 1)
    }
  }

  @Test("a connection that only reads makes no checkpoint")
  func reader() async {
    await #expect(processExitsWith: .failure) {
      let folder = TemporaryFolder()
      let path = folder.file("calls.db")
      guard let writer = try? SQLiteConnection(path: path, role: .writer), (try? Schema.open(writer, .ofStores)) != nil
      else {
        return
      }
      _ = try? SQLiteConnection(path: path, role: .reader).checkpoint()
    }
  }
}
