/// Answers requests.
public protocol HTTPHandler: Sendable {
  /// Handles one request, on an event loop. It must not block, because all connections of the loop wait meanwhile.
  ///
  /// - Parameters:
  ///   - request: The whole request. Its bytes are valid only during the call; copy what you keep.
  ///   - responder: Answers the request, now or later, from any thread. Each request must be answered or aborted, or
  ///     its connection stays open forever.
  func handle(_ request: borrowing HTTPRequest, _ responder: HTTPResponder)

  /// Chooses how to receive a body when the head of its request has arrived: by default as a whole.
  ///
  /// Called on an event loop; it must not block. A request can be refused here, before its body was sent: the
  /// connection is then closed.
  ///
  /// - Parameters:
  ///   - request: The request, with an empty ``HTTPRequest/body``. Valid only during the call.
  ///   - responder: Answers the request. Use it if the request is answered here or received in pieces.
  /// - Returns: A receiver for the body in pieces, without chunked coding but with any content coding; ``handle(_:_:)``
  ///   is not called then. Or nil: the body is collected within ``HTTPServerConfiguration/maxBodyBytes`` and passed to
  ///   ``handle(_:_:)`` with the request.
  func receiver(for request: borrowing HTTPRequest, _ responder: HTTPResponder) -> (any HTTPBodyReceiver)?

  /// Whether the body of a request must reach ``handle(_:_:)`` as it was sent, with its `Content-Encoding` among the
  /// fields, although the server decodes bodies (``HTTPServerConfiguration/decodesContent``). By default none must.
  ///
  /// Called on an event loop; it must not block. Only requests with such a field are asked about, perhaps twice.
  ///
  /// - Parameter request: The request, with an empty ``HTTPRequest/body``. Valid only during the call.
  func wantsCodedContent(of request: borrowing HTTPRequest) -> Bool

  /// Called on an event loop after each of its iterations, before it sleeps: work that ``handle(_:_:)`` has collected
  /// can be passed on as one batch. By default does nothing.
  func turnEnded()
}

extension HTTPHandler {
  /// Collects every body.
  public func receiver(
    for request: borrowing HTTPRequest, _ responder: HTTPResponder
  ) -> (any HTTPBodyReceiver)? { nil }

  /// Has every body decoded.
  public func wantsCodedContent(of request: borrowing HTTPRequest) -> Bool { false }

  /// Does nothing.
  public func turnEnded() {}
}
