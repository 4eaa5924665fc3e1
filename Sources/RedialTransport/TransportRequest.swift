package import RedialModel

/// One attempt to make.
package struct TransportRequest: Sendable {
  /// The caller's id for it; two requests in flight have different ids.
  package var id: UInt64
  /// An absolute `http` or `https` URL.
  package var url: String
  /// The method: a token.
  package var method: String
  /// The header fields, in order. The transport adds `Host`, `Content-Length` and, unless given, `User-Agent`.
  package var headers: [HeaderField]
  /// The body, unless it comes from a source.
  package var body: [UInt8]
  /// The source of the body, in place of ``body``: it is read while it is sent. Only a ``Transport`` accepts it.
  package var source: (any BodySource)?
  /// Maximum time for the whole attempt; at least 1 ms.
  package var timeout: Duration
  /// Maximum bytes of the response's body to keep.
  package var captureLimit: Int
  /// Maximum number of redirects to follow; 0 for none. Each is a request of its own, within the rest of the time.
  package var maxRedirects: Int
  /// Names of header fields, in lower case, that are removed when a redirect leads to another origin, besides those
  /// whose names mean a credential.
  package var secretHeaders: [String] = []

  /// Requests of different groups share no connection, if libcurl is so old that an answer could reach the wrong one.
  package var group = 0

  /// TLS settings for the origins of the attempt's requests; nil if there are none.
  package var tls: CallTLS?

  /// Creates a request.
  package init(
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

/// Why a transport cannot be made.
package struct TransportStartError: Error, Sendable, Hashable {
  /// What failed, and what to do.
  package var message: String
}
