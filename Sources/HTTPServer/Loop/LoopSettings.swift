/// What an event loop takes from the server's configuration: one loop's share of each bound, limited to the range in
/// which the loop's own sums cannot overflow.
struct LoopSettings: Sendable {
  /// When the loop compresses answers.
  struct Compression: Sendable {
    /// 1 to 9; 0 for never.
    let level: Int
    /// The smallest content in bytes that is worth it.
    let minBytes: Int
    let maxBytes: Int

    /// Whether content of a size is compressed.
    ///
    /// - Parameter isRequired: Whether the client refuses it uncompressed, so that no content is too small.
    func covers(_ size: Int, isRequired: Bool) -> Bool {
      level > 0 && size <= maxBytes && (size >= minBytes || isRequired)
    }
  }

  let parserLimits: ParserLimits
  let contentLimits: ContentLimits
  let maxConnections: Int
  /// Connections beyond the limit, which will be refused.
  let maxSurplus: Int
  let maxRequestsPerConnection: Int
  let maxOutputBacklogBytes: Int
  /// How many bytes of further requests are read while one is answered; beyond this the peer has to wait.
  let readAheadBytes: Int
  let decodesContent: Bool
  let compression: Compression
  let commonHeaders: [HTTPHeader]
  /// The length of each kind of wait in milliseconds, in the order of the kinds.
  let waits: [UInt64]

  init(_ configuration: HTTPServerConfiguration) {
    parserLimits = configuration.parserLimits
    contentLimits = configuration.contentLimits
    maxConnections = configuration.maxConnectionsPerLoop
    maxSurplus = configuration.maxSurplusConnectionsPerLoop
    maxRequestsPerConnection = max(1, configuration.maxRequestsPerConnection)
    maxOutputBacklogBytes = min(max(1, configuration.maxOutputBacklogBytes), 1 << 48)
    readAheadBytes = min(max(1, configuration.maxPipelinedBytes), RequestInput.scratchBytes)
    decodesContent = configuration.decodesContent
    compression = Compression(
      level: min(max(0, configuration.gzipLevel), 9), minBytes: configuration.gzipMinBytes,
      maxBytes: configuration.gzipMaxBytes)
    commonHeaders = configuration.commonHeaders
    waits = DeadlineKind.allCases.map { Self.milliseconds(Self.wait($0, configuration)) }
  }

  private static func wait(_ kind: DeadlineKind, _ configuration: HTTPServerConfiguration) -> Duration {
    switch kind {
    case .idle: configuration.idleTimeout
    // A new connection has as much time to send its first byte as it then has for its header section.
    case .header, .first, .surplus: configuration.headerTimeout
    case .body: configuration.bodyTimeout
    case .piece: configuration.bodyPieceTimeout
    case .write: configuration.writeTimeout
    case .linger, .surplusLinger: configuration.lingerTimeout
    }
  }

  /// A duration as the loop counts it: at least 1 ms, rounded up.
  static func milliseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return 1 }
    let whole = UInt64(clamping: min(seconds, 1 << 40)) * 1000
    return max(1, whole + UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
  }
}
