/// Why this server refuses the bytes of a peer: the status of the answer, and a sentence for its reader. The connection
/// is then closed, because the start of the next request is unknown, except if only the content coding of a complete
/// request is wrong.
struct ProtocolError: Error, Equatable {
  let status: Int
  let reason: String

  static func badRequest(_ reason: String) -> ProtocolError { ProtocolError(status: 400, reason: reason) }
  static let bodyTooLarge = ProtocolError(
    status: 413, reason: "The body is larger than this server accepts. Send less.")
  static let targetTooLong = ProtocolError(status: 414, reason: "The path and the query are too long. Shorten them.")
  static let fieldsTooLarge = ProtocolError(
    status: 431, reason: "The header or trailer section is too large. Send fewer or shorter fields.")
  static let inflatesTooMuch = ProtocolError(
    status: 413,
    reason: "The body is compressed more than this server accepts; it could exhaust memory. Send it uncompressed.")
  static let unsupportedCoding = ProtocolError(
    status: 415, reason: "Send the body uncompressed, or with the content coding gzip or deflate.")
  static let noMemory = ProtocolError(
    status: 503, reason: "Out of memory while decompressing the body. Send it uncompressed, or try again later.")
  static let tooManyConnections = ProtocolError(
    status: 503, reason: "Too many connections are open. Try again in a moment.")
  static let headTimeout = ProtocolError(
    status: 408, reason: "The header section did not arrive in time. Send the request again.")
  static let bodyTimeout = ProtocolError(
    status: 408, reason: "The body did not arrive in time. Send the request again.")
}
