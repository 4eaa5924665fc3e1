import Foundation
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("A migration of a store in a file")
struct SQLiteMigrationTests {
  let folder = TemporaryFolder()

  var conformance: MigrationConformance { conformance { .none } }

  private func conformance(_ vault: @escaping () -> Vault) -> MigrationConformance {
    let (from, to) = (folder.file("from.db"), folder.file("to.db"))
    func filling(_ path: String) throws(StoreError) -> any MigrationDestination {
      try SQLiteArchiveDestination(filling: path, payloads: PayloadRule(), vault: vault())
    }
    return MigrationConformance(
      openSource: { () throws(StoreError) in try SQLiteSource(path: from, vault: vault()) },
      openFilling: { () throws(StoreError) in try filling(from) },
      openDestination: { () throws(StoreError) in try filling(to) },
      openResult: { () throws(StoreError) in try SQLiteSource(path: to, vault: vault()) })
  }

  @Test("each rule, when all payloads are sealed", arguments: MigrationConformance.cases)
  func conformsSealed(_ rule: ConformanceCase<MigrationConformance>) throws {
    try rule.run(conformance(TestKey.vault))
  }

  @Test("each rule", arguments: MigrationConformance.cases)
  func conforms(_ rule: ConformanceCase<MigrationConformance>) throws { try rule.run(conformance) }

  @Test("a file whose maker was killed is filled like a new one", arguments: [true, false])
  func halfMade(hasJournal: Bool) throws {
    let (made, path) = (folder.file("made.db"), folder.file("left.db"))
    let maker = try SQLiteConnection(path: made, role: .writer)
    if hasJournal {
      // More than fits the cache: the first pages are in the file, and the journal can undo that.
      try maker.execute(
        "prepare the test",
        """
        PRAGMA cache_size = 1; BEGIN; CREATE TABLE pages (content BLOB);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
          INSERT INTO pages SELECT randomblob(1000) FROM n;
        """)
      try FileManager.default.copyItem(atPath: made + "-journal", toPath: path + "-journal")
    } else {
      try maker.execute("prepare the test", "PRAGMA journal_mode = WAL")
    }
    try FileManager.default.copyItem(atPath: made, toPath: path)
    maker.close()
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int != 0)
    let destination = try SQLiteArchiveDestination(filling: path, payloads: PayloadRule())
    defer { destination.close() }
    #expect(try destination.contents().callCount() == 0)
  }

  @Test("a store that is copied stays as it is, byte by byte, and no service starts on it")
  func source() throws {
    let path = folder.file("calls.db")
    let store = try SQLiteStore(path: path)
    try store.commit([.insert(Sample.call(1))])
    #expect(throws: StoreError.self) { try SQLiteSource(path: path) }
    store.close()
    // No log is the same as an empty one.
    let before = ["", "-wal"].map { contents(of: path + $0) ?? [] }
    let source = try SQLiteSource(path: path)
    #expect(try source.contents.callCount() == 1)
    let refused = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
    #expect(refused?.kind == .inUse)
    let state = try source.state
    source.close()
    let isSame = before == ["", "-wal"].map { contents(of: path + $0) ?? [] }
    #expect(isSame)
    // Whoever opens it to change it is noticed.
    try SQLiteStore(path: path).close()
    let again = try SQLiteSource(path: path)
    defer { again.close() }
    #expect(try again.state != state)
  }

  @Test("no service starts on a store that is only partly filled")
  func partlyFilled() throws {
    let path = folder.file("calls.db")
    let destination = try SQLiteArchiveDestination(filling: path, payloads: PayloadRule())
    try destination.begin(MigrationMark(source: "a", state: "b"))
    destination.close()
    let refused = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
    #expect(refused?.kind == .inUse && refused?.message.contains("only partly filled") == true)
  }

  @Test("a missing file is not copied, and a store of another version is neither copied nor filled")
  func versions() throws {
    let missing = folder.file("missing.db")
    #expect(throws: StoreError.self) { try SQLiteSource(path: missing) }
    #expect(contents(of: missing) == nil && contents(of: missing + ".lock") == nil)
    let path = folder.file("old.db")
    try SQLiteStore(path: path).close()
    let connection = try SQLiteConnection(path: path, role: .writer)
    try connection.execute("make it older", "PRAGMA user_version = 22")
    connection.close()
    let before = contents(of: path)
    for open in [
      { _ = try SQLiteSource(path: path) },
      { _ = try SQLiteArchiveDestination(filling: path, payloads: PayloadRule()) },
    ] as [() throws -> Void] {
      let refused = #expect(throws: StoreError.self) { try open() }
      #expect(refused?.message.contains("older version") == true)
    }
    #expect(contents(of: path) == before)
  }

  @Test("a mark is read as it was written")
  func marks() {
    let mark = MigrationMark(source: "a \"b\"", state: "é")
    #expect(MigrationMark(mark.text) == mark)
    for wrong in ["", "{", #"{"from":"a"}"#, #"{"from":"a","state":"b","section":"calls"}"#] {
      #expect(MigrationMark(wrong) == nil)
    }
  }
}
