import RedialCore
import StoreConformance
import Testing

@testable import RedialSQLite

@Suite("The places of rows of the log")
struct LogPlacesTests {
  let folder = TemporaryFolder()

  @Test("small rows are padded to whole pages, large ones are not")
  func padding() {
    let places = LogPlaces()
    let sizes = [1, 4056, 4057, 8148, 8149, 12_240, 16_332, 16_333, 100_000]
    #expect(
      sizes.map { places.next(for: $0).bytes } == [4056, 4056, 8148, 8148, 12_240, 12_240, 16_332, 16_333, 100_000])
  }

  @Test("no place is given twice, and there are not many more than needed")
  func history() {
    var random = RandomSource(seed: 1)
    var places = LogPlaces()
    var (used, most): ([LogPlaces.Place], Int) = ([], 0)
    for _ in 0..<20_000 {
      if used.count > 200 || !used.isEmpty && Bool.random(using: &random) {
        let old = used.remove(at: Int.random(in: used.indices, using: &random))
        places.release(old.number, bytes: old.bytes)
      }
      let place = places.next(for: Int.random(in: 1...30_000, using: &random))
      #expect(!used.contains { $0.number == place.number })
      places.take(place.number)
      used.append(place)
      most = max(most, used.count)
    }
    #expect(places.count <= most + 64, "\(places.count) places for \(most) rows")
    let again = LogPlaces(used.map { ($0.number, $0.bytes, true) } + [(places.count, 5000, false)])
    #expect(again.next(for: 6000).number == places.count)
    #expect(again.next(for: 600).number == places.count + 1)
  }

  // Five pages were written where these rows have two: the first of the file and free ones, too.
  @Test("a row is written over another with as many pages, and no other page is")
  func pages() throws {
    let path = folder.file("calls.db")
    let connection = try SQLiteConnection(path: path, role: .writer)
    defer { connection.close() }
    try connection.execute(
      "prepare the test",
      "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; "
        + "CREATE TABLE call_log (place INTEGER PRIMARY KEY, changes BLOB NOT NULL) STRICT")
    let table = try LogTable(on: connection)
    for pages in 1...LogPlaces.mostPadded {
      let bytes = LogPlaces().next(for: 4000 * pages).bytes
      var written: [Int] = []
      for content in 1...3 as ClosedRange<UInt8> {
        let before = contents(of: path + "-wal")?.count ?? 0
        try table.write([UInt8](repeating: content, count: bytes), at: Int64(pages))
        written.append(((contents(of: path + "-wal")?.count ?? 0) - before) / (4096 + 24))
      }
      #expect(written.dropFirst() == [pages, pages], "\(bytes) bytes")
    }
  }
}
