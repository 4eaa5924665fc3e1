/// How a request proves who sends it.
public enum CredentialType: String, Sendable, Hashable, CaseIterable {
  /// `Authorization: Bearer` (RFC 6750 §2.1).
  case bearer
  /// `Authorization: Basic` (RFC 7617).
  case basic
  /// A header field of the target's own.
  case header
  /// A parameter in the query of the URL.
  case query
  /// A token that a token endpoint gives for the client's credentials (RFC 6749 §4.4).
  case oauth2
  /// AWS Signature Version 4.
  case awsSigV4
  /// Standard Webhooks 1.0: HMAC-SHA256 (`v1`) or Ed25519 (`v1a`).
  case standardWebhooks
  /// HMAC-SHA256 of the body in `X-Hub-Signature-256`, as GitHub signs its webhooks.
  case github
  /// HMAC-SHA256 of time and body in `Stripe-Signature`, as Stripe signs its webhooks.
  case stripe
  /// HMAC-SHA256 of version, time and body in `X-Slack-Signature`, as Slack signs its requests.
  case slack
  /// HMAC-SHA256 of the body in a header field of the target's own.
  case hmacSHA256

  /// Whether it signs the content of a request, as `sign` says; the others prove who sends it, as `credential` says.
  public var signs: Bool {
    switch self {
    case .bearer, .basic, .header, .query, .oauth2, .awsSigV4: false
    case .standardWebhooks, .github, .stripe, .slack, .hmacSHA256: true
    }
  }

  /// What it consists of.
  public var parts: [CredentialPart] { needed + optional }

  /// The parts without which it cannot be used.
  var needed: [CredentialPart] {
    switch self {
    case .bearer: [.token]
    case .basic: [.username, .password]
    case .header: [.header, .value]
    case .query: [.parameter, .value]
    case .oauth2: [.tokenURL, .clientID]
    case .awsSigV4: [.accessKeyID, .secretAccessKey, .region, .service]
    case .standardWebhooks, .github, .stripe, .slack: [.secret]
    case .hmacSHA256: [.secret, .header]
    }
  }

  private var optional: [CredentialPart] {
    switch self {
    case .bearer, .basic, .header, .query, .github, .slack: []
    case .oauth2:
      [.clientSecret, .clientAuthentication, .privateKey, .keyID, .algorithm, .scope, .audience, .resource]
    case .awsSigV4: [.sessionToken]
    case .standardWebhooks, .stripe: [.previousSecret]
    case .hmacSHA256: [.previousSecret, .prefix, .encoding]
    }
  }

  /// The types for one of the two purposes, as people read them.
  static func words(signing: Bool) -> String {
    allCases.filter { $0.signs == signing }.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
  }
}

/// A part of a credential. All of them are texts.
public enum CredentialPart: String, Sendable, Hashable, CaseIterable {
  case token, username, password, header, value, parameter
  case tokenURL, clientID, clientSecret, clientAuthentication, privateKey, keyID, algorithm, scope, audience, resource
  case accessKeyID, secretAccessKey, sessionToken, region, service
  /// The secret that signs.
  case secret
  /// The secret from before a rotation, which signs beside the new one.
  case previousSecret
  /// What stands before a signature.
  case prefix
  case encoding

  /// Whether nobody sees it again once it is stored.
  public var isSecret: Bool {
    switch self {
    case .token, .password, .value, .clientSecret, .privateKey, .secretAccessKey, .sessionToken, .secret,
      .previousSecret:
      true
    default: false
    }
  }

  /// The longest one, in bytes.
  var longest: Int {
    switch self {
    case .privateKey: 16 * 1024
    case .token, .value, .tokenURL, .sessionToken: 8 * 1024
    case .header, .parameter, .algorithm, .clientAuthentication, .encoding, .prefix, .region, .service: 255
    default: 1024
    }
  }

  /// The words that it can be, the usual one first; nil for other texts.
  var words: [String]? {
    switch self {
    case .clientAuthentication: ClientAuthentication.allCases.map(\.rawValue)
    case .algorithm: AssertionAlgorithm.allCases.map(\.rawValue)
    case .encoding: SignatureEncoding.allCases.map(\.rawValue)
    default: nil
    }
  }

  /// What is wrong with a text in the credential of a type; nil for nothing.
  func fault(in text: String, of type: CredentialType) -> String? {
    if let words {
      return words.contains(text) ? nil : "must be \(words.map { "\"\($0)\"" }.joined(separator: " or "))"
    }
    guard !text.isEmpty, text.utf8.count <= longest else { return "must have 1 to \(longest) bytes" }
    switch self {
    case .header: return HeaderRules.fault(inName: text)
    case .privateKey:
      return text.hasPrefix("-----BEGIN ") ? nil : "must be a private key in PEM, which begins with -----BEGIN"
    case .username where text.contains(":"): return "must not have a colon in it (RFC 7617)"
    case .secret where type == .standardWebhooks, .previousSecret where type == .standardWebhooks:
      return StandardSecret(text) == nil ? StandardSecret.rule : nil
    default:
      // Most of them become a part of a header field.
      return PlainText.hasControls(text) ? "must not have control characters in it" : HeaderRules.fault(inValue: text)
    }
  }
}

/// How a client proves to a token endpoint who it is.
public enum ClientAuthentication: String, Sendable, CaseIterable {
  /// `client_secret_basic` (RFC 6749 §2.3.1).
  case basic
  /// `client_secret_post` (RFC 6749 §2.3.1).
  case post
  /// `private_key_jwt` (RFC 7523 §2.2).
  case privateKeyJWT
}

/// How a client signs its assertion (RFC 7518 §3.1).
public enum AssertionAlgorithm: String, Sendable, CaseIterable {
  /// RSASSA-PKCS1-v1_5 with SHA-256.
  case rs256 = "RS256"
  /// ECDSA on P-256 with SHA-256.
  case es256 = "ES256"
}

/// How the bytes of a signature are written.
public enum SignatureEncoding: String, Sendable, CaseIterable {
  /// Base 16 in lower case.
  case hex
  /// Base 64 (RFC 4648 §4).
  case base64
}

/// The key in a secret of Standard Webhooks: `whsec_` for HMAC-SHA256, `whsk_` for Ed25519.
public enum StandardSecret: Sendable, Hashable {
  /// 24 to 64 bytes.
  case hmac([UInt8])
  /// The 32 bytes of the private key (RFC 8032 §5.1.5).
  case ed25519([UInt8])

  static let rule =
    "must be whsec_ and the base 64 of 24 to 64 bytes, or whsk_ and the base 64 of the 32 bytes of an Ed25519 private key"

  /// Reads a secret; nil if it has another form.
  public init?(_ text: String) {
    func key(after prefix: String) -> [UInt8]? {
      text.hasPrefix(prefix) ? Base64.decode(String(text.dropFirst(prefix.count))) : nil
    }
    if let key = key(after: "whsec_"), (24...64).contains(key.count) {
      self = .hmac(key)
    } else if let key = key(after: "whsk_"), key.count == 32 || key.count == 64 {
      // With its public key behind it, as NaCl writes it.
      self = .ed25519(Array(key.prefix(32)))
    } else {
      return nil
    }
  }
}
