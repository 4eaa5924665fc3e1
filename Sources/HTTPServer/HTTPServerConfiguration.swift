/// Where a server listens, and every bound it keeps.
public struct HTTPServerConfiguration: Sendable {
  /// Where to listen. Default: a free port of 127.0.0.1, see ``HTTPServer/port``.
  public var address: ListenAddress
  /// The mode of a Unix domain socket's file, 0…0o777, whatever the umask: who may write to it may connect. Default
  /// 0o600, the server's own user.
  public var socketPermissions = 0o600
  /// How many event loops, each with a thread of its own, and with a listener of its own for a TCP address; at least 1.
  /// Default 1.
  public var loops = 1
  /// How many connections at once, over all loops. At the bound one gives way to a new one: the oldest that has sent
  /// nothing since it came, or the one that has been idle longest. When there is none of these, see
  /// ``maxSurplusConnections``. Default 10,000.
  public var maxConnections = 10_000
  /// How many connections beyond ``maxConnections`` are taken, over all loops, so that somebody tells them: their first
  /// request is answered with 503, unless there is room by then. When still more come, the oldest of these that has sent no
  /// whole request is answered with 503 at once. With 0, new connections wait in the kernel's backlog. Default 64.
  public var maxSurplusConnections = 64
  /// The kernel's queue of connections not yet accepted. Default 1024 (the kernel caps it at net.core.somaxconn).
  public var backlog = 1024
  /// The longest header section in bytes, without the request line; beyond it 431. Default 16 KiB.
  public var maxHeaderBytes = 16 * 1024
  /// The largest number of field lines; beyond it 431. Default 100.
  public var maxHeaderCount = 100
  /// The longest request target in bytes; beyond it 414. Default 8192.
  public var maxTargetLength = 8192
  /// The largest body in bytes, after chunked coding is removed, and once more after a content coding is; beyond it 413,
  /// before the body is read if its length is announced. Default 1 MiB.
  public var maxBodyBytes = 1024 * 1024
  /// The largest body in bytes that is received in pieces (``HTTPHandler/receiver(for:_:)``), after chunked coding is
  /// removed; beyond it 413. Default 1 TiB.
  public var maxStreamedBodyBytes = 1 << 40
  /// How many bytes of requests that a client sends ahead are read while one of its requests is being answered; more has
  /// to wait in the kernel, and with it the client. At most 64 KiB. Default 4096.
  public var maxPipelinedBytes = 4096
  /// When this many bytes wait for a client, no more answers are made for it: pipelined requests wait, and the writer
  /// of a stream is asked to wait. One answer, or one piece of a stream, may exceed it. Default 64 KiB.
  public var maxOutputBacklogBytes = 64 * 1024
  /// How long a header section may take, from its first byte on; then 408. A new connection has as long to send its first
  /// byte; then it is closed silently.
  /// Default 10 s.
  public var headerTimeout = Duration.seconds(10)
  /// How long a whole body may take, from the end of its header section; then 408. Default 30 s.
  public var bodyTimeout = Duration.seconds(30)
  /// How long a body that is received in pieces may bring nothing while it is wanted; then 408. Default 30 s.
  public var bodyPieceTimeout = Duration.seconds(30)
  /// How long a connection may stay open between requests; then it is closed silently. Default 75 s.
  public var idleTimeout = Duration.seconds(75)
  /// How long a peer may leave an answer unread without taking a byte of it; then the connection is reset. Default 30 s.
  public var writeTimeout = Duration.seconds(30)
  /// How long a connection that the server closes is kept, so that the peer reads the last answer and not a reset
  /// (RFC 9112 section 9.6). Default 2 s.
  public var lingerTimeout = Duration.seconds(2)
  /// Header fields that every answer has, the server's own refusals among them. A field of the same name in an answer is
  /// sent beside it.
  public var commonHeaders: [HTTPHeader] = []
  /// How many requests a connection may carry; the last is answered with `Connection: close`. Default 1,000,000.
  public var maxRequestsPerConnection = 1_000_000

  /// Whether bodies that come in the content coding `gzip`, `x-gzip` or `deflate` (RFC 9110 section 8.4.1) are inflated
  /// before the handler gets them, without their `Content-Encoding`; another coding is then answered with 415, and a
  /// body that is damaged with 400. If not, the handler gets bodies and fields as they came. Default true.
  public var decodesContent = true
  /// How many times larger than it came a body may become by inflating; beyond it 413. ``maxBodyBytes`` bounds its size
  /// too. Default 100: text seldom shrinks to less than a tenth, and deflate can shrink to a thousandth.
  public var maxInflationRatio = 100
  /// Up to this size in bytes a body may inflate whatever its ratio. Default 64 KiB.
  public var inflationFloorBytes = 64 * 1024
  /// How hard answers are compressed for clients that accept gzip (RFC 9110 section 12.5.3), 1 (fast) to 9 (small); 0
  /// for not at all. Compressing is done on the event loop. An answer says `Cache-Control: no-transform` to be left as
  /// it is; so are those with a `Content-Encoding`, a `Content-Range` or a digest of their own. A strong `ETag` becomes
  /// a weak one with it. Default 1.
  public var gzipLevel = 1
  /// The smallest content in bytes that is worth compressing. Default 1024: what fits a packet anyway gains nothing.
  public var gzipMinBytes = 1024
  /// The largest content in bytes that is compressed, for the loop's other connections wait meanwhile. Default 4 MiB.
  public var gzipMaxBytes = 4 * 1024 * 1024

  /// The defaults, at an address.
  public init(address: ListenAddress) {
    self.address = address
  }

  /// The defaults, at a TCP port.
  public init(host: String = "127.0.0.1", port: Int = 0) {
    self.init(address: .tcp(host: host, port: port))
  }

  /// The bounds of one request, brought into the range in which the parser's sums cannot overflow: a head stays within
  /// the 32-bit offsets of its fields.
  var parserLimits: ParserLimits {
    ParserLimits(
      maxHeaderBytes: min(max(64, maxHeaderBytes), 1 << 30), maxHeaderCount: min(max(1, maxHeaderCount), 1 << 16),
      maxTargetLength: min(max(1, maxTargetLength), 1 << 30), maxBodyBytes: min(max(0, maxBodyBytes), 1 << 48),
      maxStreamedBodyBytes: min(max(0, maxStreamedBodyBytes), 1 << 48))
  }

  /// The bounds of inflating, brought into a range that makes sense.
  var contentLimits: ContentLimits {
    ContentLimits(
      maxBodyBytes: parserLimits.maxBodyBytes, maxInflationRatio: max(1, maxInflationRatio),
      inflationFloorBytes: max(0, inflationFloorBytes))
  }

  /// One loop's share of the connections, rounded up; slots are numbered in 32 bits.
  var maxConnectionsPerLoop: Int { min(max(1, share(of: maxConnections)), Int(Int32.max)) }

  /// One loop's share of the connections beyond the bound, rounded up.
  var maxSurplusConnectionsPerLoop: Int { min(max(0, share(of: maxSurplusConnections)), 1 << 16) }

  private func share(of total: Int) -> Int {
    let share = total.quotientAndRemainder(dividingBy: max(1, loops))
    return share.quotient + (share.remainder > 0 ? 1 : 0)
  }
}
