/// Shared by reading and writing JSON: checks sixteen bytes of a string at a time.
enum JSONText {
  /// The index of the first marked byte of sixteen; nil if none is marked.
  @inline(__always)
  static func first(in marks: SIMDMask<SIMD16<Int8>>) -> Int? {
    // Sound: a mask has the size of its vector, and each of its bytes is all ones or all zeros.
    let words = unsafeBitCast(marks, to: SIMD2<UInt64>.self)
    if words[0] | words[1] == 0 { return nil }
    let (low, high) = (UInt64(littleEndian: words[0]), UInt64(littleEndian: words[1]))
    return low != 0 ? low.trailingZeroBitCount / 8 : 8 + high.trailingZeroBitCount / 8
  }

  /// The index of the first of sixteen bytes that needs an escape in a string (RFC 8259 §7); nil if none does.
  @inline(__always)
  static func escape(in bytes: SIMD16<UInt8>) -> Int? {
    // In one expression, of vectors: with names for its parts, or operators with one number for all sixteen, the
    // compiler emits sixteen steps each, ten times as many instructions.
    first(
      in: (bytes .< SIMD16(repeating: 0x20))
        .| (bytes .== SIMD16(repeating: 0x22)) .| (bytes .== SIMD16(repeating: 0x5C)))
  }

  /// Copies the bytes of a string up to the first that needs an escape, and returns their number.
  ///
  /// - Parameter target: Memory for all of them.
  @inline(__always)
  static func copy(_ bytes: UnsafeBufferPointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) -> Int {
    // Sound: each piece is loaded from, and stored to, positions within the `count` bytes of either.
    let (source, target, count) = (UnsafeRawBufferPointer(bytes), UnsafeMutableRawPointer(target), bytes.count)
    var at = 0
    if count >= 16 {
      while true {
        let piece = source.loadUnaligned(fromByteOffset: at, as: SIMD16<UInt8>.self)
        target.storeBytes(of: piece, toByteOffset: at, as: SIMD16<UInt8>.self)
        if let place = escape(in: piece) { return at + place }
        at += 16
        if at == count { return count }
        // The last piece overlaps the one before, in which no byte needs an escape.
        if at + 16 > count { at = count - 16 }
      }
    }
    if count >= 8 {
      let (low, high) = (
        source.loadUnaligned(as: UInt64.self), source.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
      )
      if escape(in: unsafeBitCast(SIMD2(low, high), to: SIMD16<UInt8>.self)) == nil {
        target.storeBytes(of: low, as: UInt64.self)
        target.storeBytes(of: high, toByteOffset: count - 8, as: UInt64.self)
        return count
      }
    } else if count >= 4 {
      let (low, high) = (
        source.loadUnaligned(as: UInt32.self), source.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
      )
      if escape(in: unsafeBitCast(SIMD4(low, high, low, high), to: SIMD16<UInt8>.self)) == nil {
        target.storeBytes(of: low, as: UInt32.self)
        target.storeBytes(of: high, toByteOffset: count - 4, as: UInt32.self)
        return count
      }
    }
    while at < count, source[at] >= 0x20, source[at] != UInt8(ascii: "\""), source[at] != UInt8(ascii: "\\") {
      target.storeBytes(of: source[at], toByteOffset: at, as: UInt8.self)
      at += 1
    }
    return at
  }
}
