internal import RedialTransport

/// The body of an attempt's request, wherever it is.
enum RequestBytes {
  case held([UInt8])
  /// Only in the store: reading it blocks.
  case stored(any BodySource)

  /// The maximum number of bytes that are read at a time.
  private static let piece = 256 * 1024

  /// Gives the bytes in parts, in order, from the first one on.
  func forEachPart(_ use: (UnsafeRawBufferPointer) -> Void) throws(BodyUnreadable) {
    switch self {
    case .held(let bytes): bytes.withUnsafeBytes(use)
    case .stored(let source):
      source.rewind()
      var left = source.size
      while left > 0 {
        let part: [UInt8]
        do throws(BodyFault) {
          part = try source.next(atMost: min(left, Self.piece))
        } catch {
          throw BodyUnreadable(code: error.code, message: error.message)
        }
        guard !part.isEmpty else { throw BodyUnreadable(code: BodyFault.short.code, message: BodyFault.short.message) }
        part.withUnsafeBytes(use)
        left -= part.count
      }
    }
  }
}
