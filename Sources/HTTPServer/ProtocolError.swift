/// Why the bytes of a peer are not a request that this server serves: the status to answer and a sentence for whoever
/// reads it. The connection is closed after each, for what follows on it can no longer be told apart; save where only
/// the content coding of a whole request is at fault.
struct ProtocolError: Error, Equatable {
  let status: Int
  let reason: String

  static func badRequest(_ reason: String) -> ProtocolError { ProtocolError(status: 400, reason: reason) }
  static let bodyTooLarge = ProtocolError(status: 413, reason: "The body is larger than this server accepts.")
  static let targetTooLong = ProtocolError(status: 414, reason: "The request target is too long.")
  static let fieldsTooLarge = ProtocolError(status: 431, reason: "The header or trailer section is too large.")
  static let inflatesTooMuch = ProtocolError(
    status: 413, reason: "The body is compressed more than this server accepts: it might be made to exhaust memory.")
  static let unsupportedCoding = ProtocolError(
    status: 415, reason: "The body has to come as it is, or in one of the content codings gzip and deflate.")
  static let noMemory = ProtocolError(status: 503, reason: "There is no memory to inflate the body.")
  static let tooManyConnections = ProtocolError(
    status: 503, reason: "There are as many connections as this server takes. Try again in a moment.")
  static let headTimeout = ProtocolError(status: 408, reason: "The header section did not arrive in time.")
  static let bodyTimeout = ProtocolError(status: 408, reason: "The body did not arrive in time.")
}
