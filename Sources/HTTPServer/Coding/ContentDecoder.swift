import CZlib

/// Decodes the content coding of request bodies with one zlib stream, which is reset between bodies.
///
/// Sound: zlib's state points back at its `z_stream`, so the stream has an address of its own. Only this type, which
/// cannot be copied, reaches and frees it. zlib uses the pointers to input and output only during a call of `inflate`:
/// each call gets new ones.
struct ContentDecoder: ~Copyable {
  /// The gzip format with its header and checksum, and a window of 32 KiB (zlib.h, "inflateInit2").
  private static let gzipWindow: Int32 = 31
  /// The zlib format, with the same window.
  private static let zlibWindow: Int32 = 15
  /// How many bytes of output are reserved at a time.
  private static let stepBytes = 16 * 1024

  private let limits: ContentLimits
  private let stream: UnsafeMutablePointer<z_stream>
  /// zlib's own memory is allocated for the first coded body.
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

  /// Inflates a whole body into `output`, which must be empty. It never writes more than the limit and one byte.
  ///
  /// - Throws: 413 beyond the limit of the size or of the ratio; 400 for a body that is damaged, incomplete or followed
  ///   by other bytes; 415 for an unsupported coding. `output` must not be used then.
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
      // No progress although there is room: the input has ended before the coded data.
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

  /// Calls zlib once, and counts the bytes that it read and wrote.
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
