import Glibc
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("A store whose files are removed while it is open")
struct StorePlaceTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("calls.db") }

  @Test("commits nothing more, and continues when they are back", arguments: ["", "-wal", "-shm"])
  func moved(suffix: String) throws {
    let heard = NoticeLog()
    let store = try SQLiteStore(path: path, notices: heard.notices)
    defer { store.close() }
    try store.commit([.insert(Sample.call(1))])
    rename(path + suffix, path + ".away")
    let error = #expect(throws: StoreError.self) { try store.commit([.insert(Sample.call(2))]) }
    #expect(error?.kind == .unavailable && error?.message.contains("\(path + suffix) was removed") == true)
    // An idle store notices too.
    #expect(throws: StoreError.self) { try store.tidy(Retention(), at: Sample.start, within: .milliseconds(1)) }
    writeFile(path + suffix, [])
    let replaced = #expect(throws: StoreError.self) { try store.commit([.insert(Sample.call(2))]) }
    #expect(replaced?.message.contains("was replaced") == true)
    rename(path + ".away", path + suffix)
    try store.commit([.insert(Sample.call(2))])
    #expect(heard.misplaced == [true, false])
  }
}
