internal import CSQLite

/// The header of a write-ahead log, by the file format of SQLite (sqlite.org/fileformat2.html, section 4.1).
struct WriteAheadHeader {
  static let bytes = 32
  /// The bytes that its checksum is about.
  static let summed = 24

  /// Whether checksums read the words of the pages with the highest byte first.
  var isBigEndian: Bool
  var pageBytes: Int
  /// Both salts. Frames with others are of an earlier use of the file, and all of their pages are in the store's file.
  var salts: UInt64
  /// What the checksum of the first frame continues.
  var sum: WriteAheadSum

  /// Reads it; nil if it is damaged, or there is none.
  init?(_ header: UnsafeRawBufferPointer) {
    guard header.count >= Self.bytes, let pageBytes = Self.pageBytes(header) else { return nil }
    let magic = header.big32(at: 0)
    guard magic & ~1 == 0x377F_0682 else { return nil }
    isBigEndian = magic & 1 == 1
    self.pageBytes = pageBytes
    salts = header.big64(at: 16)
    sum = WriteAheadSum(header, at: 24)
    let found = WriteAheadSum().continued(over: header.prefix(Self.summed), isBigEndian)
    guard found == sum else { return nil }
  }

  /// The size of a page as it stands there; nil if it is none.
  static func pageBytes(_ header: UnsafeRawBufferPointer) -> Int? {
    let size = Int(header.big32(at: 8))
    return size.nonzeroBitCount == 1 && (512...65536).contains(size) ? size : nil
  }
}

/// A checksum of a log (section 4.2 there): each frame continues that of the frame before.
struct WriteAheadSum: Equatable {
  private var first: UInt32 = 0
  private var second: UInt32 = 0

  init() {}

  /// A stored one.
  init(_ bytes: UnsafeRawBufferPointer, at place: Int) {
    (first, second) = (bytes.big32(at: place), bytes.big32(at: place + 4))
  }

  /// The checksum of more bytes, a multiple of 8.
  func continued(over bytes: Slice<UnsafeRawBufferPointer>, _ isBigEndian: Bool) -> WriteAheadSum {
    var sum = self
    guard let start = UnsafeRawBufferPointer(rebasing: bytes).baseAddress else { return sum }
    redial_continue_log_sum(start, bytes.count / 4, isBigEndian ? 1 : 0, &sum.first, &sum.second)
    return sum
  }
}

/// Tells damage in a write-ahead log from an end that was torn, frame by frame.
///
/// **What SQLite does.** It reads frames as far as each continues the checksum of the one before, takes the last commit
/// among them as the end, and overwrites what stands behind. That is right for an end that a power cut has torn. It loses
/// acknowledged commits in silence if a byte in the middle has changed.
///
/// **What proves damage.** The checksum of frame *k* + 1 can be continued from the one that is *stored* in frame *k*, also if
/// frame *k* is damaged. But frames that verify behind a bad one prove nothing by that: what one transaction writes between
/// two fsyncs reaches the disk in any order, so a power cut can leave its last frames and not its first ones, and frames that
/// a rolled back transaction has left stay in the file. Each commit is synced before it is acknowledged, and the next
/// transaction is written only then (`synchronous = FULL`). So damage is proven by:
///
/// - a frame that ends a transaction, at or behind the first bad frame, and a frame right behind it that continues *its*
///   checksum: whoever wrote that had synced all before it; or
/// - the index of the log (`-shm`), if it says that more frames are committed than verify from the beginning: it is written
///   after the fsync. It counts only if it was written since the machine started, see ``WriteAheadIndex``.
///
/// A frame that is itself bad still shows that it ends a transaction. Either the next frame continues the checksum that its
/// bytes have, and only the stored one is damaged. Or the next frame continues the stored one, and the header is in one
/// sector of the disk, so that all of it was written together; otherwise the size in it could be that of an older frame.
///
/// What remains is a bad frame in the last transaction, or all of the end of the one before, without an index: nothing tells
/// that from a torn end.
struct WriteAheadScan {
  static let headerBytes = 24
  private static let sectorBytes = 512

  private let isBigEndian: Bool
  private let pageBytes: Int
  /// The salts of the frames that count; nil if the header is damaged: then those of the first frame that
  /// verifies.
  private var salts: UInt64?

  /// Frames until now.
  private(set) var count = 0
  /// The frames from the first one on that verify without a gap.
  private(set) var intact = 0
  /// The last frame that was committed for sure; 0 for none.
  private(set) var end = 0
  /// How many frames verify between the first bad one and ``end``.
  private(set) var behind = 0
  /// How many frames verify at all.
  private(set) var verified = 0

  /// The frame before; nil before the first.
  private var before: Frame?
  /// What the first frame continues.
  private let start: WriteAheadSum
  /// Whether the frames just before verify, up to one that proves that they were synced.
  private var isProven = false

  private struct Frame {
    var salts: UInt64
    var stored: WriteAheadSum
    /// The checksum of its bytes.
    var found: WriteAheadSum
    var isCommit: Bool
    var isInOneSector: Bool
    var verifies: Bool
  }

  /// A scan of the frames behind a sound header.
  init(_ header: WriteAheadHeader) {
    (isBigEndian, pageBytes, salts, start) = (header.isBigEndian, header.pageBytes, header.salts, header.sum)
  }

  /// A scan of frames that verify among themselves, behind a damaged header.
  ///
  /// - Parameter sum: What the first frame may continue.
  init(pageBytes: Int, isBigEndian: Bool, after sum: WriteAheadSum) {
    (self.isBigEndian, self.pageBytes, salts, start) = (isBigEndian, pageBytes, nil, sum)
  }

  var frameBytes: Int { Self.headerBytes + pageBytes }

  /// Takes the next frame, with its page; returns whether it verifies.
  @discardableResult
  mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    count += 1
    var frame = Frame(
      salts: bytes.big64(at: 8), stored: WriteAheadSum(bytes, at: 16), found: WriteAheadSum(),
      isCommit: bytes.big32(at: 4) != 0, isInOneSector: isInOneSector, verifies: false)
    // No page has the number 0, so zeros are no frame. A frame of an earlier use of the file is not worth its checksum,
    // unless this is the first in its place that is not ours.
    let isOurs = frame.salts == salts ?? before?.salts ?? frame.salts && bytes.big32(at: 0) != 0
    var followsCommit = false
    if isOurs || before?.verifies != false {
      frame.found = sum(of: bytes, after: before?.stored ?? start)
      frame.verifies = isOurs && frame.found == frame.stored
      followsCommit = before.map { $0.isCommit && ($0.verifies || $0.isInOneSector) } ?? false
    }
    if isOurs, !frame.verifies, let before, !before.verifies, sum(of: bytes, after: before.found) == frame.stored {
      (frame.verifies, followsCommit) = (true, before.isCommit)
    }
    advanceEnd(past: frame, followsCommit)
    before = frame
    return frame.verifies
  }

  /// Counts a frame, if it verifies, and sets ``end`` to it if all up to it was committed for sure.
  private mutating func advanceEnd(past frame: Frame, _ followsCommit: Bool) {
    guard frame.verifies else {
      isProven = false
      return
    }
    verified += 1
    if salts == nil { salts = frame.salts }
    if intact == count - 1 {
      intact = count
      if frame.isCommit { end = count }
      return
    }
    if followsCommit, !isProven {
      isProven = true
      (end, behind) = (count - 1, verified - intact - 1)
    }
    if isProven, frame.isCommit { (end, behind) = (count, verified - intact) }
  }

  /// The checksum of a frame: of its page's number, the size, and the page.
  private func sum(of frame: UnsafeRawBufferPointer, after sum: WriteAheadSum) -> WriteAheadSum {
    sum.continued(over: frame.prefix(8), isBigEndian)
      .continued(over: frame[Self.headerBytes..<frameBytes], isBigEndian)
  }

  /// The index of the log says that so many frames are committed.
  mutating func take(committed frames: Int) {
    guard frames > max(intact, end) else { return }
    end = frames
    behind = max(0, verified - intact)
  }

  /// Whether a frame is bad that was committed.
  var isDamaged: Bool { end > intact }

  /// Whether the size, the salts and the checksum of this frame are in one sector.
  private var isInOneSector: Bool {
    let start = WriteAheadHeader.bytes + (count - 1) * frameBytes
    return (start + 4) / Self.sectorBytes == (start + Self.headerBytes - 1) / Self.sectorBytes
  }
}

/// The index of a write-ahead log, in `-shm`, as far as it says what is committed (sqlite.org/walformat.html).
struct WriteAheadIndex {
  private static let version: UInt32 = 3_007_000
  /// Two copies of a header of this size are at the beginning.
  private static let bytes = 48

  /// How many frames are committed.
  var frames: Int
  /// The salts of the log that it is about.
  var salts: UInt64

  /// Reads it; nil if it is not initialized, damaged, or just being written.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= 2 * Self.bytes, bytes.loadUnaligned(as: UInt32.self) == Self.version, bytes[12] != 0,
      bytes[0..<Self.bytes].elementsEqual(bytes[Self.bytes..<2 * Self.bytes])
    else { return nil }
    var (first, second): (UInt32, UInt32) = (0, 0)
    guard let start = bytes.baseAddress else { return nil }
    // Its own checksum is over words in this machine's order.
    redial_continue_log_sum(start, 10, Self.isBigEndian ? 1 : 0, &first, &second)
    guard bytes.loadUnaligned(fromByteOffset: 40, as: UInt32.self) == first,
      bytes.loadUnaligned(fromByteOffset: 44, as: UInt32.self) == second
    else { return nil }
    frames = Int(bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
    salts = bytes.big64(at: 32)
  }

  private static var isBigEndian: Bool { 1.bigEndian == 1 }
}

extension UnsafeRawBufferPointer {
  /// The number in four bytes, the highest first.
  func big32(at place: Int) -> UInt32 { UInt32(bigEndian: loadUnaligned(fromByteOffset: place, as: UInt32.self)) }

  /// The number in eight bytes, the highest first.
  func big64(at place: Int) -> UInt64 { UInt64(bigEndian: loadUnaligned(fromByteOffset: place, as: UInt64.self)) }
}
