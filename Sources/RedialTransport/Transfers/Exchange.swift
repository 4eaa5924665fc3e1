internal import CLinux

/// What the current request of a handle and its response have to do with their connection.
struct Exchange {
  /// The connection; nil before the request is sent, and if it is not known.
  var connection: Connection?
  /// The length of the request's body.
  var contentSize = 0
  /// What had been sent over the connection before the request, within TLS, where it may not be read yet; nil if that is not
  /// known, or other requests are in flight.
  var before: redial_traffic?
  /// Whether libcurl has said that the connection is of no more use, and looks for another one.
  var hasLostConnection = false
  /// Whether what arrived was to something else than the request.
  var isForeign = false
  /// The request's stream in HTTP/2, if libcurl has said it.
  var stream: Int?
  /// Whether the target's certificate does not say whom it is for.
  var isUnnamed = false
  /// Whether the target requires HTTP/1.1 for the request (RFC 9113 §7).
  var needsHTTP1 = false
  /// Whether libcurl has shown that the target refused the stream.
  var wasRefused = false
}
