internal import CCrypto
package import RedialJSON
internal import RedialModel

/// The secret that signs webhooks, in the form of Standard Webhooks: `whsec_` and base 64.
package struct WebhookSecret: Sendable, Hashable {
  package let text: String
  private let key: [UInt8]

  private static let prefix = "whsec_"

  /// Reads a secret; nil unless it is `whsec_` and the base 64 of 24 to 64 bytes.
  package init?(_ text: String) {
    guard case .hmac(let key)? = StandardSecret(text) else { return nil }
    self.text = text
    self.key = key
  }

  /// Makes a secret of 32 random bytes; nil if the system provides none.
  package static func random() -> WebhookSecret? {
    var key = [UInt8](repeating: 0, count: 32)
    guard RAND_bytes(&key, Int32(key.count)) == 1 else { return nil }
    return WebhookSecret(prefix + Base64.encode(key))
  }

  /// The value of `webhook-signature` for a message: `v1,` and the base 64 of HMAC-SHA256 over
  /// `id.timestamp.payload` (Standard Webhooks, "Signature scheme").
  package func signature(id: String, timestamp: Int64, payload: [UInt8]) -> String {
    var message = Array("\(id).\(timestamp).".utf8)
    message += payload
    return "v1," + Base64.encode(SHA256Digest.authentication(of: message, key))
  }

  /// The secret of a namespace, which signs the callbacks of its calls: this one in the default namespace, and in any
  /// other the HMAC-SHA256, with this one as the key, of a label and the namespace's name. A secret reveals no other,
  /// so that one namespace cannot forge a webhook of another.
  func derived(for namespace: Namespace) -> WebhookSecret {
    if namespace.isDefault { return self }
    return WebhookSecret(
      key: SHA256Digest.authentication(of: Array("redial webhook secret of namespace \(namespace.name)".utf8), key))
  }

  /// - Parameter key: 24 to 64 bytes; none for ``unset``, which is never stored and never signs.
  private init(key: [UInt8]) {
    text = Self.prefix + Base64.encode(key)
    self.key = key
  }
}

extension WebhookSecret: FieldValue {
  package static var unset: WebhookSecret { WebhookSecret(key: []) }
  package func save(to writer: inout JSONWriter) { writer.string(text) }
  package static func read(_ reader: inout JSONReader) throws(JSONError) -> WebhookSecret {
    let start = reader.offset
    guard let secret = WebhookSecret(try reader.string()) else {
      throw JSONError(offset: start, reason: "a secret was expected")
    }
    return secret
  }
}
