/// A record of the service itself, as a store has it: bytes under a kind and an id. All of them but the audit log are few, and
/// read whole when the service starts.
public struct StoredDocument: Sendable, Hashable {
  /// The kind of a document. The names are the store's.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case apiKey
    case webhookEndpoint
    /// Versions of named policies.
    case policy
    /// Bulk operations.
    case operation
    /// Statements about issues.
    case issue
    /// Whom to notify of what.
    case alert
    /// What alerts have reported.
    case notice
    /// What proves to targets who sends a request.
    case credential
    /// Access tokens that instances share.
    case accessToken
    /// What a target's own settings hide of its calls, for the instances that do not run them.
    case targetPrivacy
    /// Who did what. Their ids are in the order of time.
    case audit
    /// Keys that encrypt the other values, wrapped.
    case dataKey

    /// Whether documents of the kind have secrets, which are encrypted wherever a key can be had.
    public var isSecret: Bool {
      switch self {
      case .webhookEndpoint, .credential, .accessToken, .alert: true
      case .apiKey, .policy, .operation, .issue, .notice, .targetPrivacy, .audit, .dataKey: false
      }
    }

    /// Whether documents of the kind go into archives and to other stores. Of the others each store makes its own.
    public var travels: Bool { self != .dataKey && self != .targetPrivacy }

    /// Whether documents of the kind are encrypted in archives too, whoever has the key.
    public var isNeverPlain: Bool { self == .credential || self == .accessToken }
  }

  /// Whether it has a secret in it. An alert that leads to a webhook endpoint has none.
  public var hasSecrets: Bool {
    kind.isSecret && !(kind == .alert && Alert(document: content)?.channel == .endpoint)
  }

  public var kind: Kind
  /// Its id, unique among those of its kind.
  public var id: String
  public var content: [UInt8]

  /// Creates a document.
  public init(_ kind: Kind, id: String, _ content: [UInt8]) {
    self.kind = kind
    self.id = id
    self.content = content
  }
}
