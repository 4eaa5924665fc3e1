/// Receives the body of one request in pieces, on the event loop of its connection, never in two calls at a time.
///
/// After the request is answered completely, no further call comes; the rest of the body is dropped with the
/// connection.
public protocol HTTPBodyReceiver: AnyObject, Sendable {
  /// Takes the next bytes of the body, at least one. It must not block.
  ///
  /// - Parameter piece: Valid only during the call.
  /// - Returns: Whether more is wanted at once.
  func receive(_ piece: UnsafeRawBufferPointer) -> HTTPBodyDemand

  /// Hears, once, that no more comes. A whole body's request is then to be answered, if it was not.
  func end(_ end: HTTPBodyEnd)

  /// Whether an answer that has begun when the body is refused is left to the receiver, which must end it then; by
  /// default it is cut off with a reset. The connection ends with it in any case.
  var endsBegunAnswer: Bool { get }
}

extension HTTPBodyReceiver {
  /// No: what was sent of the answer must not be taken for the whole.
  public var endsBegunAnswer: Bool { false }
}

/// Whether more of a body is wanted.
public enum HTTPBodyDemand: Sendable {
  /// As soon as it comes.
  case more
  /// Not before ``HTTPResponder/resumeReceiving()``: the client waits meanwhile, and no time runs against it.
  case pause
}

/// How a body that was received in pieces has ended.
public enum HTTPBodyEnd: Sendable, Equatable {
  /// It is whole.
  case complete
  /// It is refused: damaged, too large or too slow. The client got an error, unless the answer had begun.
  case refused(status: Int, reason: String)
  /// The client has gone, or the server ends.
  case gone
}
