internal import CZlib
internal import RedialModel

/// Inflates bytes of the zlib format as they arrive.
final class InflatingStream {
  /// Zlib keeps a pointer to it, so it must not move.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  /// The input, and how much of it zlib has read.
  private var input: [UInt8] = []
  private var taken = 0
  /// Whether the end of the format was reached, and its checksum was right.
  private(set) var hasEnded = false

  /// The window of the zlib format (RFC 1950).
  private static let windowBits: Int32 = 15

  /// - Throws: `damaged` if there is no memory for it, which is about 40 KiB.
  init() throws(StoredBodyError) {
    stream.initialize(to: z_stream())
    guard redial_inflate_init(stream, Self.windowBits) == Z_OK else {
      stream.deallocate()
      throw .unreadable(StoreError(kind: .unavailable, message: "Out of memory while decompressing a body."))
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  /// Whether all input has been read.
  var needsMore: Bool { taken == input.count && !hasEnded }

  /// Takes new input, once zlib has read all of the last.
  func feed(_ bytes: [UInt8]) {
    input = bytes
    taken = 0
  }

  /// Appends inflated bytes, until there are that many in all.
  func inflate(into piece: inout [UInt8], upTo count: Int) throws(StoredBodyError) {
    let room = count - piece.count
    var result = Z_OK
    let more = [UInt8](unsafeUninitializedCapacity: max(1, room)) { output, written in
      input.withUnsafeBufferPointer { input in
        stream.pointee.next_in = input.baseAddress.map { $0 + taken }
        stream.pointee.avail_in = UInt32(input.count - taken)
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = UInt32(output.count)
        result = CZlib.inflate(stream, Z_NO_FLUSH)
        taken = input.count - Int(stream.pointee.avail_in)
        written = output.count - Int(stream.pointee.avail_out)
      }
    }
    // Neither pointer is kept longer than its bytes exist.
    stream.pointee.next_in = nil
    stream.pointee.next_out = nil
    hasEnded = result == Z_STREAM_END
    // Z_BUF_ERROR means that zlib needs more input.
    guard result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR else {
      throw .damaged("it cannot be decompressed")
    }
    guard more.count <= room else { throw .damaged("it decompresses to more than its call says") }
    if hasEnded, piece.count + more.count < count { throw .damaged("it decompresses to less than its call says") }
    piece += more
  }
}
