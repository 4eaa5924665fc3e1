internal import CZlib

/// Which payloads are kept, and how.
public struct PayloadRule: Sendable, Hashable {
  /// The smallest request body or captured response that is compressed, in bytes.
  public var compressMinBytes: Int
  /// The latest attempts of a call whose response bodies are kept: a call with a thousand attempts would keep a thousand
  /// otherwise. Status, header and decision are kept of all.
  public var keptResponses: Int

  /// The largest request body of a client's call that is read with the call, in bytes; a larger one is read in pieces, by
  /// ``StoredBodies``.
  public var streamBodiesAbove = Int.max

  /// Creates a rule; every argument left out has Redial's default: a page of the file, because smaller bodies share
  /// their page with others and would gain little; and twenty attempts.
  public init(compressMinBytes: Int = 4096, keptResponses: Int = 20) {
    self.compressMinBytes = compressMinBytes
    self.keptResponses = keptResponses
  }
}

/// How request bodies and captured responses are stored: as they are, or, if they are long and become smaller by it,
/// in the zlib format. Beside a compressed one stands the size that it inflates to.
enum PayloadCoding {
  /// Fast: at this level the writer spends about a third of the time that zlib's default level takes.
  private static let level: Int32 = 1
  /// The largest payload that is ever inflated, in bytes; a size beyond it is damage.
  private static let maximumSize: Int64 = 1 << 30

  /// The payload compressed; nil when it is short, or would not become smaller by an eighth.
  static func deflated(_ payload: [UInt8], threshold: Int) -> [UInt8]? {
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

  /// Whether a payload can be so large.
  static func isPossible(size: Int64) -> Bool { (1...maximumSize).contains(size) }

  /// A stored payload as it was given; nil when it is damaged.
  ///
  /// - Parameter size: What it inflates to; nil for one that is stored as it is.
  static func payload(_ stored: UnsafeBufferPointer<UInt8>, size: Int64?) -> [UInt8]? {
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
