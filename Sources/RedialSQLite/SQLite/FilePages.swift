internal import RedialStore
internal import RedialCore
internal import RedialModel

/// The pages of a file: how many it has, and how many of them are free. Each figure is at hand, whatever the file contains.
struct FilePages {
  private let all: SQLiteStatement
  private let unused: SQLiteStatement
  /// The size of a page.
  let bytes: Int

  /// Prepares the queries.
  init(on connection: SQLiteConnection) throws(StoreError) {
    all = try connection.prepare("measure the store", "PRAGMA page_count")
    unused = try connection.prepare("measure the store", "PRAGMA freelist_count")
    bytes = Int(try connection.value("measure the store", "PRAGMA page_size") { $0.integer(0) } ?? 4096)
  }

  func free() throws(StoreError) -> Int {
    Int(try unused.first { row throws(StoreError) in row.integer(0) } ?? 0)
  }

  /// Bytes in use.
  func usedBytes() throws(StoreError) -> Int {
    let pages = Int(try all.first { row throws(StoreError) in row.integer(0) } ?? 0)
    return (pages - (try free())) * bytes
  }
}

/// The size of a file, and the number of finished calls in it, for a reader.
struct UsageQueries {
  private let pages: FilePages
  private let counts: SQLiteStatement

  /// Prepares the queries.
  init(on connection: SQLiteConnection) throws(StoreError) {
    pages = try FilePages(on: connection)
    counts = try connection.prepare("count finished calls", "SELECT kind, state, count FROM finished_counts")
  }

  /// All figures at once.
  func usage() throws(StoreError) -> StoreUsage {
    let finished = try counts.rows { row throws(StoreError) -> FinishedCount? in
      guard let kind = row.code(0, as: CallKind.self), let state = row.code(1, as: StoredState.self) else { return nil }
      return FinishedCount(kind: kind, state: state.visible, count: Int(row.integer(2)))
    }
    return StoreUsage(
      usedBytes: try pages.usedBytes(), freeBytes: try pages.free() * pages.bytes, finished: finished.compactMap { $0 })
  }
}
