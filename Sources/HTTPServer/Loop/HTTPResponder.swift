/// Answers one request, now or later, from any thread. It is small and can be copied. Only the first answer counts, and
/// answering on a closed connection does nothing.
public struct HTTPResponder: Sendable {
  private let loop: EventLoop
  private let token: RequestToken
  /// Changes to every answer; nil for none, which is the usual case. By reference, so that a responder stays small.
  private var additions: Additions?

  /// Changes to every answer.
  private final class Additions: Sendable {
    let fields: [HTTPHeader]
    let base: String
    /// Gets the answer before it is sent.
    let gate: Gate?

    init(fields: [HTTPHeader], base: String, gate: Gate?) { (self.fields, self.base, self.gate) = (fields, base, gate) }
  }

  /// Gets an answer before it is sent, and sends it with the responder.
  public typealias Gate = @Sendable (HTTPResponse, HTTPResponder) -> Void

  init(loop: EventLoop, token: RequestToken) {
    self.loop = loop
    self.token = token
  }

  /// A responder for the same request that adds fields to every answer.
  public func adding(_ fields: [HTTPHeader]) -> HTTPResponder {
    guard !fields.isEmpty else { return self }
    var responder = self
    responder.additions = Additions(
      fields: (additions?.fields ?? []) + fields, base: additions?.base ?? "", gate: additions?.gate)
    return responder
  }

  /// A responder for the same request that puts `base` before the value of each `Location` and `Content-Location` that
  /// is a path.
  ///
  /// - Parameter base: A prefix of paths, such as `/below`, or an origin and a prefix, `https://example.com/below`.
  ///   Without a slash at its end.
  public func locating(below base: String) -> HTTPResponder {
    var responder = self
    responder.additions = Additions(fields: additions?.fields ?? [], base: base, gate: additions?.gate)
    return responder
  }

  /// A responder for the same request whose answer goes through a gate. A stream does not.
  public func passing(_ gate: @escaping Gate) -> HTTPResponder {
    var responder = self
    responder.additions = Additions(fields: additions?.fields ?? [], base: additions?.base ?? "", gate: gate)
    return responder
  }

  /// The responder without its gate.
  public var direct: HTTPResponder {
    guard let additions, additions.gate != nil else { return self }
    var responder = self
    responder.additions = Additions(fields: additions.fields, base: additions.base, gate: nil)
    return responder
  }

  private func completed(_ response: HTTPResponse) -> HTTPResponse {
    guard let additions else { return response }
    var response = response
    response.headers += additions.fields
    guard !additions.base.isEmpty else { return response }
    for index in response.headers.indices {
      let header = response.headers[index]
      guard header.isNamed("location") || header.isNamed("content-location"), header.value.hasPrefix("/"),
        !header.value.hasPrefix("//")
      else { continue }
      response.headers[index].value = additions.base + header.value
    }
    return response
  }

  /// Answers the request.
  public func respond(_ response: HTTPResponse) {
    if let gate = additions?.gate { return gate(response, direct) }
    loop.deliver(.answer(token, completed(response)))
  }

  /// Closes the connection with a reset (RST); nothing is sent. A Unix domain socket has no reset: its client sees the
  /// end of the connection.
  public func abort() { loop.deliver(.abort(token)) }

  /// Answers the request with content that is written later, in pieces.
  ///
  /// - Parameters:
  ///   - response: Its head, and the first part of its content.
  ///   - onEvent: Called, on the event loop, when the stream can be written again, and when the client leaves or the
  ///     server ends. It must not block. If the request was answered, its conditions do not hold, or its client has
  ///     left before, the only event is ``HTTPStreamEvent/closed``. It may be called before this function returns, and,
  ///     after the server has ended, on the caller's thread: hold no lock that it takes.
  public func stream(
    _ response: HTTPResponse, onEvent: @escaping @Sendable (HTTPStreamEvent) -> Void
  ) -> HTTPResponseStream {
    let backlog = StreamBacklog(first: response.body, limit: loop.settings.maxOutputBacklogBytes, onEvent: onEvent)
    loop.deliver(.begin(token, completed(response), backlog))
    return HTTPResponseStream(loop: loop, token: token, backlog: backlog)
  }

  /// Calls `body`, at most once, when the client leaves before it is answered: its connection breaks, or it ends its
  /// side. A client that only ends its side can still be answered. `body` runs on the event loop and must not block. It
  /// is called at once if the request is no longer current; when the server has ended, on the caller's thread, so hold
  /// no lock that `body` takes. A later call replaces an earlier one.
  public func onCancel(_ body: @escaping @Sendable () -> Void) { loop.deliver(.observe(token, body)) }

  /// Continues to receive a body after its receiver returned ``HTTPBodyDemand/pause``.
  public func resumeReceiving() { loop.deliver(.resume(token)) }

  /// Answers the request with a response that its event loop makes, so that the caller's thread need not.
  ///
  /// - Parameter response: Makes the response, on the event loop, unless the request is no longer current. It must not
  ///   block.
  public func respond(making response: @escaping @Sendable () -> HTTPResponse) {
    if additions?.gate != nil { return respond(response()) }
    loop.deliver(.run { loop.answer(token) { completed(response()) } })
  }

  /// Answers many requests with responses that their event loops make. This is cheaper than one by one, because each
  /// loop is locked and woken once.
  ///
  /// - Parameters:
  ///   - batch: The requests, each with the content of its answer.
  ///   - response: Makes the response from the content, on the event loop, unless the request is no longer current. It
  ///     must not block.
  public static func respond<Content: Sendable>(
    _ batch: [(HTTPResponder, Content)], making response: @escaping @Sendable (Content) -> HTTPResponse
  ) {
    guard let first = batch.first else { return }
    var loops = [first.0.loop]
    for (responder, _) in batch where !loops.contains(where: { $0 === responder.loop }) {
      loops.append(responder.loop)
    }
    for (responder, content) in batch where responder.additions?.gate != nil { responder.respond(response(content)) }
    for loop in loops {
      loop.deliver(
        .run {
          for (responder, content) in batch where responder.loop === loop && responder.additions?.gate == nil {
            loop.answer(responder.token) { responder.completed(response(content)) }
          }
        })
    }
  }

  /// Runs something on the request's event loop, unless the loop has ended. It must not block.
  public func onLoop(_ body: @escaping @Sendable () -> Void) { loop.deliver(.run(body)) }
}

/// One request of one connection of a loop. A serial is never used twice, so a token whose request was answered, or
/// whose connection has gone, matches nothing.
struct RequestToken: Sendable, Equatable {
  let slot: Int32
  let serial: UInt64
}
