public import RedialCore
public import RedialModel

/// One attempt to make.
public struct TransportRequest: Sendable {
  /// The caller's name for it; of two that are under way the names differ.
  public var id: UInt64
  /// An absolute `http` or `https` URL.
  public var url: String
  /// The method: a token.
  public var method: String
  /// The header fields, in order. The transport adds `Host`, `Content-Length` and, unless given, `User-Agent`.
  public var headers: [HeaderField]
  /// The content, unless it comes from a source.
  public var body: [UInt8]
  /// Where the content comes from in the place of ``body``: it is read while it is sent. Only a ``Transport`` takes it.
  public var source: (any BodySource)?
  /// The most time for the whole attempt; at least 1 ms.
  public var timeout: Duration
  /// The most bytes of the response's body that are kept.
  public var captureLimit: Int
  /// How many redirects are followed; 0 for none. Each is a request of its own, with what is left of the time.
  public var maxRedirects: Int
  /// Names of header fields, in lower case, that a redirect to another origin takes away, beside those that are credentials by
  /// their names.
  public var secretHeaders: [String] = []

  /// What is set about TLS, for the origins that the attempt's requests go to; nil when nothing is.
  public var tls: CallTLS?

  /// Creates a request.
  public init(
    id: UInt64, url: String, method: String, headers: [HeaderField] = [], body: [UInt8] = [],
    source: (any BodySource)? = nil, timeout: Duration, captureLimit: Int, maxRedirects: Int = 0, tls: CallTLS? = nil
  ) {
    self.id = id
    self.url = url
    self.method = method
    self.headers = headers
    self.body = body
    self.source = source
    self.timeout = timeout
    self.captureLimit = captureLimit
    self.maxRedirects = maxRedirects
    self.tls = tls
  }
}

/// The result of an attempt.
public struct TransportResult: Sendable {
  /// The request's name.
  public var id: UInt64
  /// How far it got.
  public var outcome: OutcomeClass
  /// The status, when answered.
  public var status: Int?
  /// What went wrong, unless answered.
  public var error: TransportError?
  /// The response's header lines, when answered.
  public var head = HeaderBlock()
  /// The first bytes of the response's body, when answered.
  public var body: [UInt8] = []
  /// Whether the body was longer than what was kept.
  public var truncated = false
  /// What it took and how it was made; nil when nothing was begun.
  public var figures: ExchangeFigures?
  /// How long it took.
  public var duration: Duration
}

/// What went wrong with an attempt that got no answer.
public struct TransportError: Error, Sendable, Hashable {
  /// A stable word in camelCase, such as `connectionRefused`.
  public var code: String
  /// A sentence for people.
  public var message: String
}

/// Why a transport cannot be made.
public struct TransportStartError: Error, Sendable, Hashable {
  /// What failed, and what to do.
  public var message: String
}
