public import RedialCore

/// A call as its client describes it, read and found good.
public struct CallDescriptor: Sendable {
  /// What the call is to do.
  public var spec: CallSpec
  /// The request body.
  public var body: [UInt8]
  /// When it is to start.
  public var start: Start
  /// By what a repetition of the submission is recognised.
  public var key: IdempotencyKey?

  /// When a call is to start.
  public enum Start: Sendable, Hashable {
    /// That long after it is accepted.
    case after(Duration)
    /// At that time, or at once if it has passed.
    case at(Timestamp)

    /// The instant, for a call accepted at `now`.
    public func instant(acceptedAt now: Timestamp) -> Timestamp {
      switch self {
      case .after(let delay): now + delay
      case .at(let time): max(time, now)
      }
    }
  }

  /// Bounds on what a client may ask for.
  public struct Limits: Sendable, Hashable {
    /// The longest request body of a call, in bytes.
    public var bodyBytes: Int
    /// The most that may be kept of a response body, in bytes.
    public var captureBytes: Int
    /// The furthest a start time may lie ahead.
    public var delay: Duration
    /// Where calls and webhooks may go, as far as a URL tells; nil for everywhere.
    public var egress: EgressPolicy?
    /// The policies that a client may name; nil for none.
    public var policies: NamedPolicies?
    /// The namespace that the client acts in.
    public var namespace = Namespace.default

    /// Whether the client may name a target other than the URL's origin.
    public var mayNameTargets = true

    /// Through how many services like this one the submission has come.
    public var hops = 0
    /// What ``hops`` can be at most.
    public static let mostHops = 100

    /// The longest target that a client may name, in bytes. One that follows from a URL may be longer.
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

    /// Whether what is read has been accepted before: it may then say what only Redial says.
    var isAccepted = false

    /// For what names policies and has no other bounds.
    static func naming(_ policies: NamedPolicies?, in namespace: Namespace) -> Limits {
      var limits = Limits.unlimited
      limits.policies = policies
      limits.namespace = namespace
      return limits
    }

    /// For what has been accepted before, perhaps under other limits.
    static let unlimited: Limits = {
      var limits = Limits(bodyBytes: .max, captureBytes: .max, delay: .longest)
      limits.targetBytes = .max
      limits.isAccepted = true
      return limits
    }()
  }

  /// How much of a response body is kept when the client does not say, in bytes.
  public static let defaultCaptureBytes = 64 * 1024

  /// Reads a descriptor.
  ///
  /// - Throws: A problem of status 400 for a text that is not JSON, 413 for a body that is too large, 422 for
  ///   everything else, which names each member at fault.
  public static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, limits: Limits = Limits()
  ) throws(Problem) -> CallDescriptor {
    try DescriptorReader.read(bytes, limits: limits)
  }
}
