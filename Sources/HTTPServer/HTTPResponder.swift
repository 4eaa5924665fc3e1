/// The way to answer one request, now or later, from any thread. Small, and free to be copied; the first answer counts,
/// and answering a connection that has gone does nothing.
public struct HTTPResponder: Sendable {
  private let loop: EventLoop
  private let token: RequestToken
  /// What is done to every answer; nil for nothing, as nearly always. By reference, so that a responder stays small.
  private var additions: Additions?

  /// What is done to every answer.
  private final class Additions: Sendable {
    let fields: [HTTPHeader]
    let base: String

    init(fields: [HTTPHeader], base: String) { (self.fields, self.base) = (fields, base) }
  }

  init(loop: EventLoop, token: RequestToken) {
    self.loop = loop
    self.token = token
  }

  /// The same way to answer, which adds fields to whatever the answer is.
  public func adding(_ fields: [HTTPHeader]) -> HTTPResponder {
    guard !fields.isEmpty else { return self }
    var responder = self
    responder.additions = Additions(fields: (additions?.fields ?? []) + fields, base: additions?.base ?? "")
    return responder
  }

  /// The same way to answer, which puts `base` before the value of each `Location` and `Content-Location` that is a path.
  ///
  /// - Parameter base: A prefix of paths, such as `/below`, or with an origin before it, `https://example.com/below`. Without
  ///   a slash at its end.
  public func locating(below base: String) -> HTTPResponder {
    var responder = self
    responder.additions = Additions(fields: additions?.fields ?? [], base: base)
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
  public func respond(_ response: HTTPResponse) { loop.deliver(.answer(token, completed(response))) }

  /// Closes the connection with a reset (RST); nothing is sent. By a Unix domain socket, which knows no reset, the client
  /// sees the end of the connection.
  public func abort() { loop.deliver(.abort(token)) }

  /// Answers the request with content that is written later, in pieces.
  ///
  /// - Parameters:
  ///   - response: Its head, and the first part of its content.
  ///   - onEvent: Called, on the event loop, when there is room again, and when the client or the server goes. It
  ///     must not block. If the request was answered, its conditions do not hold, or its client has gone before, the
  ///     only event is ``HTTPStreamEvent/closed``. It may be called before this returns, and, after the server has
  ///     ended, on the caller's thread: hold no lock that it takes.
  public func stream(
    _ response: HTTPResponse, onEvent: @escaping @Sendable (HTTPStreamEvent) -> Void
  ) -> HTTPResponseStream {
    let backlog = StreamBacklog(first: response.body, limit: loop.maxOutputBacklogBytes, onEvent: onEvent)
    loop.deliver(.begin(token, completed(response), backlog))
    return HTTPResponseStream(loop: loop, token: token, backlog: backlog)
  }

  /// Has `body` called, at most once and on the event loop, where it must not block, when the client goes before it is
  /// answered: when its connection breaks, or when it ends its side of it. One that only ends its side can still be
  /// answered. Called at once if the request is not at hand any more; when the server has ended, on the caller's thread,
  /// so hold no lock that `body` takes. A later call takes the place of an earlier.
  public func onCancel(_ body: @escaping @Sendable () -> Void) { loop.deliver(.observe(token, body)) }

  /// Has the rest of a body come, after its receiver answered ``HTTPBodyDemand/pause``.
  public func resumeReceiving() { loop.deliver(.resume(token)) }

  /// Answers many requests: cheaper than one by one, for each loop is locked and woken once.
  public static func respond(_ batch: [(HTTPResponder, HTTPResponse)]) {
    guard let first = batch.first else { return }
    var loops = [first.0.loop]
    for (responder, _) in batch where !loops.contains(where: { $0 === responder.loop }) {
      loops.append(responder.loop)
    }
    for loop in loops {
      var messages: [Mailbox.Message] = []
      messages.reserveCapacity(batch.count)
      for (responder, response) in batch where responder.loop === loop {
        messages.append(.answer(responder.token, responder.completed(response)))
      }
      loop.deliver(contentsOf: messages)
    }
  }
}

/// One request of one connection of a loop. The serial is never used twice, so a token that has been answered, or whose
/// connection has gone, fits nothing.
struct RequestToken: Sendable, Equatable {
  let slot: Int32
  let serial: UInt64
}
