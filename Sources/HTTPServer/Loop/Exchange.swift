/// State that only some requests need: those with a body or an answer in pieces, those whose handler wants to know when
/// the client leaves, and conditional ones. The others do not need its memory.
final class Exchange {
  /// The receiver of the body, until it has ended.
  var receiver: (any HTTPBodyReceiver)?
  /// The receiver has paused.
  var isPaused = false
  /// Called once when the client leaves.
  var onCancel: (@Sendable () -> Void)?
  /// The answer, once it has begun as one in pieces.
  var stream: StreamBacklog?
  /// Bytes of the stream that the loop took but the kernel may not have accepted.
  var inFlight = 0
  /// Whether the stream is sent chunked, or until the end of the connection.
  var isChunked = false
  /// Whether the connection may continue after the stream.
  var persists = false
  /// The conditions under which the client wants the answer.
  var preconditions: HTTPPreconditions?

  /// Notifies the handler that the client sends nothing more; most such clients have left.
  func clientEnded() {
    if let onCancel {
      self.onCancel = nil
      onCancel()
    }
    stream?.notify(.clientEnded)
  }

  /// Notifies the handler that the connection has gone.
  func close() {
    if let receiver {
      self.receiver = nil
      receiver.end(.gone)
    }
    if let onCancel {
      self.onCancel = nil
      onCancel()
    }
    stream?.close()
  }
}
