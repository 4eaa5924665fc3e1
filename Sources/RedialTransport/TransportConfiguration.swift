package import RedialModel

/// The settings of a transport, with all its limits.
package struct TransportConfiguration: Sendable {
  /// The `User-Agent` of requests without one.
  package var userAgent: String
  /// How many connections without a request are kept open, over all targets; at least 1. Default 256.
  package var maxIdleConnections = 256
  /// The maximum idle time of a connection before its next use: servers close idle ones, and a request that is sent at
  /// the same time is lost. After the same time in which nothing is in flight, all connections are closed. Default 30 s.
  package var maxConnectionIdleTime = Duration.seconds(30)
  /// How long a connection takes further requests, less up to a fifth. Default 5 min.
  package var maxConnectionAge = Duration.seconds(300)
  /// How many requests a connection takes, less up to a fifth; at least 1. Default 1,000.
  package var maxConnectionUses = 1000
  /// How long the address of a name is cached, in whole seconds. Default 60 s.
  package var nameCacheTime = Duration.seconds(60)
  /// The maximum number of lookups at a time, each on a thread of its own, which blocks as long as the system's
  /// resolver takes; other names wait. See `LookupQueue` for how they are shared. With a proxy, which resolves names
  /// itself, only libcurl looks up the proxy's own name. Default 128.
  package var maxLookups = 128
  /// The maximum time until the first byte of a request can be sent: name, connection, TLS. Default 10 s.
  package var connectTimeout = Duration.seconds(10)
  /// How long an IPv6 address is tried alone before an IPv4 address is tried as well (RFC 8305). Default 200 ms.
  package var happyEyeballsDelay = Duration.milliseconds(200)
  /// The maximum header bytes of a response that are kept; further fields are dropped. Default 64 KiB.
  package var maxResponseHeaderBytes = 64 * 1024
  /// The maximum number of bytes of a response's body that are received, as they are sent. Bytes beyond the capture limit
  /// are dropped, so that the connection can be reused; beyond this limit, the connection is closed and the response counts
  /// as it is. Of a compressed body no more is decompressed than is captured. Default 1 MiB.
  package var maxResponseBytes = 1024 * 1024
  /// Which addresses may be dialled; nil for all.
  package var egress: EgressPolicy?
  /// The URL of a proxy for all requests; nil for none. The environment's are never used. With a proxy, the egress
  /// policy can check only the URL, because the proxy resolves its name.
  package var proxy: String?
  /// How servers prove their identity.
  package var tls = TLSSettings()

  /// The defaults.
  package init(userAgent: String) {
    self.userAgent = userAgent
  }
}
