import CZlib

/// Compresses answers with one zlib stream, which is reset between answers.
///
/// Sound: like ``ContentDecoder``, for `deflate`.
struct GzipEncoder: ~Copyable {
  private let level: Int32
  private let stream: UnsafeMutablePointer<z_stream>
  /// zlib's own memory, about 256 KiB, is allocated for the first answer.
  private var isReady = false

  /// - Parameter level: 1, the fastest, to 9, the smallest.
  init(level: Int) {
    self.level = Int32(level)
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
  }

  deinit {
    if isReady { deflateEnd(stream) }
    stream.deallocate()
  }

  /// Compresses a whole answer into `output`, which must be empty.
  ///
  /// - Parameter mustShrink: Whether a result that is not smaller than the content is discarded.
  /// - Returns: Whether `output` holds the compressed content.
  mutating func encode(_ content: [UInt8], mustShrink: Bool, into output: inout ByteBuffer) -> Bool {
    guard let count = UInt32(exactly: content.count), prepare() else { return false }
    let bound = mustShrink ? content.count - 1 : Int(deflateBound(stream, UInt(count)))
    guard bound > 0, let room = UInt32(exactly: bound) else { return false }
    stream.pointee.next_out = output.reserve(bound)
    stream.pointee.avail_out = room
    let result = content.withUnsafeBufferPointer { source in
      stream.pointee.next_in = source.baseAddress
      stream.pointee.avail_in = count
      return deflate(stream, Z_FINISH)
    }
    // Any other result means that it did not fit.
    guard result == Z_STREAM_END else { return false }
    output.commit(Int(room - stream.pointee.avail_out))
    return true
  }

  private mutating func prepare() -> Bool {
    let result = isReady ? deflateReset(stream) : redial_gzip_init(stream, level)
    isReady = isReady || result == Z_OK
    return result == Z_OK
  }
}
