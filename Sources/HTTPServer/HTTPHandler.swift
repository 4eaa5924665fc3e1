/// What answers requests.
public protocol HTTPHandler: Sendable {
  /// Takes one request, on an event loop; it must not block, for all connections of the loop wait meanwhile.
  ///
  /// - Parameters:
  ///   - request: The whole request. Its bytes are valid only during the call; what is kept must be copied.
  ///   - responder: The way to answer, now or later, from any thread. Each request must be answered or aborted, or its
  ///     connection stays open for ever.
  func handle(_ request: borrowing HTTPRequest, _ responder: HTTPResponder)

  /// Chooses, when the head of a request with a body has come, how the body is received: by default whole.
  ///
  /// On an event loop; it must not block. A request that is not to be served can be answered here already, before its
  /// body was sent: the connection is then closed.
  ///
  /// - Parameters:
  ///   - request: The request, with an empty ``HTTPRequest/body``. Valid only during the call.
  ///   - responder: The way to answer. It is of use if the request is answered here, or received in pieces.
  /// - Returns: Who gets the body in pieces, each as it came, chunked coding removed, a content coding not;
  ///   ``handle(_:_:)`` is not called then. Or nil, for the body to be collected within ``HTTPServerConfiguration/maxBodyBytes`` and
  ///   given to ``handle(_:_:)`` with the request.
  func receiver(for request: borrowing HTTPRequest, _ responder: HTTPResponder) -> (any HTTPBodyReceiver)?

  /// An event loop has handled everything that it woke for, and sleeps next: what ``handle(_:_:)`` has gathered on it can
  /// be handed on as one batch. Called after each of its turns, on the loop; by default nothing.
  func turnEnded()
}

extension HTTPHandler {
  /// Collects every body.
  public func receiver(
    for request: borrowing HTTPRequest, _ responder: HTTPResponder
  ) -> (any HTTPBodyReceiver)? { nil }

  /// Does nothing.
  public func turnEnded() {}
}
