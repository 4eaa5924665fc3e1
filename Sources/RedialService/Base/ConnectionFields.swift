/// Header fields that end at whoever receives a message.
enum ConnectionFields {
  /// The names, in lower case: fields of the connection (RFC 9110 §7.6.1), of the message's framing, and those by which a
  /// client addresses its receiver.
  static let names: Set<String> = [
    "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization", "proxy-connection", "te",
    "trailer", "transfer-encoding", "upgrade",
  ]
}
