public import Foundation

/// A call to submit: the request, and how to retry it.
///
/// ```swift
/// var call = OutgoingCall(chargesURL, method: "POST", body: .json(["amount": 100]))
/// call.headers["Idempotency-Key"] = "order-4711"   // the target's own
/// call.policy = CallPolicy(deadline: .seconds(3 * 86_400))
/// ```
public struct OutgoingCall: Sendable {
  /// The absolute URL, http or https, without credentials in it; at most 8192 bytes.
  public var url: URL
  /// The method, any but `CONNECT`; nil for `GET`, or `POST` with a body.
  public var method: String?
  /// Header fields. Those of the connection or the framing, such as `Connection`, are refused.
  public var headers: [String: String]
  /// The request body; nil for none.
  public var body: Body?
  /// How to retry; nil for the service's default.
  ///
  /// Durations are sent to the microsecond. A deadline, or a maximum of the backoff or for `Retry-After`, beyond 366
  /// days is sent as 366 days, and an `attemptTimeout` of `.longest` as an hour, which is the service's maximum.
  public var policy: CallPolicy?
  /// When it starts.
  public var start: Start
  /// The target, with which the call shares a circuit breaker and limits, 1 to 255 bytes; nil for the URL's origin.
  public var target: String?
  /// Whether the request may be repeated once it may have been executed. Default true, whatever the method: each
  /// attempt has the same `Idempotency-Key`.
  public var isIdempotent: Bool
  /// What a submission does under the idempotency key of this call once it has failed or was cancelled; nil for what the
  /// service is set to, by default ``OnRepeat/rerun``.
  public var onRepeat: OnRepeat?
  /// What it is for, shown to people with the call, 1 to 255 bytes; nil for nothing.
  public var description: String?
  /// Labels of the caller's own, up to 32, each up to 255 bytes.
  public var labels: [String: String]
  /// Where to send a webhook about the end.
  public var callback: Callback?
  /// How much of each response's body is captured, in bytes, 0...1048576; nil for 65536.
  public var captureBytes: Int?
  /// Orders calls: those of one target with the same key run one at a time, in the order in which they were accepted; 1
  /// to 255 bytes. A call that has failed lets the next one go. Nil for no order.
  public var orderingKey: String?
  /// Which due calls of a target start first, 0...9, the highest first; nil for 5. Every tenth to start is the one that
  /// has been due longest.
  public var priority: Int?
  /// How many redirects an attempt follows, 0...20; the one after them is its response. Nil for 0.
  public var maxRedirects: Int?
  /// Response header fields whose values the service does not keep, up to 100 names, besides those of its own settings.
  public var redactedHeaders: [String]
  /// Whether nobody may see its payloads, and they are erased when it ends; its answers are not kept at all.
  public var isSensitive: Bool
  /// JSON Pointers (RFC 6901), at most 20, to members of JSON bodies that nobody sees, such as `/card/number`.
  public var redact: [String]

  /// Creates a call; omitted arguments have the service's defaults.
  public init(
    _ url: URL, method: String? = nil, headers: [String: String] = [:], body: Body? = nil, policy: CallPolicy? = nil,
    start: Start = .now, target: String? = nil, isIdempotent: Bool = true, onRepeat: OnRepeat? = nil,
    description: String? = nil, labels: [String: String] = [:],
    callback: Callback? = nil, captureBytes: Int? = nil, orderingKey: String? = nil, priority: Int? = nil,
    maxRedirects: Int? = nil, redactedHeaders: [String] = [], isSensitive: Bool = false, redact: [String] = []
  ) {
    self.url = url
    self.method = method
    self.headers = headers
    self.body = body
    self.policy = policy
    self.start = start
    self.target = target
    self.isIdempotent = isIdempotent
    self.onRepeat = onRepeat
    self.description = description
    self.labels = labels
    self.callback = callback
    self.captureBytes = captureBytes
    self.orderingKey = orderingKey
    self.priority = priority
    self.maxRedirects = maxRedirects
    self.redactedHeaders = redactedHeaders
    self.isSensitive = isSensitive
    self.redact = redact
  }

  /// A request body.
  public enum Body: Sendable {
    /// Text, sent in UTF-8. The caller sets the content type.
    case text(String)
    /// A value encoded by `JSONEncoder` with its defaults and sorted keys; sent as `application/json` unless the
    /// headers say otherwise. For another encoding encode it and use ``data(_:)``.
    case json(any Encodable & Sendable)
    /// Bytes. The caller sets the content type.
    case data(Data)
  }

  /// What a submission does under the idempotency key of a call that has failed or was cancelled.
  public enum OnRepeat: String, Sendable, Hashable, CaseIterable {
    /// It runs the call again, unless that could execute what is not idempotent a second time.
    case rerun
    /// It is answered with the call as it is.
    case answer
  }

  /// When a call starts.
  public enum Start: Sendable, Hashable {
    /// At once.
    case now
    /// A duration after its acceptance, up to 366 days.
    case after(Duration)
    /// At that time, up to 366 days away, or at once if it has passed.
    case at(Date)
  }

  /// Where to send a webhook about a call's end.
  public struct Callback: Sendable, Hashable {
    /// An end of a call.
    public enum Event: String, Sendable, Hashable, CaseIterable {
      /// It succeeded.
      case succeeded = "call.succeeded"
      /// It failed, for any reason except an open breaker.
      case failed = "call.failed"
      /// It failed because its target's breaker was open and its policy says not to wait.
      case tripped = "call.tripped"
    }

    /// The URL of the webhook.
    public var url: URL
    /// The events that cause a webhook, at least one; all by default.
    public var events: Set<Event>

    /// Creates a callback.
    public init(_ url: URL, events: Set<Event> = Set(Event.allCases)) {
      self.url = url
      self.events = events
    }
  }
}
