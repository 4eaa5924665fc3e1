internal import CCurl
package import RedialModel

/// One exchange at a time, on the caller's thread: for command lines and tests.
package enum BlockingHTTPClient {
  /// Performs a request on a connection of its own.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - unixSocket: The path of a Unix domain socket to connect to, whatever the URL's host is.
  ///   - tls: How the server proves its identity.
  ///   - silence: If given, the request fails when no byte has arrived for about that time, in whole seconds.
  ///   - onPiece: If given, receives the body of a response with status 200 in pieces, as they arrive, and returns
  ///     whether to continue; the bytes are valid during its call.
  package static func perform(
    _ request: TransportRequest, unixSocket: String? = nil, tls: TLSSettings = TLSSettings(),
    silence: Duration? = nil, onPiece: ((UnsafeRawBufferPointer) -> Bool)? = nil
  ) -> AttemptResult {
    var configuration = TransportConfiguration(userAgent: "redial")
    configuration.maxResponseBytes = request.captureLimit
    configuration.tls = tls
    guard LibCurl.isUsable, let transfer = Transfer(configuration: configuration, sink: onPiece) else {
      return .outOfMemory
    }
    var fault = transfer.prepare(request)
    if fault == CURLE_OK, let unixSocket {
      fault = redial_curl_set_text(transfer.handle, CURLOPT_UNIX_SOCKET_PATH, unixSocket)
    }
    if fault == CURLE_OK, let silence {
      fault = redial_curl_set_long(transfer.handle, CURLOPT_LOW_SPEED_LIMIT, 1)
      if fault == CURLE_OK {
        fault = redial_curl_set_long(transfer.handle, CURLOPT_LOW_SPEED_TIME, Int(silence.components.seconds))
      }
    }
    return transfer.result(fault == CURLE_OK ? curl_easy_perform(transfer.handle) : fault)
  }
}
