/// Receives the body of one request in pieces, on the event loop of its connection, never in two calls at a time.
///
/// After the complete answer no further call follows; the rest of the body is dropped with the connection.
public protocol HTTPBodyReceiver: AnyObject, Sendable {
  /// Receives the next bytes of the body, at least one. It must not block.
  ///
  /// - Parameter piece: Valid only during the call.
  /// - Returns: Whether the next piece is wanted at once.
  func receive(_ piece: UnsafeRawBufferPointer) -> HTTPBodyDemand

  /// Called once when the body has ended. After a complete body the request must be answered, if it was not.
  func end(_ end: HTTPBodyEnd)

  /// Whether the receiver ends an answer that has begun when the body is refused; by default the server cuts it off
  /// with a reset. The connection ends in both cases.
  var endsBegunAnswer: Bool { get }
}

extension HTTPBodyReceiver {
  /// False: the client must not take the incomplete answer for the whole.
  public var endsBegunAnswer: Bool { false }
}

/// Whether more of a body is wanted.
public enum HTTPBodyDemand: Sendable {
  /// As soon as it arrives.
  case more
  /// Not before ``HTTPResponder/resumeReceiving()``. The client waits meanwhile, and no timeout runs.
  case pause
}

/// How a body that was received in pieces ended.
public enum HTTPBodyEnd: Sendable, Equatable {
  case complete
  /// It was refused: damaged, too large or too slow. The client got an error, unless the answer had begun.
  case refused(status: Int, reason: String)
  /// The client has left, or the server ends.
  case gone
}
