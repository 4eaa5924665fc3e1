internal import CCrypto
internal import RedialModel

/// The content that is signed, in parts, so that a body that only the store has need not be in memory.
protocol SignedContent {
  /// Gives the parts, in order. It may be called again.
  func forEachPart(_ body: (UnsafeRawBufferPointer) -> Void) throws(BodyUnreadable)
}

/// Nothing can be signed, because a body could not be read, or libcrypto has failed.
struct BodyUnreadable: Error, Hashable {
  var code = "signatureFailed"
  /// A sentence for people, without its full stop.
  var message: String
}

/// The body of a request, after a text that is signed with it.
struct SignedBody: SignedContent {
  let prefix: [UInt8]
  let body: RequestBytes

  init(_ prefix: String = "", _ body: RequestBytes) {
    (self.prefix, self.body) = (Array(prefix.utf8), body)
  }

  func forEachPart(_ use: (UnsafeRawBufferPointer) -> Void) throws(BodyUnreadable) {
    prefix.withUnsafeBytes(use)
    try body.forEachPart(use)
  }
}

/// A key that signs, of libcrypto.
///
/// Sound: libcrypto's object belongs to this one alone, which frees it at its end.
struct SignatureKey: ~Copyable {
  private let key: OpaquePointer
  /// The digest; nil for Ed25519, which has its own.
  private let digest: OpaquePointer?

  deinit { EVP_PKEY_free(key) }

  /// A key for HMAC-SHA256 (RFC 2104).
  init?(hmac bytes: [UInt8]) {
    guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_HMAC, nil, bytes, bytes.count) else { return nil }
    (self.key, digest) = (key, EVP_sha256())
  }

  /// A private key for Ed25519 (RFC 8032), of 32 bytes.
  init?(ed25519 bytes: [UInt8]) {
    guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, bytes, bytes.count) else { return nil }
    (self.key, digest) = (key, nil)
  }

  /// A private key in PEM, for RSA or ECDSA with SHA-256; nil unless it is one of that kind, without a pass phrase.
  init?(pem: String, for algorithm: AssertionAlgorithm) {
    let text = Array(pem.utf8)
    guard let input = BIO_new_mem_buf(text, Int32(text.count)) else { return nil }
    defer { BIO_free(input) }
    // Without a function that refuses, a key with a pass phrase would ask for it at the terminal.
    guard let key = PEM_read_bio_PrivateKey(input, nil, { _, _, _, _ in -1 }, nil) else {
      ERR_clear_error()
      return nil
    }
    let kind = algorithm == .rs256 ? EVP_PKEY_RSA : EVP_PKEY_EC
    guard EVP_PKEY_get_base_id(key) == kind, algorithm == .rs256 || EVP_PKEY_get_bits(key) == 256 else {
      EVP_PKEY_free(key)
      return nil
    }
    (self.key, digest) = (key, EVP_sha256())
  }

  /// The signature of some content; nil if libcrypto has no memory.
  ///
  /// Ed25519 signs in two passes over its content (RFC 8032 §5.1.6), so all of it is in memory then.
  func signature(of content: some SignedContent) throws(BodyUnreadable) -> [UInt8]? {
    guard let context = EVP_MD_CTX_new() else { return nil }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestSignInit(context, nil, digest, nil, key) == 1 else { return nil }
    var length = 0
    if digest == nil {
      var whole: [UInt8] = []
      try content.forEachPart { whole += $0 }
      guard EVP_DigestSign(context, nil, &length, whole, whole.count) == 1 else { return nil }
      var signature = [UInt8](repeating: 0, count: length)
      return EVP_DigestSign(context, &signature, &length, whole, whole.count) == 1
        ? Array(signature.prefix(length)) : nil
    }
    var isGood = true
    try content.forEachPart { isGood = EVP_DigestSignUpdate(context, $0.baseAddress, $0.count) == 1 && isGood }
    guard isGood, EVP_DigestSignFinal(context, nil, &length) == 1 else { return nil }
    var signature = [UInt8](repeating: 0, count: length)
    return EVP_DigestSignFinal(context, &signature, &length) == 1 ? Array(signature.prefix(length)) : nil
  }
}

extension SHA256Digest {
  /// The digest of some content; nil if libcrypto has no memory.
  static func of(_ content: some SignedContent) throws(BodyUnreadable) -> [UInt8]? {
    guard let context = EVP_MD_CTX_new() else { return nil }
    defer { EVP_MD_CTX_free(context) }
    var isGood = EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
    try content.forEachPart { isGood = EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 && isGood }
    var digest = [UInt8](repeating: 0, count: 32)
    return isGood && EVP_DigestFinal_ex(context, &digest, nil) == 1 ? digest : nil
  }
}
