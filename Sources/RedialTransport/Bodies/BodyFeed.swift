internal import Dispatch
internal import Glibc

/// The part of one request's body between its source and libcurl: the piece that libcurl is sending, and the next one,
/// which is read meanwhile.
///
/// Not `Sendable`: it belongs to the thread that drives the transfer. Only a lane uses its source.
final class BodyFeed {
  let source: any BodySource
  /// The length of the body, in bytes.
  let size: Int
  /// Distinguishes it from the feeds of other requests.
  let ticket: UInt64
  private let lane: DispatchQueue
  /// Receives the pieces that were read, on the lane, with the number of the reading, because a piece that was
  /// requested before the last rewind is dropped.
  private let deliver: @Sendable (_ reading: Int, Result<[UInt8], BodyFault>) -> Void

  private var current: [UInt8] = []
  private var given = 0
  private var coming: [UInt8] = []
  /// The number of the current reading, from 1.
  private var reading = 0
  /// How many bytes of this reading have arrived, and whether more were requested.
  private var fetched = 0
  private var isFetching = false
  /// Whether libcurl waits for a piece.
  private(set) var isAwaited = false
  /// Why no more bytes will arrive.
  private(set) var fault: BodyFault?

  /// How much is read at a time, in bytes. Each piece costs a read of the store, which takes longer the farther it is
  /// from the beginning: measured, a MiB of a body of 8 MiB takes 0.84 ms in pieces of 64 KiB, 0.64 in those of 128 and
  /// 0.51 in those of 256.
  static let pieceSize = 128 * 1024

  init(
    _ source: any BodySource, ticket: UInt64, lane: DispatchQueue,
    deliver: @escaping @Sendable (Int, Result<[UInt8], BodyFault>) -> Void
  ) {
    self.source = source
    size = source.size
    self.ticket = ticket
    self.lane = lane
    self.deliver = deliver
  }

  /// The return value for libcurl.
  enum Answer {
    /// The number of bytes that were written.
    case bytes(Int)
    /// There are none yet; libcurl continues when there are.
    case wait
    /// There will be none.
    case fault
  }

  /// Begins to read, or begins again.
  func begin() {
    let isAgain = reading > 0
    reading += 1
    (current, coming, given, fetched, isFetching, isAwaited, fault) = ([], [], 0, 0, false, false, nil)
    fetch(fromStart: isAgain)
  }

  /// Whether there is a first piece, or a reason why there will be none.
  var isReady: Bool { given < current.count || fault != nil || size == 0 }

  /// Takes a piece that was read.
  ///
  /// - Returns: Whether libcurl waits for it.
  func take(_ reading: Int, _ result: Result<[UInt8], BodyFault>) -> Bool {
    guard reading == self.reading else { return false }
    isFetching = false
    switch result {
    case .failure(let found): fault = found
    case .success(let piece):
      if piece.isEmpty || piece.count > size - fetched { fault = .short } else { accept(piece) }
    }
    defer { isAwaited = false }
    return isAwaited
  }

  private func accept(_ piece: [UInt8]) {
    fetched += piece.count
    if given == current.count { (current, given) = (piece, 0) } else { coming = piece }
    if coming.isEmpty { fetch() }
  }

  /// Writes the next bytes.
  func give(_ room: UnsafeMutableRawPointer, _ count: Int) -> Answer {
    if given == current.count {
      if coming.isEmpty {
        if fault != nil { return .fault }
        if fetched == size { return .bytes(0) }
        isAwaited = true
        return .wait
      }
      (current, given) = (coming, 0)
      coming = []
      fetch()
    }
    let count = min(count, current.count - given)
    current.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress { memcpy(room, base + given, count) }
    }
    given += count
    // Bytes that were passed on need not be kept until the next piece arrives.
    if given == current.count { (current, given) = ([], 0) }
    return .bytes(count)
  }

  private func fetch(fromStart: Bool = false) {
    guard !isFetching, fault == nil, fetched < size else { return }
    isFetching = true
    let count = min(Self.pieceSize, size - fetched)
    lane.async { [source, reading, deliver] in
      if fromStart { source.rewind() }
      do throws(BodyFault) {
        deliver(reading, .success(try source.next(atMost: count)))
      } catch {
        deliver(reading, .failure(error))
      }
    }
  }
}
