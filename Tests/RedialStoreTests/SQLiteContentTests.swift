import Foundation
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("The contents of a store in a file")
struct SQLiteContentTests {
  let folder = TemporaryFolder()

  var conformance: ContentConformance {
    let (from, to) = (folder.file("from.db"), folder.file("to.db"))
    return ContentConformance(
      openSource: { () throws(StoreError) in try SQLiteSource(path: from) },
      openFilling: { () throws(StoreError) in try SQLiteDestination(path: from) },
      openDestination: { () throws(StoreError) in try SQLiteDestination(path: to) },
      openResult: { () throws(StoreError) in try SQLiteSource(path: to) })
  }

  @Test("each rule", arguments: ContentConformance.cases)
  func conforms(_ rule: ConformanceCase<ContentConformance>) throws { try rule.run(conformance) }

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
    let destination = try SQLiteDestination(path: path)
    defer { destination.close() }
    #expect(try destination.reader.count(of: .calls) == 0)
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
    #expect(try source.count(of: .calls) == 1)
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
    let destination = try SQLiteDestination(path: path)
    try destination.begin(MigrationMark(source: "a", state: "b", section: .calls))
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
    for open in [{ _ = try SQLiteSource(path: path) }, { _ = try SQLiteDestination(path: path) }] as [() throws -> Void]
    {
      let refused = #expect(throws: StoreError.self) { try open() }
      #expect(refused?.message.contains("older version") == true)
    }
    #expect(contents(of: path) == before)
  }

  @Test("every column of every table is moved, except for leases and what follows from other rows")
  func columns() throws {
    let path = folder.file("calls.db")
    try SQLiteStore(path: path).close()
    let connection = try SQLiteConnection(path: path, role: .reader)
    defer { connection.close() }
    let columns = try connection.prepare(
      "list the columns",
      """
      SELECT s.name || '.' || c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c
      WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite_%'
        AND s.name NOT IN ('sessions', 'leases', 'unfinished_counts', 'call_log')
      """)
    let stored = Set(try columns.rows { row throws(StoreError) in row.text(0) })
    let moved = ContentSection.allCases.flatMap { section in
      section.columns.map { "\(section.table).\(section.stored($0))" }
    }
    #expect(stored == Set(moved).union(["attempts.id", "requests.past", "targets.shard"]))
  }

  @Test("a mark is read as it was written, whatever the key")
  func marks() {
    for last in [nil, [], [.integer(-5), .text(Array("a\0é\"".utf8)), .text([])]] as [ContentRow?] {
      for section in [nil, .labels] as [ContentSection?] {
        let mark = MigrationMark(source: "a \"b\"", state: "é", section: section, last: last)
        #expect(MigrationMark(mark.text) == mark)
      }
    }
    for wrong in ["", "{", #"{"section":"other"}"#, #"{"last":["*"]}"#, #"{"more":1}"#] {
      #expect(MigrationMark(wrong) == nil)
    }
  }
}
