/// An answer whose content is written in pieces, from any thread. The pieces of one thread stay in order. Created by
/// ``HTTPResponder/stream(_:onEvent:)``.
///
/// The content is sent chunked over HTTP/1.1, and until the connection's end over HTTP/1.0. It is never compressed. A
/// stream must be ended. A stream that is silent for long should write something, such as a comment of server-sent
/// events, because a client that has vanished is noticed only when it does not acknowledge data.
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
  public func write(_ bytes: some Sequence<UInt8>) -> HTTPStreamWriteResult {
    let (result, mustSignal) = backlog.write(bytes)
    if mustSignal { loop.deliver(.flush(token)) }
    return result
  }

  /// Ends the content normally.
  public func end() { if backlog.end() { loop.deliver(.flush(token)) } }

  /// Ends the connection with a reset, so that the client does not take the received part for the whole.
  public func abort() { loop.deliver(.abort(token)) }
}

/// The result of writing to a stream.
public enum HTTPStreamWriteResult: Sendable {
  /// The bytes were accepted, and more may follow.
  case free
  /// The bytes were accepted, and ``HTTPServerConfiguration/maxOutputBacklogBytes`` is reached: more may follow after
  /// ``HTTPStreamEvent/writable``.
  case full
  /// The bytes were not accepted: the stream was full before.
  case refused
  /// The bytes were not accepted: the stream has ended.
  case closed
}

/// An event for the writer of a stream, on the event loop. The writer must not block there.
public enum HTTPStreamEvent: Sendable, Equatable {
  /// After ``HTTPStreamWriteResult/full`` the stream accepts bytes again.
  case writable
  /// The client has ended its side of the connection. Most such clients have left; the others can still read.
  case clientEnded
  /// The server ends within that time: end the stream, or it is cut off then.
  case draining(within: Duration)
  /// The connection has gone, or the request needs no content; no more bytes are accepted. This is the last event; a
  /// stream that was ended normally may not get it.
  case closed
}
