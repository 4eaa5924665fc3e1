import CZlib

/// Undoes the content coding of request bodies, one after another, with one zlib stream that is reset in between.
///
/// Sound: zlib's state points back at its `z_stream`, so the stream has an address of its own, which this type, which
/// cannot be copied, alone reaches and frees. What it lends to zlib is valid for the call of `inflate` and is not
/// followed after it: each call is given its pointers anew.
struct ContentDecoder: ~Copyable {
  /// The gzip format with its header and checksum, and a window of 32 KiB (zlib.h, "inflateInit2").
  private static let gzipWindow: Int32 = 31
  /// The zlib format, alike.
  private static let zlibWindow: Int32 = 15
  /// How much room is made at a time.
  private static let stepBytes = 16 * 1024

  private let limits: ContentLimits
  private let stream: UnsafeMutablePointer<z_stream>
  /// zlib's own memory is taken for the first coded body.
  private var isReady = false

  init(limits: ContentLimits) {
    self.limits = limits
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
  }

  deinit {
    if isReady { inflateEnd(stream) }
    stream.deallocate()
  }

  /// Inflates a whole body into `output`, which is empty before. No more than the bound and one byte is ever written.
  ///
  /// - Throws: 413 beyond the bound of the size or of the ratio, 400 for a body that is damaged, cut off or followed by
  ///   something, 415 for a coding that is not understood; what `output` holds then is of no use.
  mutating func decode(
    _ body: UnsafeRawBufferPointer, _ coding: ContentCoding, into output: inout ByteBuffer
  ) throws(ProtocolError) {
    guard coding == .gzip || coding == .deflate else { throw .unsupportedCoding }
    try prepare(coding == .gzip ? Self.gzipWindow : Self.zlibWindow)
    let bound = limits.bound(of: body.count)
    var rest = UnsafeRawBufferPointer(rebasing: body[...])
    while true {
      let allowed = bound + 1 - output.count
      let target = output.reserve(min(Self.stepBytes, allowed))
      let result = step(&rest, target, min(output.spareCapacity, allowed), &output)
      guard output.count <= bound else {
        throw bound < limits.maxBodyBytes ? .inflatesTooMuch : .bodyTooLarge
      }
      switch result {
      case Z_OK: continue
      case Z_STREAM_END:
        if rest.isEmpty { return }
        // RFC 1952 section 2.2: a gzip file is a series of members.
        guard coding == .gzip, rest[0] == 0x1F else { throw .badRequest("Something follows the compressed body.") }
        guard inflateReset(stream) == Z_OK else { throw .noMemory }
      // No progress although there is room: the input is at its end, and the coded data is not.
      case Z_BUF_ERROR: throw .badRequest("The compressed body is cut off.")
      case Z_MEM_ERROR: throw .noMemory
      default: throw .badRequest("The compressed body is damaged, or not of the coding that Content-Encoding names.")
      }
    }
  }

  private mutating func prepare(_ window: Int32) throws(ProtocolError) {
    let result = isReady ? inflateReset2(stream, window) : redial_inflate_init(stream, window)
    guard result == Z_OK else { throw .noMemory }
    isReady = true
  }

  /// Calls zlib once, and counts what it took and gave.
  private func step(
    _ rest: inout UnsafeRawBufferPointer, _ target: UnsafeMutablePointer<UInt8>, _ room: Int,
    _ output: inout ByteBuffer
  ) -> Int32 {
    let given = UInt32(clamping: rest.count)
    let taken = UInt32(clamping: room)
    stream.pointee.next_in = rest.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_in = given
    stream.pointee.next_out = target
    stream.pointee.avail_out = taken
    let result = inflate(stream, Z_NO_FLUSH)
    rest = UnsafeRawBufferPointer(rebasing: rest[Int(given - stream.pointee.avail_in)...])
    output.commit(Int(taken - stream.pointee.avail_out))
    return result
  }
}
