public import RedialCore
public import RedialJSON

/// What a client says of its call, and what Redial keeps with it: each field is declared once, here and by a line in
/// ``visit(_:_:_:)``, and what reads, checks, stores or shows it is a visitor over that.
public struct CallFields: Sendable {
  /// The absolute URL, http or https.
  public var url = ""
  /// Whether nobody may see its payloads, and they are erased when it ends.
  public var isSensitive = false
  /// The members of JSON bodies that nobody sees, neither in its request nor in answers.
  public var redact: [JSONPointer] = []
  /// The method, as given.
  public var method = ""
  /// The header fields, in the order given.
  public var headers: [HeaderField] = []
  /// How to retry.
  public var policy: AcceptedPolicy
  /// How long after its acceptance it starts; zero also for a start at a time that its client has named.
  public var delay = Duration.zero
  /// The target whose breaker and limits the call shares, with the call's namespace.
  public var target: TargetKey
  /// Whether the request may be repeated once it may have been executed: true unless the client says no.
  public var isIdempotent = true
  /// What a submission under its idempotency key does once it has failed or was cancelled.
  public var repetitionRule = RepetitionRule.rerun
  /// The stored credential that proves to the target who sends the call.
  public var credential: String?
  /// How each attempt is signed.
  public var signing: RequestSigning?
  /// What it is for, for people.
  public var description: String?
  /// The client's labels, in the order given.
  public var labels: [CallSpec.Label] = []
  /// Where to send a webhook about the end.
  public var callback: Callback?
  /// How much of responses is kept.
  public var capture: Capture
  /// How many redirects an attempt follows, ``CallSpec/redirectBounds``. With 0 a redirect is the response.
  public var maxRedirects = 0
  /// Calls of one target with the same ordering key run one at a time, in the order in which they were accepted.
  public var orderingKey: String?
  /// Its priority among the due calls of its target, ``CallSpec/priorities``; the highest goes first.
  public var priority = CallSpec.defaultPriority
  /// The stored policy of the call when it was accepted, such as `patient@3`, or ``CallSpec/defaultPolicyName``; nil for
  /// a policy that was given as an object.
  public var policyName: String?
  /// The call that this one replays, with or without changes.
  public var replayOf: CallID?
  /// When the call's payloads, and with them its header fields, were erased.
  public var contentErasedAt: Timestamp?
  /// How many services like this one it has passed through: 0 for a client's submission, one more for the submission by
  /// a call's attempt.
  public var hops = 0

  /// The least that a call is, everything else as by default.
  public init(target: TargetKey, policy: AcceptedPolicy, capture: Capture) {
    self.target = target
    self.policy = policy
    self.capture = capture
  }

  /// Shows each field to a visitor, in the order in which they are stored and documented.
  ///
  /// - Parameter submission: What only a submission has.
  static func visit<Visitor: CallFieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ call: inout CallFields, _ submission: inout SubmissionFields
  ) throws(Visitor.Failure) {
    // The first one is found without the others, see ``CallSpec/shownURL(inCanonicalJSON:)``.
    try visitor.field("url", URLMember(hidesQuery: call.isSensitive), &call.url, [.client, .shown])
    // The next one, so that it is found as cheaply.
    try visitor.field("sensitive", BoolMember(unless: false), &call.isSensitive, [.client, .shown])
    try visitor.field("redact", PointersMember(), &call.redact, [.client, .shown])
    try visitor.field("method", MethodMember(), &call.method, [.client, .shown])
    try visitor.field(
      "headers", HeadersMember(hidden: call.capture.redactedHeaders, hidesAll: call.isSensitive), &call.headers, .client
    )
    try visitor.field("body", TextBodyMember(), &submission.body, .given, oneOf: .body)
    try visitor.field("json", JSONBodyMember(), &submission.body, .given, oneOf: .body)
    try visitor.field("bodyBase64", Base64BodyMember(), &submission.body, .given, oneOf: .body)
    try visitor.field("policy", PolicyMember(), &call.policy, .client)
    // People see when it starts.
    try visitor.field("delay", DelayMember(), &call.delay, [.given, .stored], oneOf: .start)
    try visitor.field("startAt", StartTimeMember(), &submission.startAt, .given, oneOf: .start)
    try visitor.field("target", TargetMember(), &call.target, [.client, .shown])
    try visitor.field("idempotent", BoolMember(unless: true), &call.isIdempotent, .client)
    try visitor.field("onRepeat", WordMember(unless: RepetitionRule.rerun), &call.repetitionRule, .client)
    try visitor.field("credential", NameMember(), &call.credential, [.client, .shown])
    try visitor.field("sign", SigningMember(), &call.signing, .client)
    try visitor.field("description", TextMember(longest: 255), &call.description, [.client, .shown])
    try visitor.field("labels", LabelsMember(), &call.labels, [.client, .shown])
    try visitor.field("callback", CallbackMember(), &call.callback, .client)
    try visitor.field("redirects", RedirectsMember(), &call.maxRedirects, [.client, .shown])
    try visitor.field("orderingKey", NameMember(), &call.orderingKey, [.client, .shown])
    try visitor.field(
      "priority", NumberMember(CallSpec.priorities, unless: CallSpec.defaultPriority), &call.priority,
      [.client, .shown])
    try visitor.field("policyName", PolicyNameMember(), &call.policyName, [.stored, .previewed, .shown])
    try visitor.field("replayOf", CallIDMember(), &call.replayOf, [.stored, .previewed, .shown])
    try visitor.field("contentErasedAt", TimeMember(), &call.contentErasedAt, [.stored, .previewed, .shown])
    // People use the target's unqualified key.
    try visitor.field("namespace", NamespaceMember(), &call.target, .stored)
    try visitor.field("hops", NumberMember(0...CallDescriptor.Limits.mostHops, unless: 0), &call.hops, .stored)
    // The last one, which is always written: by its end a store knows that a spec is whole (`RemovedLabels`).
    try visitor.field("capture", CaptureMember(), &call.capture, .client)
  }
}

/// What a submission has besides the fields of its call.
struct SubmissionFields {
  var body = GivenBody()
  /// When the call starts, if its client names a time.
  var startAt: Timestamp?
}

/// A call's policy, which most calls have in common. It always says what an open breaker does: by default the call waits.
public final class AcceptedPolicy: Sendable {
  public let policy: RetryPolicy
  /// The policy as JSON, if it is available.
  let json: [UInt8]?

  /// Creates a policy without its JSON, which is then written when it is needed.
  public convenience init(_ policy: RetryPolicy) {
    self.init(policy, json: nil)
  }

  init(_ policy: RetryPolicy, json: [UInt8]?) {
    var policy = policy
    policy.onTrip = policy.onTrip ?? .wait
    self.policy = policy
    self.json = json
  }
}

/// How much is kept of the responses to a call's attempts.
public struct Capture: Sendable, Hashable {
  /// How much of a body is kept, in bytes.
  public var maxBytes: Int
  /// Header fields whose values are not stored, besides the service's, in lower case.
  public var redactedHeaders: [String]

  /// Creates a limit.
  public init(maxBytes: Int, redactedHeaders: [String] = []) {
    self.maxBytes = maxBytes
    self.redactedHeaders = redactedHeaders
  }
}
