public import RedialCore

/// A client's call, read and validated.
public struct CallDescriptor: Sendable {
  /// The request and how to retry it.
  public var spec: CallSpec
  /// The request body.
  public var body: [UInt8]
  /// When it starts.
  public var start: Start
  /// Identifies a repetition of the submission.
  public var key: IdempotencyKey?
  /// The identity of the call, if an instance has given it one to forward it to another.
  public var identity: GivenIdentity?
  /// The id of its client's API key, for the instance to which it is forwarded; nil without one.
  public var apiKey: String?
  /// The record of the request, for the commit of the call; nil for none. A call with one is not forwarded.
  public var audit: StoredDocument?

  public init(
    spec: CallSpec, body: [UInt8], start: Start, key: IdempotencyKey? = nil, identity: GivenIdentity? = nil,
    apiKey: String? = nil
  ) {
    self.spec = spec
    self.body = body
    self.start = start
    self.key = key
    self.identity = identity
    self.apiKey = apiKey
  }

  /// When a call starts.
  public enum Start: Sendable, Hashable {
    /// A duration after its acceptance.
    case after(Duration)
    /// At that time, or at once if it has passed.
    case at(Timestamp)

    /// How long it waits after its acceptance, whenever that is; zero for a start at a time.
    var delay: Duration {
      if case .after(let delay) = self { delay } else { .zero }
    }

    /// The time, for a call accepted at `now`.
    public func instant(acceptedAt now: Timestamp) -> Timestamp {
      switch self {
      case .after(let delay): now + delay
      case .at(let time): max(time, now)
      }
    }
  }

  /// Limits for clients.
  public struct Limits: Sendable, Hashable {
    /// The longest request body of a call, in bytes.
    public var bodyBytes: Int
    /// Maximum kept size of a response body, in bytes.
    public var captureBytes: Int
    /// Maximum time until the start.
    public var delay: Duration
    /// The latest time for the start; nil for any.
    public var latestStart: Timestamp?
    /// Where calls and webhooks may go, as far as the URL shows; nil for everywhere.
    public var egress: EgressPolicy?
    /// The policies that a client may name; nil for none.
    public var policies: NamedPolicies?
    /// Whether secrets can be stored, which needs a key to encrypt them with.
    public var mayHaveSecrets = true
    /// Whether there is a secret to sign the webhooks of callbacks with.
    public var mayHaveCallbacks = true
    /// The credentials that a client may name; nil if nobody knows them here.
    public var credentials: NamedCredentials?
    /// The namespace in which the client acts.
    public var namespace = Namespace.default

    /// What a repeated submission does if the call does not say.
    public var repetitionRule = RepetitionRule.rerun

    /// Whether the client may name a target other than the URL's origin.
    public var mayNameTargets = true

    /// The id of the client's API key; nil without one.
    public var apiKey: String?

    /// The number of Redial services that the submission has passed through.
    public var hops = 0
    /// Maximum value of ``hops``.
    public static let mostHops = 100

    /// The longest target that a client may name, in bytes. A target that comes from the URL may be longer.
    var targetBytes = 255

    /// Creates limits; those left out have Redial's defaults.
    public init(
      bodyBytes: Int = 1 << 20, captureBytes: Int = 1 << 20, delay: Duration = .seconds(366 * 86_400),
      egress: EgressPolicy? = nil, policies: NamedPolicies? = nil
    ) {
      self.bodyBytes = bodyBytes
      self.captureBytes = captureBytes
      self.delay = delay
      self.egress = egress
      self.policies = policies
    }

    /// Refuses a secret that cannot be stored.
    ///
    /// - Parameter what: What has it.
    public func requireKey(for what: String) throws(Problem) {
      if !mayHaveSecrets { throw .noEncryptionKey("\(what) was not stored: there is no key to encrypt it with.") }
    }

    /// Whether header fields may have values in ISO-8859-1, in the form in which they are stored. Clients send such fields,
    /// and have no form for them in JSON.
    public var mayHaveLatin1 = false

    /// Whether the call was accepted earlier: it may then have the members that only Redial writes.
    var isAccepted = false

    /// The limits for reading only a policy.
    static func naming(_ policies: NamedPolicies?, in namespace: Namespace) -> Limits {
      var limits = Limits.unlimited
      limits.isAccepted = false
      limits.policies = policies
      limits.namespace = namespace
      return limits
    }

    /// For calls that were accepted earlier, perhaps under other limits.
    static let unlimited: Limits = {
      var limits = Limits(bodyBytes: .max, captureBytes: .max, delay: .longest)
      limits.targetBytes = .max
      limits.isAccepted = true
      limits.mayHaveLatin1 = true
      return limits
    }()
  }

  /// How much of a response body is kept when the client does not say, in bytes.
  public static let defaultCaptureBytes = 64 * 1024
}

extension Problem {
  /// There is no key to encrypt a secret with.
  ///
  /// - Parameters:
  ///   - what: What was refused, and why.
  ///   - other: What else helps.
  public static func noEncryptionKey(_ what: String, or other: String = "") -> Problem {
    Problem(
      .noEncryptionKey,
      detail: "\(what) Set encryptionKeyFile (REDIAL_ENCRYPTION_KEY_FILE) to the same file for all instances\(other), "
        + "and start them again.")
  }

  /// The webhooks of callbacks cannot be signed.
  public static let noWebhookSecret = noEncryptionKey(
    "There is no secret that signs the webhooks of callbacks, and no key to encrypt one with.",
    or: ", or webhookSecret (REDIAL_WEBHOOK_SECRET) to the same secret")
}
