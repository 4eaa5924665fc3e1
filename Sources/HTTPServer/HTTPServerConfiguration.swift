/// Where a server listens, and all its limits.
public struct HTTPServerConfiguration: Sendable {
  /// Where to listen. Default: a free port of 127.0.0.1, see ``HTTPServer/port``.
  public var address: ListenAddress
  /// The mode of a Unix domain socket's file, 0…0o777, whatever the umask: users who may write to it may connect.
  /// Default 0o600, the server's own user.
  public var socketPermissions = 0o600
  /// The number of event loops, each with its own thread, and with its own listener for a TCP address; at least 1.
  /// Default 1.
  public var loops = 1
  /// The maximum number of connections over all loops. At the limit one is closed for each new one: the oldest that has
  /// never sent anything, or the one that has been idle longest. If there is neither, see ``maxSurplusConnections``.
  /// Default 10,000.
  public var maxConnections = 10_000
  /// How many connections beyond ``maxConnections`` are accepted, over all loops, to refuse them properly: their first
  /// request is answered with 503, unless a slot is free by then. When still more arrive, the oldest of these that has
  /// sent no whole request is answered with 503 at once. With 0, new connections wait in the kernel's backlog. Default
  /// 64.
  public var maxSurplusConnections = 64
  /// The kernel's queue of connections not yet accepted. Default 1024 (the kernel caps it at net.core.somaxconn).
  public var backlog = 1024
  /// The longest header section in bytes, without the request line; beyond it 431. Default 16 KiB.
  public var maxHeaderBytes = 16 * 1024
  /// The largest number of field lines; beyond it 431. Default 100.
  public var maxHeaderCount = 100
  /// The longest request target in bytes; beyond it 414. Default 8192.
  public var maxTargetLength = 8192
  /// The largest body in bytes, after chunked coding is removed, and again after a content coding is removed; beyond it
  /// 413, before the body is read if its length is announced. Default 1 MiB.
  public var maxBodyBytes = 1024 * 1024
  /// The largest body in bytes that is received in pieces (``HTTPHandler/receiver(for:_:)``), after chunked coding is
  /// removed; beyond it 413. Default 1 TiB.
  public var maxStreamedBodyBytes = 1 << 40
  /// How many bytes of further requests are read while one of the client's requests is being answered; more bytes wait
  /// in the kernel. At most 64 KiB. Default 4096.
  public var maxPipelinedBytes = 4096
  /// When this many bytes of answers wait for a client, no more answers are made for it: pipelined requests wait, and
  /// the writer of a stream must wait. One answer, or one piece of a stream, may exceed it. Default 64 KiB.
  public var maxOutputBacklogBytes = 64 * 1024
  /// The maximum time for a header section, from its first byte on; then 408. A new connection has as long to send its
  /// first byte; then it is closed silently. Default 10 s.
  public var headerTimeout = Duration.seconds(10)
  /// The maximum time for a whole body, from the end of its header section; then 408. Default 30 s.
  public var bodyTimeout = Duration.seconds(30)
  /// How long no byte of a body may arrive that is received in pieces, while it is wanted; then 408. Default 30 s.
  public var bodyPieceTimeout = Duration.seconds(30)
  /// How long a connection may stay open between requests; then it is closed silently. Default 75 s.
  public var idleTimeout = Duration.seconds(75)
  /// How long a peer may take no byte of an answer; then the connection is reset. Default 30 s.
  public var writeTimeout = Duration.seconds(30)
  /// How long a connection that the server closes is kept, so that the peer reads the last answer and does not see a
  /// reset (RFC 9112 section 9.6). Default 2 s.
  public var lingerTimeout = Duration.seconds(2)
  /// Header fields of every answer, including the server's own refusals. A field of the same name in an answer is sent
  /// as well.
  public var commonHeaders: [HTTPHeader] = []
  /// The maximum number of requests on a connection; the last is answered with `Connection: close`. Default 1,000,000.
  public var maxRequestsPerConnection = 1_000_000

  /// Whether bodies with the content coding `gzip`, `x-gzip` or `deflate` (RFC 9110 section 8.4.1) are inflated before
  /// the handler gets them, without their `Content-Encoding`; another coding is then answered with 415, and a damaged
  /// body with 400. If not, the handler gets bodies and fields as received; so it does for requests of which
  /// ``HTTPHandler/wantsCodedContent(of:)`` says so. Default true.
  public var decodesContent = true
  /// The maximum ratio of a body's inflated size to its received size; beyond it 413. ``maxBodyBytes`` limits its size
  /// too. Default 100: text seldom shrinks to less than a tenth, and deflate can shrink to a thousandth.
  public var maxInflationRatio = 100
  /// Up to this size in bytes a body may have any ratio. Default 64 KiB.
  public var inflationFloorBytes = 64 * 1024
  /// The compression level of answers for clients that accept gzip (RFC 9110 section 12.5.3), 1 (fast) to 9 (small); 0
  /// for none. Answers are compressed on the event loop. `Cache-Control: no-transform` in an answer prevents it, as do
  /// a `Content-Encoding`, a `Content-Range` or a digest. A strong `ETag` becomes a weak one. Default 1.
  public var gzipLevel = 1
  /// The smallest content in bytes that is worth compressing. Default 1024: what fits a packet anyway gains nothing.
  public var gzipMinBytes = 1024
  /// The largest content in bytes that is compressed, because the loop's other connections wait meanwhile. Default 4
  /// MiB.
  public var gzipMaxBytes = 4 * 1024 * 1024

  /// The defaults, at an address.
  public init(address: ListenAddress) {
    self.address = address
  }

  /// The defaults, at a TCP port.
  public init(host: String = "127.0.0.1", port: Int = 0) {
    self.init(address: .tcp(host: host, port: port))
  }

  /// The limits of one request, limited to the range in which the parser's sums cannot overflow: a head stays within
  /// the 32-bit offsets of its fields.
  var parserLimits: ParserLimits {
    ParserLimits(
      maxHeaderBytes: min(max(64, maxHeaderBytes), 1 << 30), maxHeaderCount: min(max(1, maxHeaderCount), 1 << 16),
      maxTargetLength: min(max(1, maxTargetLength), 1 << 30), maxBodyBytes: min(max(0, maxBodyBytes), 1 << 48),
      maxStreamedBodyBytes: min(max(0, maxStreamedBodyBytes), 1 << 48))
  }

  /// The limits of inflating, limited to a range that makes sense.
  var contentLimits: ContentLimits {
    ContentLimits(
      maxBodyBytes: parserLimits.maxBodyBytes, maxInflationRatio: max(1, maxInflationRatio),
      inflationFloorBytes: max(0, inflationFloorBytes))
  }

  /// One loop's share of the connections, rounded up; slots are numbered in 32 bits.
  var maxConnectionsPerLoop: Int { min(max(1, share(of: maxConnections)), Int(Int32.max)) }

  /// One loop's share of the connections beyond the limit, rounded up.
  var maxSurplusConnectionsPerLoop: Int { min(max(0, share(of: maxSurplusConnections)), 1 << 16) }

  private func share(of total: Int) -> Int {
    let share = total.quotientAndRemainder(dividingBy: max(1, loops))
    return share.quotient + (share.remainder > 0 ? 1 : 0)
  }
}
