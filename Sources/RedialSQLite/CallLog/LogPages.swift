internal import RedialStore
internal import RedialModel

/// Rows of the log in any page of a file, also if the pages that lead to them are damaged. Each row has a checksum, so that it
/// is known wherever it is. The file must have no write-ahead log.
///
/// By the file format of SQLite (sqlite.org/fileformat2.html, sections 1.5, 1.6 and 2.1).
struct LogPages {
  private static let leafOfTable: UInt8 = 13
  private static let leafHeaderBytes = 8

  private let file: RegularFile
  private let pageBytes: Int
  /// The bytes of a page that SQLite uses.
  private let usable: Int

  /// Opens the file; nil if there is none, or its header is damaged.
  init?(of path: String) throws(StoreError) {
    guard let file = try RegularFile(path) else { return nil }
    let header = try file.bytes(at: 0, 24)
    guard header.count == 24 else { return nil }
    let size = Int(header[16]) << 8 | Int(header[17])
    self.file = file
    pageBytes = size == 1 ? 65536 : size
    usable = pageBytes - Int(header[20])
    guard pageBytes.nonzeroBitCount == 1, pageBytes >= 512, usable >= 480 else { return nil }
  }

  /// Calls `body` with each row whose checksum is right, and its place.
  func each(_ body: (_ place: Int64, _ row: [UInt8]) -> Void) throws(StoreError) {
    // The first page has the file's header, and is none of the log.
    for start in sequence(first: pageBytes, next: { $0 + pageBytes }) {
      let page = try file.bytes(at: start, pageBytes)
      guard page.count == pageBytes else { return }
      guard page[0] == Self.leafOfTable else { continue }
      for cell in 0..<(Int(page[3]) << 8 | Int(page[4])) {
        let pointer = Self.leafHeaderBytes + 2 * cell
        guard pointer + 2 <= usable else { break }
        guard let (place, row) = try row(at: Int(page[pointer]) << 8 | Int(page[pointer + 1]), in: page[..<usable]),
          LogRecords.numbers(of: row) != nil
        else { continue }
        body(place, row)
      }
    }
  }

  /// The row in a cell: a record of the place, which is the key, and a blob.
  private func row(at cell: Int, in page: ArraySlice<UInt8>) throws(StoreError) -> (place: Int64, row: [UInt8])? {
    var rest = page.dropFirst(cell)
    guard let size = Self.number(&rest), let place = Self.number(&rest), size > 0,
      size <= Int64(LogBounds().largestRow * 4)
    else { return nil }
    let count = Int(size)
    let local = localBytes(of: count)
    guard rest.count >= local + (local < count ? 4 : 0) else { return nil }
    var record = Array(rest.prefix(local))
    var next = local < count ? Self.big32(rest.dropFirst(local)) : 0
    while record.count < count {
      guard next > 1 else { return nil }
      let page = try file.bytes(at: (next - 1) * pageBytes, usable)
      guard page.count == usable else { return nil }
      next = Self.big32(page[...])
      record += page[4...].prefix(count - record.count)
    }
    var header = record[...]
    guard let length = Self.number(&header), Self.number(&header) == 0, let blob = Self.number(&header), blob >= 12,
      blob % 2 == 0, length == record.count - header.count, (blob - 12) / 2 == header.count
    else { return nil }
    return (place, Array(header))
  }

  /// How many bytes of a record are in the leaf, and not in pages behind it.
  private func localBytes(of record: Int) -> Int {
    if record <= usable - 35 { return record }
    let least = (usable - 12) * 32 / 255 - 23
    let wanted = least + (record - least) % (usable - 4)
    return wanted <= usable - 35 ? wanted : least
  }

  private static func big32(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
  }

  /// A number of SQLite: seven bits a byte, the highest first, and eight in a ninth one.
  private static func number(_ bytes: inout ArraySlice<UInt8>) -> Int64? {
    var value: UInt64 = 0
    for index in 0..<9 {
      guard let byte = bytes.popFirst() else { return nil }
      if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte < 0x80 { return Int64(bitPattern: value) }
    }
    return nil
  }
}
