import Glibc
import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("The file of a store whose calls are removed")
struct RetentionFileTests {
  let folder = TemporaryFolder()

  private func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Moves everything into the file; another checkpoint may be running.
  private func moveLog(of store: SQLiteStore) throws {
    let end = ContinuousClock.now + .seconds(60)
    repeat {
      let busy = try store.file.connection.value("prepare the test", "PRAGMA wal_checkpoint(TRUNCATE)") {
        $0.integer(0)
      }
      if busy == 0 { return }
      usleep(1000)
    } while ContinuousClock.now < end
    Issue.record("the log cannot be moved in a minute")
  }

  @Test("becomes small again, in steps that stay within their time")
  func shrinks() throws {
    let path = folder.file("calls.db")
    let store = try SQLiteStore(path: path, payloads: PayloadRule(compressMinBytes: .max))
    let body = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
    for start in stride(from: 0, to: 2000, by: 200) {
      try store.commit((start..<start + 200).map { .insert(Sample.call($0, .succeeded, body: body)) })
    }
    try moveLog(of: store)
    let full = size(path)
    #expect(full > 2000 * 20_000)
    var (steps, removed, released) = (0, 0, 0)
    while true {
      let step = try store.tidy(Retention(time: .seconds(1)), at: Sample.time(1000), within: .milliseconds(2))
      steps += 1
      removed += step.removed
      released += step.releasedBytes
      #expect(step.removed <= Eviction.batch)
      if step.isDone { break }
    }
    #expect(removed == 2000)
    #expect(released > 8000 * 4096)
    #expect(steps > 10)
    try moveLog(of: store)
    #expect(size(path) < full / 5, "\(size(path)) of \(full)")
    let check = try store.file.connection.value("check", "PRAGMA integrity_check") { $0.text(0) }
    #expect(check == "ok")
    store.close()
  }

  @Test("that cannot return space is used unchanged, and its compact copy can return space")
  func withoutVacuum() throws {
    let path = folder.file("calls.db")
    let other = try SQLiteConnection(path: path, role: .writer)
    try other.execute(
      "prepare the test",
      "PRAGMA journal_mode = WAL; \(Schema.current)"
        + "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = \(Schema.version);")
    other.close()
    let store = try SQLiteStore(path: path)
    defer { store.close() }
    #expect(!store.pages.isPossible)
    var call = Sample.call(1, .succeeded)
    call.progress.finishedAt = Timestamp(microseconds: 5)
    try store.commit([.insert(call)])
    let step = try store.tidy(Retention(time: .seconds(1)), at: Sample.start, within: .seconds(1))
    #expect(step.removed == 1)
    _ = try StoreBackup.copy(from: path, to: folder.file("copy.db"), compact: true)
    let copy = try SQLiteStore(path: folder.file("copy.db"))
    defer { copy.close() }
    #expect(copy.pages.isPossible)
  }
}
