/// What only some requests need beside their connection: those with a body or an answer in pieces, those whose handler
/// wants to know when the client goes, and conditional ones. The others do without its memory.
final class Exchange {
  /// Who gets the body, until it has ended.
  var receiver: (any HTTPBodyReceiver)?
  /// The receiver wants no more for now.
  var isPaused = false
  /// Told once when the client goes.
  var onCancel: (@Sendable () -> Void)?
  /// The answer, once it has begun to be one in pieces.
  var stream: StreamBacklog?
  /// Bytes of the stream that the loop took, and the kernel may not have.
  var inFlight = 0
  /// Whether the stream goes chunked, or until the end of the connection.
  var isChunked = false
  /// Whether the connection may go on after the stream.
  var persists = false
  /// Under which conditions the client wants the answer.
  var preconditions: HTTPPreconditions?

  /// Tells whoever waits that the client sends nothing more; mostly it has gone.
  func clientEnded() {
    if let onCancel {
      self.onCancel = nil
      onCancel()
    }
    stream?.notify(.clientEnded)
  }

  /// Tells whoever waits that the connection has gone.
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
