internal import RedialCore
internal import RedialModel

/// Signs the content of a request, as webhooks are signed.
enum AttemptSignature {
  /// The fields with the signature.
  ///
  /// - Parameters:
  ///   - content: What signs.
  ///   - id: The id of the message, the same for all attempts.
  ///   - now: The time of the attempt: receivers refuse a signature that is minutes old.
  /// - Returns: Nil if libcrypto has no memory, or cannot use a secret.
  static func fields(
    _ content: CredentialContent, id: String, body: RequestBytes, at now: Timestamp
  ) throws(BodyUnreadable) -> [HeaderField]? {
    let seconds = now.microseconds / 1_000_000
    switch content.type {
    case .standardWebhooks:
      let signed = SignedBody("\(id).\(seconds).", body)
      guard let texts = try signatures(of: content, { secret throws(BodyUnreadable) in try standard(secret, signed) })
      else { return nil }
      return [
        HeaderField("webhook-id", id), HeaderField("webhook-timestamp", "\(seconds)"),
        HeaderField("webhook-signature", texts.joined(separator: " ")),
      ]
    case .github:
      guard let text = try hex(content[.secret], SignedBody("", body)) else { return nil }
      return [HeaderField("X-Hub-Signature-256", "sha256=" + text)]
    case .stripe:
      let signed = SignedBody("\(seconds).", body)
      guard let texts = try signatures(of: content, { secret throws(BodyUnreadable) in try hex(secret, signed) })
      else { return nil }
      return [HeaderField("Stripe-Signature", (["t=\(seconds)"] + texts.map { "v1=" + $0 }).joined(separator: ","))]
    case .slack:
      guard let text = try hex(content[.secret], SignedBody("v0:\(seconds):", body)) else { return nil }
      return [
        HeaderField("X-Slack-Request-Timestamp", "\(seconds)"), HeaderField("X-Slack-Signature", "v0=" + text),
      ]
    case .hmacSHA256:
      let signed = SignedBody("", body)
      let texts = try signatures(of: content) { secret throws(BodyUnreadable) in
        try hmac(secret, signed).map {
          content[.prefix] + (content.encoding == .hex ? Self.hex($0) : Base64.encode($0))
        }
      }
      return texts.map { [HeaderField(content[.header], $0.joined(separator: ","))] }
    case .bearer, .basic, .header, .query, .oauth2, .awsSigV4: return []
    }
  }

  /// The signatures by all secrets, the newest first.
  private static func signatures(
    of content: CredentialContent, _ sign: (String) throws(BodyUnreadable) -> String?
  ) throws(BodyUnreadable) -> [String]? {
    var texts: [String] = []
    for secret in content.secrets {
      guard let text = try sign(secret) else { return nil }
      texts.append(text)
    }
    return texts
  }

  private static func standard(_ secret: String, _ signed: SignedBody) throws(BodyUnreadable) -> String? {
    switch StandardSecret(secret) {
    case .hmac(let key):
      guard let key = SignatureKey(hmac: key) else { return nil }
      return try key.signature(of: signed).map { "v1," + Base64.encode($0) }
    case .ed25519(let key):
      guard let key = SignatureKey(ed25519: key) else { return nil }
      return try key.signature(of: signed).map { "v1a," + Base64.encode($0) }
    case nil: return nil
    }
  }

  private static func hmac(_ secret: String, _ signed: SignedBody) throws(BodyUnreadable) -> [UInt8]? {
    guard let key = SignatureKey(hmac: Array(secret.utf8)) else { return nil }
    return try key.signature(of: signed)
  }

  private static func hex(_ secret: String, _ signed: SignedBody) throws(BodyUnreadable) -> String? {
    try hmac(secret, signed).map(hex)
  }

  /// Bytes in base 16, in lower case.
  static func hex(_ bytes: [UInt8]) -> String {
    let digits: StaticString = "0123456789abcdef"
    return String(
      decoding: bytes.flatMap { [digits.utf8Start[Int($0 >> 4)], digits.utf8Start[Int($0 & 15)]] }, as: UTF8.self)
  }
}
