public import RedialModel

/// How a transport behaves, and every bound it keeps.
public struct TransportConfiguration: Sendable {
  /// The `User-Agent` of requests that give none.
  public var userAgent: String
  /// How many connections without a request are kept open, over all targets; at least 1. Default 256.
  public var maxIdleConnections = 256
  /// How many connections one host and port may have, idle ones among them; what is beyond waits for one. Default 256.
  public var maxConnectionsPerTarget = 256
  /// How long a connection may have been idle at its next use: servers close idle ones, and a request that crosses the
  /// close is lost. Default 30 s.
  public var maxConnectionAge = Duration.seconds(30)
  /// How long the address of a name is remembered, in whole seconds. Default 60 s.
  public var nameCacheTime = Duration.seconds(60)
  /// How many names are looked up at a time, each on a thread of its own, which blocks as long as the system's resolver
  /// takes; what is beyond waits. See `LookupQueue` for how they are shared. With a proxy, which resolves names itself,
  /// the one name of the proxy is libcurl's to look up. Default 128.
  public var maxLookups = 128
  /// How long the way to the first byte of a request may take: name, connection, TLS. Default 10 s.
  public var connectTimeout = Duration.seconds(10)
  /// How long an IPv6 address is tried alone before an IPv4 address is tried as well (RFC 8305). Default 200 ms.
  public var happyEyeballsDelay = Duration.milliseconds(200)
  /// How long it may take from the start until a first byte of the response comes; nil for as long as the attempt may.
  public var firstByteTimeout: Duration?
  /// The least bytes a second, on average over ``lowSpeedTime``; 0 for no such bound, the default.
  public var lowSpeedLimit = 0
  /// How long a transfer may stay below ``lowSpeedLimit``, in whole seconds. Default 30 s.
  public var lowSpeedTime = Duration.seconds(30)
  /// The most header bytes of a response, all lines together. Default 64 KiB.
  public var maxResponseHeaderBytes = 64 * 1024
  /// How much of a response's body is received at all, after it was inflated. What is behind the capture limit is thrown
  /// away, so that the connection can serve again; behind this, the connection is closed and the response counts as it
  /// is. Default 1 MiB.
  public var maxResponseBytes = 1024 * 1024
  /// How many times larger than it came in a compressed response may become, beyond its first 64 KiB; then it is broken
  /// off like one that is too large. Default 100.
  public var maxInflationRatio = 100
  /// Which addresses may be dialled; nil for all.
  public var egress: EgressPolicy?
  /// The URL of a proxy that all requests go through; nil for none. The environment's are never used. With a proxy, the
  /// egress policy can judge what a URL says alone, since the proxy resolves its name.
  public var proxy: String?
  /// How servers prove who they are.
  public var tls = TLSSettings()

  /// The defaults.
  public init(userAgent: String) {
    self.userAgent = userAgent
  }
}
