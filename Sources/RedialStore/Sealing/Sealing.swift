/// Seals and opens values by a key that is known, see ``SealedForm``.
enum Sealing {
  /// The sealed form of a value.
  ///
  /// - Parameters:
  ///   - key: The number of the data key.
  ///   - nonce: That of the first chunk; the next ones have the nonces that follow, which nothing else may have.
  static func seal(_ plain: [UInt8], _ name: SealedName, key: UInt32, _ cipher: GCMKey, nonce: Nonce) -> [UInt8] {
    let chunks = SealedForm.chunks(of: plain.count)
    return [UInt8](unsafeUninitializedCapacity: SealedForm.size(of: plain.count)) { output, count in
      guard let base = output.baseAddress else { return }
      output[0] = SealedForm.marker
      for place in 0..<4 { output[1 + place] = UInt8(truncatingIfNeeded: key >> UInt32(24 - 8 * place)) }
      count = SealedForm.headBytes
      plain.withUnsafeBytes { plain in
        for chunk in 0..<chunks {
          let start = UnsafeMutableRawPointer(base + count)
          Nonce(prefix: nonce.prefix, count: nonce.count + UInt32(chunk)).store(to: start)
          let first = chunk * SealedForm.chunkBytes
          let part = UnsafeRawBufferPointer(rebasing: plain[first..<min(plain.count, first + SealedForm.chunkBytes)])
          name.withBytes(chunk: UInt32(chunk), isLast: chunk == chunks - 1) {
            cipher.seal(part, $0, nonce: start, into: start + GCMKey.nonceBytes)
          }
          count += SealedForm.chunkRoom + part.count
        }
      }
    }
  }

  /// The value; nil if it is not as it was sealed, or has another name.
  static func open(_ sealed: UnsafeBufferPointer<UInt8>, _ name: SealedName, _ cipher: GCMKey) -> [UInt8]? {
    guard let size = SealedForm.plainSize(of: sealed.count), sealed[0] == SealedForm.marker else { return nil }
    let chunks = SealedForm.chunks(of: size)
    var isIntact = true
    let plain = [UInt8](unsafeUninitializedCapacity: max(1, size)) { output, count in
      guard let base = output.baseAddress else { return }
      for chunk in 0..<chunks where isIntact {
        let range = SealedForm.range(ofChunk: chunk, in: sealed.count)
        isIntact = open(
          chunk: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: sealed[range])), chunk,
          isLast: chunk == chunks - 1,
          name, cipher, into: base + count)
        count += range.count - SealedForm.chunkRoom
      }
      if !isIntact { count = 0 }
    }
    return isIntact ? plain : nil
  }

  /// Opens one chunk.
  static func open(
    chunk sealed: UnsafeRawBufferPointer, _ place: Int, isLast: Bool, _ name: SealedName, _ cipher: GCMKey,
    into output: UnsafeMutablePointer<UInt8>
  ) -> Bool {
    guard sealed.count >= SealedForm.chunkRoom, let nonce = sealed.baseAddress else { return false }
    return name.withBytes(chunk: UInt32(place), isLast: isLast) {
      cipher.open(
        UnsafeRawBufferPointer(rebasing: sealed[GCMKey.nonceBytes...]), $0, nonce: nonce,
        into: UnsafeMutableRawPointer(output))
    }
  }
}
