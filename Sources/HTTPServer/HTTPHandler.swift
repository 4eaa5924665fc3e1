/// What answers requests.
public protocol HTTPHandler: Sendable {
  /// Takes one request, on an event loop; it must not block, for all connections of the loop wait meanwhile.
  ///
  /// - Parameters:
  ///   - request: The whole request. Its bytes are valid only during the call; what is kept must be copied.
  ///   - responder: The way to answer, now or later, from any thread. Each request must be answered or aborted, or its
  ///     connection stays open for ever.
  func handle(_ request: borrowing HTTPRequest, _ responder: HTTPResponder)
}
