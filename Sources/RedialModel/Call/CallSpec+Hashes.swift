internal import Synchronization

/// Hashes of parts of its URL.
extension CallSpec {
  /// The path without the last part, if that is an id. Whoever asks first computes it.
  public var pathHash: UInt64 {
    let known = knownPathHash.load(ordering: .relaxed)
    if known != 0 { return known }
    let hash = computedPathHash
    knownPathHash.store(hash, ordering: .relaxed)
    return hash
  }

  private var computedPathHash: UInt64 {
    // Up to the last slash, and with the part behind it.
    var (parent, path) = (FNV1a(), FNV1a())
    var slashes = 0
    var isID = false
    let bytes = url.utf8Span.span
    for index in bytes.indices {
      let byte = bytes[index]
      if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
      if byte == UInt8(ascii: "/") {
        slashes += 1
        if !isID { parent = path }
        parent.add(byte)
        path = parent
        isID = false
      } else if slashes > 2 {
        path.add(byte)
        isID = isID || (0x30...0x39).contains(byte)
      }
    }
    return isID ? parent.value : path.value
  }

  /// The scheme, host and port of its URL.
  public var originHash: UInt64 {
    var hash = FNV1a()
    var slashes = 0
    let bytes = url.utf8Span.span
    for index in bytes.indices {
      let byte = bytes[index]
      if byte == UInt8(ascii: "/") { slashes += 1 }
      if slashes == 3 || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
      hash.add(byte)
    }
    return hash.value
  }
}
