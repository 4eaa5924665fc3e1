internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One request and its answer.
final class Exchange: Sendable {
  /// Where the content of a success is stored. That of an error goes to memory.
  enum Sink: Sendable {
    case data
    case file
    case stream
  }

  /// Which connection is used.
  enum Connection: Sendable {
    /// An open one, if there is any. If it turns out to be closed, Foundation on Linux sends the request again by
    /// itself, on another.
    case pooled
    /// Its own connection, on which the request is sent once.
    case own
  }

  private typealias Waiter = CheckedContinuation<HTTPAnswer, any Error>

  private enum Stage {
    /// Leads to `waiting`, or to `ended` when it is cancelled at once.
    case idle
    /// No head has arrived. Leads to `collecting`, `writing`, `streaming` or `ended`.
    case waiting(Waiter)
    /// The content is kept, up to a limit. Leads to `ended`.
    case collecting(Waiter, URLResponse, Data, limit: Int)
    /// The content goes to a file. Leads to `ended`.
    case writing(Waiter, URLResponse, ContentFile)
    /// The head was delivered, and the content follows it. Leads to `ended`.
    case streaming(AsyncThrowingStream<Data, any Error>.Continuation)
    /// Later events change nothing. The error is for a caller that has not begun to wait.
    case ended((any Error)?)
  }

  /// The caller's delegate; without one for the call, the session's.
  let delegate: (any URLSessionTaskDelegate)?
  private let session: URLSession
  private let options: URLRetryOptions
  private let sink: Sink
  private let unread: UnreadBytes
  private let activity: Activity
  private let stage = Guarded(Stage.idle)

  init(_ options: URLRetryOptions, _ session: URLSession, _ sink: Sink, _ activity: Activity) {
    self.options = options
    self.session = session
    self.sink = sink
    self.activity = activity
    delegate = options.delegate ?? session.delegate as? any URLSessionTaskDelegate
    unread = UnreadBytes(limit: options.maxUnreadBytes)
  }

  /// Sends the request, once, and waits for the answer: all of it, or only its head when its content is streamed.
  func run(_ request: URLRequest, _ body: HTTPCallRun.Body, connection: Connection) async throws -> HTTPAnswer {
    let companion =
      connection == .pooled ? CompanionSession.shared(with: session) : CompanionSession(of: session)
    let task: URLSessionTask =
      switch body {
      case .own: companion.session.dataTask(with: request)
      case .data(let data): companion.session.uploadTask(with: request, from: data)
      case .file(let file): companion.session.uploadTask(with: request, fromFile: file)
      }
    #if !canImport(FoundationNetworking)
      task.delegate = delegate
    #endif
    companion.router.add(self, for: task)
    // It ends when its only task has: until then it retains its delegate.
    if connection == .own { companion.session.finishTasksAndInvalidate() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        begin(waiter)
        task.resume()
      }
    } onCancel: {
      task.cancel()
    }
  }

  private func begin(_ waiter: Waiter) {
    let error = stage.withLock { stage -> (any Error)? in
      guard case .ended(let error) = stage else {
        stage = .waiting(waiter)
        return nil
      }
      return error ?? CancellationError()
    }
    if let error { waiter.resume(throwing: error) }
  }

  // MARK: The task's events, one after the other on the companion's queue

  /// Receives the head of an answer. The last counts: one whose challenge is met with credentials is followed by
  /// another.
  func receive(_ response: URLResponse, of task: URLSessionTask) {
    activity.sign()
    let isSuccess = isSuccess(response)
    let (chunks, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
    let waiter = stage.withLock { stage -> Waiter? in
      let waiter: Waiter
      switch stage {
      case .waiting(let waiting), .collecting(let waiting, _, _, _): waiter = waiting
      case .writing(let waiting, _, let file):
        file.discard()
        waiter = waiting
      case .idle, .streaming, .ended: return nil
      }
      switch sink {
      case .data: stage = .collecting(waiter, response, Data(), limit: .max)
      case .file where isSuccess: stage = .writing(waiter, response, ContentFile())
      case .file,
        .stream where !isSuccess:
        stage = .collecting(waiter, response, Data(), limit: max(0, options.maxErrorBodyBytes))
      case .stream:
        stage = .streaming(continuation)
        return waiter
      }
      return nil
    }
    guard let waiter else { return continuation.finish() }
    continuation.onTermination = { reason in
      if case .cancelled = reason { task.cancel() }
    }
    waiter.resume(returning: HTTPAnswer(response: response, content: .stream(HTTPByteStream(chunks, unread))))
  }

  /// Receives a piece of the content.
  func receive(_ data: Data, of task: URLSessionTask) {
    activity.sign()
    let overflowing = stage.withLock { stage -> AsyncThrowingStream<Data, any Error>.Continuation? in
      switch stage {
      case .streaming(let chunks):
        if unread.add(data.count) {
          chunks.yield(data)
          return nil
        }
        stage = .ended(nil)
        return chunks
      case .collecting(let waiter, let response, var content, let limit):
        // Only one reference while it grows, or every piece would copy the content.
        stage = .idle
        content += data.prefix(limit - content.count)
        stage = .collecting(waiter, response, content, limit: limit)
      case .writing(_, _, let file): file.write(data)
      case .idle, .waiting, .ended: break
      }
      return nil
    }
    guard let overflowing else { return }
    overflowing.finish(throwing: StreamOverflow(limit: unread.limit))
    task.cancel()
  }

  /// Notes that a piece of the body was sent.
  func bodyWasSent() { activity.sign() }

  /// Receives the end.
  func end(_ task: URLSessionTask, _ error: (any Error)?) {
    let error = error.map { Self.sayingWhatItWas($0, of: task) }
    // Before the task's end a delegate does not always see a redirect that is not followed.
    if error == nil, !hasHead, let response = task.response { receive(response, of: task) }
    let last = stage.withLock { stage in
      let last = stage
      stage = .ended(error)
      return last
    }
    switch last {
    case .idle, .ended: break
    case .waiting(let waiter): waiter.resume(throwing: error ?? URLError(.badServerResponse))
    case .streaming(let chunks): chunks.finish(throwing: error)
    case .writing(let waiter, let response, let file):
      waiter.resume(with: Result { try file.finish(error) }.map { HTTPAnswer(response: response, content: $0) })
    case .collecting(let waiter, let response, let content, _):
      // If an error answer's content is cut short, its status says enough; and a 401 whose challenge was declined ends
      // as if it were.
      if let error, isSuccess(response), (response as? HTTPURLResponse)?.statusCode != 401 {
        waiter.resume(throwing: error)
      } else {
        waiter.resume(returning: HTTPAnswer(response: response, content: .data(content)))
      }
    }
  }

  /// Foundation on Linux reports an answer that is not HTTP like a URL that cannot be loaded.
  private static func sayingWhatItWas(_ error: any Error, of task: URLSessionTask) -> any Error {
    guard let urlError = error as? URLError, urlError.code == .unsupportedURL,
      let scheme = task.currentRequest?.url?.scheme?.lowercased(), scheme == "http" || scheme == "https"
    else { return error }
    return URLError(.badServerResponse, userInfo: urlError.userInfo)
  }

  private var hasHead: Bool {
    stage.withLock { if case .waiting = $0 { false } else { true } }
  }

  private func isSuccess(_ response: URLResponse) -> Bool {
    guard let response = response as? HTTPURLResponse else { return false }
    return options.successStatuses.contains(response.statusCode)
  }
}
