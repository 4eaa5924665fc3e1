/// An answer whose content is written in pieces, from any thread: what one thread wrote goes before what another writes
/// after it. Made by ``HTTPResponder/stream(_:onEvent:)``.
///
/// The content goes chunked to HTTP/1.1, and until the connection's end to HTTP/1.0. It is never compressed. A stream
/// has to be ended; one that says nothing for long should write something, a comment of server-sent events for example,
/// for a client that has vanished is noticed by what it does not acknowledge.
public struct HTTPResponseStream: Sendable {
  private let loop: EventLoop
  private let token: RequestToken
  private let backlog: StreamBacklog

  init(loop: EventLoop, token: RequestToken, backlog: StreamBacklog) {
    self.loop = loop
    self.token = token
    self.backlog = backlog
  }

  /// Writes a piece of the content. It is sent as soon as the client reads; pieces may be joined.
  @discardableResult
  public func write(_ bytes: some Sequence<UInt8>) -> HTTPStreamRoom {
    let (room, mustSignal) = backlog.write(bytes)
    if mustSignal { loop.deliver(.flush(token)) }
    return room
  }

  /// Ends the content in order.
  public func end() { if backlog.end() { loop.deliver(.flush(token)) } }

  /// Ends the connection with a reset, so that the client cannot take what it has for the whole.
  public func abort() { loop.deliver(.abort(token)) }
}

/// What came of writing to a stream.
public enum HTTPStreamRoom: Sendable {
  /// The bytes were taken, and more may follow.
  case free
  /// The bytes were taken, and ``HTTPServerConfiguration/maxOutputBacklogBytes`` is reached: more may follow after
  /// ``HTTPStreamEvent/writable``.
  case full
  /// The bytes were not taken: the stream was full before.
  case refused
  /// The bytes were not taken: the stream has ended.
  case closed
}

/// What the writer of a stream is told, on the event loop, where it must not block.
public enum HTTPStreamEvent: Sendable, Equatable {
  /// After ``HTTPStreamRoom/full`` there is room again.
  case writable
  /// The client has ended its side of the connection. Most that do have gone; one that has not can still read.
  case clientEnded
  /// The server ends within that time: the stream should be ended, or is cut off then.
  case draining(within: Duration)
  /// The connection has gone, or what was asked needs no content; nothing is taken any more. The last event; a stream
  /// that was ended in order may go without.
  case closed
}
