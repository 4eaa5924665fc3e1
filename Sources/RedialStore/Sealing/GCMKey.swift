internal import CCrypto
internal import Synchronization

/// AES-256-GCM with one key (NIST SP 800-38D), by libcrypto. From any thread.
///
/// To expand a key costs more than to seal a kilobyte, so contexts that have it are kept, as many as threads ever used at once.
final class GCMKey: Sendable {
  static let keyBytes = 32
  static let nonceBytes = 12
  static let tagBytes = 16

  private let key: [UInt8]
  private let sealing: CipherContexts
  private let opening: CipherContexts

  /// - Parameter key: 32 bytes.
  init(_ key: [UInt8]) {
    precondition(key.count == Self.keyBytes)
    self.key = key
    sealing = CipherContexts(key, begin: EVP_EncryptInit_ex)
    opening = CipherContexts(key, begin: EVP_DecryptInit_ex)
  }

  /// The 32 bytes, to wrap them.
  var bytes: [UInt8] { key }

  /// Seals bytes.
  ///
  /// - Parameters:
  ///   - name: What is authenticated besides.
  ///   - nonce: 12 bytes, which no other seal with this key has.
  ///   - output: Room for as many bytes, and a tag behind them.
  func seal(
    _ plain: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer, nonce: UnsafeRawPointer,
    into output: UnsafeMutableRawPointer
  ) {
    let raw = sealing.take()
    defer { sealing.give(raw) }
    let output = output.assumingMemoryBound(to: UInt8.self)
    var length: Int32 = 0
    var isDone = EVP_EncryptInit_ex(raw, nil, nil, nil, nonce.assumingMemoryBound(to: UInt8.self)) == 1
    isDone = isDone && Self.isAll(name, { EVP_EncryptUpdate(raw, nil, &length, $0, $1) })
    isDone = isDone && Self.isAll(plain, { EVP_EncryptUpdate(raw, output, &length, $0, $1) })
    isDone = isDone && EVP_EncryptFinal_ex(raw, output + plain.count, &length) == 1
    isDone =
      isDone
      && EVP_CIPHER_CTX_ctrl(raw, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagBytes), output + plain.count) == 1
    // It can only fail when no memory is left. What is not sealed must not be stored.
    precondition(isDone, "libcrypto did not seal")
  }

  /// Opens bytes.
  ///
  /// - Parameters:
  ///   - sealed: The bytes, and a tag behind them.
  ///   - output: Room for the plain bytes. What it has after a failure must not be used.
  /// - Returns: Whether all is as it was sealed.
  func open(
    _ sealed: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer, nonce: UnsafeRawPointer,
    into output: UnsafeMutableRawPointer
  ) -> Bool {
    let count = sealed.count - Self.tagBytes
    guard count >= 0, let first = sealed.baseAddress else { return false }
    let raw = opening.take()
    defer { opening.give(raw) }
    let output = output.assumingMemoryBound(to: UInt8.self)
    var length: Int32 = 0
    // libcrypto takes a pointer that may be written to, and only reads from it.
    let tag = UnsafeMutableRawPointer(mutating: first + count)
    return EVP_DecryptInit_ex(raw, nil, nil, nil, nonce.assumingMemoryBound(to: UInt8.self)) == 1
      && Self.isAll(name, { EVP_DecryptUpdate(raw, nil, &length, $0, $1) })
      && Self.isAll(
        UnsafeRawBufferPointer(rebasing: sealed[..<count]), { EVP_DecryptUpdate(raw, output, &length, $0, $1) })
      && EVP_CIPHER_CTX_ctrl(raw, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagBytes), tag) == 1
      && EVP_DecryptFinal_ex(raw, output + count, &length) == 1
  }

  /// Whether a call of libcrypto takes all of some bytes. It is not called for none, which have no address.
  private static func isAll(
    _ bytes: UnsafeRawBufferPointer, _ update: (UnsafePointer<UInt8>, Int32) -> Int32
  ) -> Bool {
    guard let first = bytes.baseAddress, !bytes.isEmpty else { return true }
    return update(first.assumingMemoryBound(to: UInt8.self), Int32(bytes.count)) == 1
  }
}

/// Contexts of libcrypto that have a key.
private final class CipherContexts: Sendable {
  typealias Begin =
    @Sendable (
      OpaquePointer?, OpaquePointer?, OpaquePointer?, UnsafePointer<UInt8>?, UnsafePointer<UInt8>?
    ) -> Int32

  /// Contexts that no thread has now. Each is used by one thread at a time, because it is not here meanwhile.
  private struct Free: @unchecked Sendable {
    var contexts: [OpaquePointer] = []
  }

  private let free = Mutex(Free())
  private let key: [UInt8]
  private let begin: Begin

  init(_ key: [UInt8], begin: @escaping Begin) {
    (self.key, self.begin) = (key, begin)
  }

  deinit {
    for context in free.withLock({ $0.contexts }) { EVP_CIPHER_CTX_free(context) }
  }

  func take() -> OpaquePointer {
    if let context = free.withLock({ $0.contexts.popLast() }) { return context }
    guard let context = EVP_CIPHER_CTX_new() else { fatalError("out of memory") }
    precondition(begin(context, EVP_aes_256_gcm(), nil, key, nil) == 1, "libcrypto has no AES-256-GCM")
    return context
  }

  func give(_ context: OpaquePointer) {
    free.withLock { $0.contexts.append(context) }
  }
}

/// Random bytes from libcrypto.
enum SealingBytes {
  static func random(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    // A key that is not random protects nothing, so there is nothing to go on with.
    precondition(RAND_bytes(&bytes, Int32(count)) == 1, "the system gives no random bytes")
    return bytes
  }

  /// A name for a key that tells nothing of it: 64 bits of its digest.
  static func fingerprint(_ key: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    EVP_Digest(key, key.count, &digest, &length, EVP_sha256(), nil)
    return digest.prefix(8).map { byte in
      let text = String(byte, radix: 16)
      return text.count == 1 ? "0" + text : text
    }.joined()
  }
}
