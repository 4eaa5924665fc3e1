import Glibc
import Testing

import RedialModel
@testable import RedialSQLite
@testable import RedialStore

@Suite("The reserve of a store's disk")
struct ReserveTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("calls.db-reserve") }

  private func allocated() -> Int? {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_blocks) * 512 : nil
  }

  @Test("is taken, released once, and taken again")
  func cycle() throws {
    let reserve = try Reserve(path: path, bytes: 1 << 20)
    #expect(!reserve.isMissing)
    #expect(try #require(allocated()) >= 1 << 20)
    #expect(reserve.release())
    #expect(!reserve.release())
    #expect(reserve.isMissing && allocated() == 0)
    #expect(reserve.take() && !reserve.isMissing)
    #expect(try #require(allocated()) >= 1 << 20)
    #expect(try !Reserve(path: path, bytes: 1 << 20).isMissing)
  }

  @Test("is missing if the disk has no space for it, and the attempt leaves nothing behind")
  func tooLarge() throws {
    let reserve = try Reserve(path: path, bytes: 1 << 60)
    #expect(reserve.isMissing && !reserve.take() && !reserve.release())
    #expect(allocated() == 0)
  }

  @Test("is removed if its size is 0, and unchanged if no size is given")
  func none() throws {
    _ = try Reserve(path: path, bytes: 1 << 16)
    #expect(try !Reserve(path: path, bytes: nil).isMissing)
    #expect(allocated() != nil)
    #expect(try !Reserve(path: path, bytes: 0).isMissing)
    #expect(allocated() == nil)
  }

  @Test("is refused if its name is not a regular file, and the target of a link is unchanged")
  func links() throws {
    let other = folder.file("other")
    writeFile(other, Array("kept".utf8))
    symlink(other, path)
    let error = #expect(throws: StoreError.self) { try Reserve(path: path, bytes: 1 << 16) }
    #expect(error?.message.contains("not a regular file") == true)
    #expect(contents(of: other) == Array("kept".utf8))
    unlink(path)
    // A link that is created later is not followed either.
    let reserve = try Reserve(path: path, bytes: 1 << 16)
    unlink(path)
    symlink(other, path)
    #expect(reserve.release() && !reserve.take())
    #expect(contents(of: other) == Array("kept".utf8))
    unlink(path)
    mkfifo(path, 0o600)
    #expect(throws: StoreError.self) { try Reserve(path: path, bytes: 1 << 16) }
  }

  @Test("lends its space once to a write that found none")
  func lends() throws {
    let reserve = try Reserve(path: path, bytes: 1 << 16)
    let full = StoreError(kind: .full, message: "no room")
    var tries = 0
    let result = try? reserve.lending { () throws(StoreError) -> Int in
      tries += 1
      if tries == 1 { throw full }
      return tries
    }
    #expect(result == 2 && reserve.isMissing)
    #expect(throws: full) { try reserve.lending { () throws(StoreError) in throw full } }
    #expect(throws: StoreError(kind: .unavailable, message: "")) {
      try reserve.lending { () throws(StoreError) in throw StoreError(kind: .unavailable, message: "") }
    }
  }
}
