/// The limits for parsing a request; see ``HTTPServerConfiguration`` for each.
struct ParserLimits: Equatable {
  var maxHeaderBytes = 16 * 1024
  var maxHeaderCount = 100
  var maxTargetLength = 8192
  var maxBodyBytes = 1024 * 1024
  var maxStreamedBodyBytes = 1 << 40

  /// The longest method that is accepted. The longest registered one has 17 letters.
  static let maxMethodLength = 32

  /// Method, target, `HTTP/1.1`, two spaces and CRLF.
  var maxRequestLineBytes: Int { Self.maxMethodLength + maxTargetLength + 12 }

  /// The same with the limit of a streamed body in place of a whole one's.
  var ofStreams: ParserLimits {
    var limits = self
    limits.maxBodyBytes = maxStreamedBodyBytes
    return limits
  }
}
