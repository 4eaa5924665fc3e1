internal import RedialStore
internal import RedialModel

/// Returns the pages that removed calls have left to the file system.
struct PageRelease {
  /// Free pages that the file keeps: returning them and growing again would write twice.
  static let sparePages = 1024
  /// Pages that are returned between two checks of the clock.
  private static let batch = 16

  private let connection: SQLiteConnection
  private let pages: FilePages
  /// Whether the file can become smaller a few pages at a time: one made by this version or later. The pages of an older
  /// file are only reused (see docs/operating.md).
  let isPossible: Bool

  /// Prepares the queries.
  init(on connection: SQLiteConnection) throws(StoreError) {
    self.connection = connection
    pages = try FilePages(on: connection)
    isPossible = try connection.value("measure the store", "PRAGMA auto_vacuum") { $0.integer(0) } == 2
  }

  /// Bytes in use.
  func usedBytes() throws(StoreError) -> Int { try pages.usedBytes() }

  /// How many pages can be returned.
  ///
  /// - Parameter isShort: Whether space is short: then no free pages are kept.
  func excess(isShort: Bool) throws(StoreError) -> Int {
    isPossible ? max(0, try pages.free() - (isShort ? 0 : Self.sparePages)) : 0
  }

  /// Returns up to so many pages, and begins with no more of them after a time. Only within a transaction.
  func release(_ excess: Int, until end: ContinuousClock.Instant) throws(StoreError) -> TidyStep {
    var released = 0
    while released < excess, ContinuousClock.now < end {
      let count = min(Self.batch, excess - released)
      try connection.execute("give space back", "PRAGMA incremental_vacuum(\(count))")
      released += count
    }
    return TidyStep(releasedBytes: released * pages.bytes, isDone: released >= excess)
  }
}
