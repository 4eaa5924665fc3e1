package import RedialModel

/// What a sealed value is, and of what. It is authenticated with the value, so that one that was moved elsewhere does not open.
package enum SealedName: Sendable, Hashable {
  /// A part of a call.
  case call(CallID, Part)
  /// A part of an attempt of a call.
  case attempt(CallID, number: Int64, Part)
  case document(StoredDocument.Kind, id: String)
  case setting(String)
  case target(String)
  /// A line of an archive.
  case line
  /// A data key under the key that wraps it.
  case dataKey(UInt32, namespace: String)

  package enum Part: UInt8, Sendable, Hashable {
    case spec = 1
    case body, head, answer, failure
  }

  /// The largest name that is made without memory of its own, with the place of a chunk.
  private static let short = 32

  /// Calls a closure with the name's bytes and those of a chunk's place. No two names have the same.
  func withBytes<Result>(chunk: UInt32, isLast: Bool, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    func short(_ first: UInt8, _ id: Int64, _ number: Int64, _ part: Part) -> Result {
      withUnsafeTemporaryAllocation(byteCount: Self.short, alignment: 8) { bytes in
        bytes.storeBytes(of: id.bigEndian, toByteOffset: 0, as: Int64.self)
        bytes.storeBytes(of: number.bigEndian, toByteOffset: 8, as: Int64.self)
        bytes.storeBytes(of: chunk.bigEndian, toByteOffset: 16, as: UInt32.self)
        bytes[20] = isLast ? 1 : 0
        bytes[21] = part.rawValue
        bytes[22] = first
        return body(UnsafeRawBufferPointer(rebasing: bytes[..<23]))
      }
    }
    func long(_ first: UInt8, _ text: String) -> Result {
      var bytes = Array(text.utf8)
      withUnsafeBytes(of: chunk.bigEndian) { bytes += $0 }
      bytes += [isLast ? 1 : 0, first]
      return bytes.withUnsafeBytes { body($0) }
    }
    switch self {
    case .call(let id, let part): return short(1, id.rawValue, 0, part)
    case .attempt(let id, let number, let part): return short(2, id.rawValue, number, part)
    case .document(let kind, let id): return long(3, "\(kind.rawValue)\0\(id)")
    case .setting(let name): return long(4, name)
    case .target(let key): return long(5, key)
    case .line: return long(6, "")
    case .dataKey(let id, let namespace): return long(7, "\(id)\0\(namespace)")
    }
  }
}
