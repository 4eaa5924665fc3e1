import Glibc
import Testing

import RedialModel
@testable import RedialSQLite
@testable import RedialStore

@Suite("The watch over a store's files")
struct PlaceWatchTests {
  private let folder = TemporaryFolder()

  @Test("it refuses as long as a file is away, and reports only the first time, and the return")
  func reports() throws {
    let path = folder.file("calls.db")
    for suffix in ["", "-wal"] { close(open(path + suffix, O_CREAT | O_RDWR, 0o600)) }
    let log = NoticeLog()
    let watch = PlaceWatch(notices: log.notices)
    try watch.check()
    watch.begin(path: path)
    try watch.check()
    #expect(log.misplaced.isEmpty)
    rename(path + "-wal", path + "-elsewhere")
    for _ in 0..<3 {
      let error = #expect(throws: StoreError.self) { try watch.check() }
      #expect(error?.message.contains("-wal was removed") == true)
    }
    #expect(log.misplaced == [true])
    rename(path + "-elsewhere", path + "-wal")
    for _ in 0..<3 { try watch.check() }
    #expect(log.misplaced == [true, false])
  }
}
