/// Where rows of the log go: each place is the rowid of a row that is not needed any more, or the next new one.
///
/// SQLite overwrites a row where it is if the new one has exactly as many bytes, and then writes the row's own pages and
/// nothing else. A row of another size gives pages back and takes others: then it writes the first page of the file and the
/// list of free pages, too, five pages where two would do. So rows of a few pages are padded to whole pages, and take the
/// place of a row with as many.
struct LogPlaces: Sendable {
  /// Rows with more pages are not padded: what is saved is little beside their own pages.
  static let mostPadded = 4
  /// If there are so many free places, and none of the right size, another one is taken: so there is a bound to all places.
  private static let mostFree = 64
  /// The size of a blob that fills a leaf page of 4,096 bytes alone: SQLite keeps 35 bytes of the page for itself, and the
  /// row's header has up to 5 (https://sqlite.org/fileformat2.html#b_tree_pages). With pages of another size all works, and
  /// less is saved.
  private static let leafBytes = 4096 - 35 - 5
  /// Each further page has 4 bytes for the number of the next one.
  private static let overflowBytes = 4096 - 4

  /// A place for a row, and the size of the row there with its padding.
  struct Place: Sendable {
    let number: Int64
    let bytes: Int
  }

  /// Free places by the number of pages; those of larger rows are the first. The one that was freed last is used first, so
  /// that few pages are in use.
  private var free: [[Int64]] = Array(repeating: [], count: mostPadded + 1)
  private var freeCount = 0
  /// The number of all places, free or not.
  private(set) var count: Int64 = 0

  /// No place is in use.
  init() {}

  /// All places up to a last one. Those with no row in use are free.
  ///
  /// - Parameter rows: The size of each row that was found, in bytes, and whether it is in use.
  init(_ rows: [(place: Int64, bytes: Int, isUsed: Bool)]) {
    count = (rows.map(\.place).max() ?? -1) + 1
    for row in rows.sorted(by: { $0.place > $1.place }) where !row.isUsed { release(row.place, bytes: row.bytes) }
  }

  /// Where a row goes.
  ///
  /// - Parameter bytes: Its size without padding.
  func next(for bytes: Int) -> Place {
    let size = Self.padded(bytes)
    let kind = Self.kind(of: bytes)
    let other = freeCount >= Self.mostFree ? free.max { $0.count < $1.count }?.last : nil
    return Place(number: free[kind].last ?? other ?? count, bytes: size)
  }

  /// A row is at a place that was the next one for its size.
  mutating func take(_ place: Int64) {
    if place == count {
      count += 1
    } else if let kind = free.firstIndex(where: { $0.last == place }) {
      free[kind].removeLast()
      freeCount -= 1
    }
  }

  /// A row is not needed any more.
  mutating func release(_ place: Int64, bytes: Int) {
    free[Self.kind(of: bytes)].append(place)
    freeCount += 1
  }

  /// The size of a row with its padding, in bytes.
  private static func padded(_ bytes: Int) -> Int {
    let pages = Self.pages(bytes)
    return pages > mostPadded ? bytes : leafBytes + (pages - 1) * overflowBytes
  }

  private static func kind(of bytes: Int) -> Int {
    let pages = Self.pages(bytes)
    return pages > mostPadded ? 0 : pages
  }

  private static func pages(_ bytes: Int) -> Int { 1 + (max(0, bytes - leafBytes) + overflowBytes - 1) / overflowBytes }
}
