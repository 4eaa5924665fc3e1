internal import Glibc
internal import RedialStore
internal import RedialModel

/// The write-ahead log of a store, read before SQLite opens the store: SQLite would drop what stands behind damage, and
/// overwrite it with the next commit. ``WriteAheadScan`` says what is damage.
///
/// It is read beside a running service, too, which may write a frame or begin the log again at any moment: what seems to be
/// damage counts only if it is the same at the next look. But it is not read by a process that has the store open: closing the index
/// would drop the locks that its connections have there.
struct WriteAheadFile {
  /// How often it is looked at, if something else seems to be damaged each time.
  private static let maximumLooks = 5
  /// About how many bytes are read at a time.
  private static let pieceBytes = 1 << 20

  /// The store's file, without links: the log is beside it.
  private let store: String
  /// The log.
  private var path: String { store + "-wal" }

  /// The log of a store.
  init(of store: String) {
    self.store = StoreFile.realPath(store) ?? store
  }

  /// What it has.
  struct Contents {
    var scan: WriteAheadScan
    var isHeaderDamaged: Bool
    /// How it is scanned again from the beginning.
    fileprivate var start: WriteAheadScan

    /// Whether commits would be lost with the rest of the log.
    var isDamaged: Bool { isHeaderDamaged ? scan.verified > 0 : scan.isDamaged }
    /// Whether the log has commits.
    fileprivate var hasCommits: Bool { isDamaged || scan.end > 0 }
  }

  /// Throws if the log is damaged, or if the store's file is missing beside it. Nothing is changed.
  static func check(_ store: String) throws(StoreError) {
    let log = WriteAheadFile(of: store)
    guard let found = try log.contents() else { return }
    if found.isDamaged { throw log.damage(found) }
    guard found.hasCommits, try RegularFile.size(store) ?? 0 == 0 else { return }
    throw StoreError(
      kind: .corrupt,
      message: "\(store) is \(access(store, F_OK) == 0 ? "empty" : "missing"), and its write-ahead log \(log.path) has "
        + "\(found.scan.end) committed pages that belong to it. Nothing was changed. If the file was moved, move it back. "
        + "Otherwise: \(StoreError.advice(for: .corrupt))")
  }

  /// What the log has; nil if there is none, or nothing in it.
  ///
  /// - Parameter hasLooked: Called after each look that has found damage.
  func contents(hasLooked: () -> Void = {}) throws(StoreError) -> Contents? {
    guard let file = try RegularFile(path) else { return nil }
    var last: (found: Contents, header: [UInt8])?
    for _ in 0..<Self.maximumLooks {
      let index = try index()
      let header = try file.bytes(at: 0, WriteAheadHeader.bytes)
      guard header.count == WriteAheadHeader.bytes else { return nil }
      let found = try contents(file, header, index)
      guard let found, found.isDamaged else { return found }
      if let last, last.header == header, last.found.scan.intact == found.scan.intact { return found }
      last = (found, header)
      hasLooked()
    }
    return last?.found
  }

  private func contents(
    _ file: RegularFile, _ bytes: [UInt8], _ index: WriteAheadIndex?
  ) throws(StoreError) -> Contents? {
    let header = bytes.withUnsafeBytes { WriteAheadHeader($0) }
    if let header {
      let start = WriteAheadScan(header)
      var scan = start
      try Self.each(file, scan.frameBytes) { scan.take($0) }
      if let index, index.salts == header.salts { scan.take(committed: index.frames) }
      return Contents(scan: scan, isHeaderDamaged: false, start: start)
    }
    let sum = bytes.withUnsafeBytes { WriteAheadSum($0, at: 24) }
    let sizes = [bytes.withUnsafeBytes { WriteAheadHeader.pageBytes($0) }, try pageBytes()]
    for pageBytes in Set(sizes.compactMap { $0 }) {
      for isBigEndian in [false, true] {
        let start = WriteAheadScan(pageBytes: pageBytes, isBigEndian: isBigEndian, after: sum)
        var scan = start
        try Self.each(file, scan.frameBytes) { scan.take($0) }
        if scan.verified == 0 { continue }
        let first = try file.bytes(at: WriteAheadHeader.bytes, scan.frameBytes)
        if isBegunAgain(bytes, first, isBigEndian, index) { return nil }
        return Contents(scan: scan, isHeaderDamaged: true, start: start)
      }
    }
    return nil
  }

  /// Whether a process died while it wrote the header anew, to begin the log again: then all pages of the log are in the
  /// store's file, and the header has the next number of a checkpoint, and in part the salts and the checksum of the old one.
  ///
  /// If only the number differs, one bit of it may be damaged, which the index of the log tells: a process that begins the
  /// log again writes that before.
  private func isBegunAgain(
    _ header: [UInt8], _ first: [UInt8], _ isBigEndian: Bool, _ index: WriteAheadIndex?
  ) -> Bool {
    let salts = first.withUnsafeBytes { $0.big64(at: 8) }
    if header.withUnsafeBytes({ $0.big64(at: 16) }) == salts, let index, index.salts == salts, index.frames > 0 {
      return false
    }
    var old = header
    let number = header.withUnsafeBytes { $0.big32(at: 12) } &- 1
    withUnsafeBytes(of: number.bigEndian) { old.replaceSubrange(12..<16, with: $0) }
    old.replaceSubrange(16..<24, with: first[8..<16])
    let sum = old.withUnsafeBytes {
      WriteAheadSum().continued(over: $0.prefix(WriteAheadHeader.summed), isBigEndian)
    }
    var scan = WriteAheadScan(pageBytes: first.count - WriteAheadScan.headerBytes, isBigEndian: isBigEndian, after: sum)
    return first.withUnsafeBytes { scan.take($0) }
  }

  /// Calls `body` with each whole frame, in order.
  private static func each(
    _ file: RegularFile, _ frameBytes: Int, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    let piece = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(1, pieceBytes / frameBytes) * frameBytes, alignment: 16)
    defer { piece.deallocate() }
    var place = WriteAheadHeader.bytes
    while true {
      let count = try file.read(into: piece, at: place)
      for start in stride(from: 0, through: count - frameBytes, by: frameBytes) {
        try body(UnsafeRawBufferPointer(rebasing: piece[start..<start + frameBytes]))
      }
      place += count
      if count < piece.count { return }
    }
  }

  // MARK: Saving what is there

  /// Puts each page of the log that verifies, up to the last commit, into a copy of the store's file, as a checkpoint does.
  ///
  /// - Returns: How many frames of the log were committed and cannot be read.
  func move(into copy: RegularFile) throws(StoreError) -> Int {
    guard let found = try contents(), let file = try RegularFile(path) else { return 0 }
    var (scan, moved, pages) = (found.start, 0, 0)
    let pageBytes = scan.frameBytes - WriteAheadScan.headerBytes
    try Self.each(file, scan.frameBytes) { (frame) throws(StoreError) in
      guard scan.take(frame), scan.count <= found.scan.end else { return }
      moved += 1
      let page = UnsafeRawBufferPointer(rebasing: frame[WriteAheadScan.headerBytes...])
      try copy.write(page, at: (Int(frame.big32(at: 0)) - 1) * pageBytes)
      if frame.big32(at: 4) != 0 { pages = Int(frame.big32(at: 4)) }
    }
    if pages > 0 { try copy.cut(to: pages * pageBytes) }
    return max(0, found.scan.end - moved)
  }

  // MARK: Beside the log

  /// The index of the log, if it was written since this machine started: after a power cut, the disk may have an index that
  /// was written for frames that it lacks.
  private func index() throws(StoreError) -> WriteAheadIndex? {
    guard let file = try RegularFile(store + "-shm"), file.wasWrittenSinceBoot else { return nil }
    return try file.bytes(at: 0, 96).withUnsafeBytes { WriteAheadIndex($0) }
  }

  /// The size of a page, by the store's file.
  private func pageBytes() throws(StoreError) -> Int? {
    guard let file = try RegularFile(store) else { return nil }
    let header = try file.bytes(at: 0, 18)
    guard header.count == 18 else { return nil }
    let size = Int(header[16]) << 8 | Int(header[17])
    return size == 1 ? 65536 : (512...32768).contains(size) ? size : nil
  }

  private func damage(_ found: Contents) -> StoreError {
    let scan = found.scan
    let what =
      found.isHeaderDamaged
      ? "its header is damaged, and \(scan.verified) frames behind it verify"
      : scan.intact < scan.count
        ? "frame \(scan.intact + 1) of \(scan.count), at byte \(WriteAheadHeader.bytes + scan.intact * scan.frameBytes), "
          + "does not verify. It was synced, because \(scan.end) frames were committed; \(scan.behind) behind it verify"
        : "it has \(scan.count) frames, and \(scan.end) were committed"
    return StoreError(
      kind: .corrupt,
      message:
        "The write-ahead log \(path) is damaged: \(what). SQLite would lose everything from there on, so the store is "
        + "not opened. Nothing was changed. \(StoreError.advice(for: .corrupt))")
  }
}
