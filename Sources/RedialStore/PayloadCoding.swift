internal import CZlib

/// Which payloads are stored, and how.
package struct PayloadRule: Sendable, Hashable {
  /// The smallest request body or captured response that is compressed, in bytes.
  package var compressMinBytes: Int
  /// For how many latest attempts of a call the response bodies are stored: otherwise a call with a thousand attempts
  /// would store a thousand. Status, header and decision are kept for all.
  package var keptResponses: Int

  /// The maximum size of a client's request body that is read with the call, in bytes; a larger one is read in pieces,
  /// by a ``BodyReader``.
  package var streamBodiesAbove = Int.max

  /// Creates a rule. The defaults are one page of the file, because smaller bodies share their page with others and
  /// would gain little, and twenty attempts.
  package init(compressMinBytes: Int = 4096, keptResponses: Int = 20) {
    self.compressMinBytes = compressMinBytes
    self.keptResponses = keptResponses
  }
}

/// How request bodies and captured responses are stored: unchanged, or, if they are long and become smaller, in the
/// zlib format, with their original size.
package enum PayloadCoding {
  /// A fast level: the writer spends about a third of the time that zlib's default level takes.
  private static let level: Int32 = 1
  /// The maximum size of an inflated payload, in bytes; a larger one is damage.
  private static let maximumSize: Int64 = 1 << 30

  /// The compressed payload; nil if it is short, or would not become smaller by an eighth.
  package static func deflated(_ payload: [UInt8], threshold: Int) -> [UInt8]? {
    guard !payload.isEmpty, payload.count >= threshold else { return nil }
    let room = payload.count - payload.count / 8
    let compressed = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      var written = uLongf(room)
      let result = payload.withUnsafeBufferPointer {
        compress2(buffer.baseAddress, &written, $0.baseAddress, uLong($0.count), level)
      }
      count = result == Z_OK ? Int(written) : 0
    }
    return compressed.isEmpty ? nil : compressed
  }

  /// Whether a payload can have that size.
  package static func isPossible(size: Int64) -> Bool { (1...maximumSize).contains(size) }

  /// The original of a stored payload; nil if it is damaged.
  ///
  /// - Parameter size: Its inflated size; nil for an uncompressed one.
  package static func payload(_ stored: UnsafeBufferPointer<UInt8>, size: Int64?) -> [UInt8]? {
    guard let size else { return Array(stored) }
    guard isPossible(size: size) else { return nil }
    let payload = [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
      var written = uLongf(size)
      let result = uncompress(buffer.baseAddress, &written, stored.baseAddress, uLong(stored.count))
      count = result == Z_OK ? Int(written) : 0
    }
    return payload.count == Int(size) ? payload : nil
  }
}
