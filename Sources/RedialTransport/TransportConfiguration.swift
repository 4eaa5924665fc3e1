public import RedialModel

/// How a transport behaves, and every bound it keeps.
public struct TransportConfiguration: Sendable {
  /// The `User-Agent` of requests that give none.
  public var userAgent: String
  /// How many connections without a request are kept open, over all targets; at least 1. Default 256.
  public var maxIdleConnections = 256
  /// How old a connection may be at its next use: servers close idle ones, and a request that crosses the close is
  /// lost. Default 30 s.
  public var maxConnectionAge = Duration.seconds(30)
  /// How long the way to the first byte of a request may take: name, connection, TLS. Default 10 s.
  public var connectTimeout = Duration.seconds(10)
  /// The most header bytes of a response, all lines together. Default 64 KiB.
  public var maxResponseHeaderBytes = 64 * 1024
  /// How much of a response's body is received at all. What is behind the capture limit is thrown away, so that the
  /// connection can serve again; behind this, the connection is closed and the response counts as it is. Default 1 MiB.
  public var maxResponseBytes = 1024 * 1024

  /// Which addresses may be dialled; nil for all.
  public var egress: EgressPolicy?

  /// The defaults.
  public init(userAgent: String) {
    self.userAgent = userAgent
  }
}
