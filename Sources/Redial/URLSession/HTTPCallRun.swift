internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// A session's call: its attempts, with the hooks around each.
struct HTTPCallRun: Sendable {
  /// The parts of a task besides its request.
  enum Body: Sendable {
    /// The request's own body.
    case own
    case data(Data)
    case file(URL)
  }

  private let session: URLSession
  private let request: URLRequest
  private let options: URLRetryOptions
  private let body: Body
  private let sink: Exchange.Sink
  private let refreshed = Refreshed()

  init(
    _ session: URLSession, _ request: URLRequest, _ options: URLRetryOptions, body: Body = .own,
    into sink: Exchange.Sink
  ) {
    self.session = session
    self.request = request
    self.options = options
    self.body = body
    self.sink = sink
  }

  func run() async throws(HTTPCallError) -> (HTTPAnswer.Content, HTTPURLResponse) {
    do {
      var retrier = options.retrier(for: request)
      let (quiet, clock) = (retrier.policy.attemptTimeout, retrier.clock)
      // The policy's timeout counts from the last sign of life. Only the deadline limits the whole attempt.
      retrier.policy.attemptTimeout = .longest
      return try await retrier.run { attempt in
        let activity = Activity(clock)
        var limited = attempt
        limited.timeout = min(quiet, attempt.timeout)
        return try await TimedWork.perform(limited, clock, isolation: #isolation, activity: activity) { attempt in
          try await perform(attempt, activity)
        }.get()
      }
    } catch {
      throw HTTPCallError(error)
    }
  }

  private func perform(
    _ attempt: RetryAttempt, _ activity: Activity
  ) async throws(HTTPCallError) -> (HTTPAnswer.Content, HTTPURLResponse) {
    while true {
      let request = try await prepare(attempt)
      let answer = try await send(request, attempt, activity)
      guard let response = answer.response as? HTTPURLResponse else { throw .notHTTP(answer.response) }
      if options.successStatuses.contains(response.statusCode) {
        if answer.isEmpty, !options.allowNoData, response.mayHaveContent(toMethod: request.httpMethod) {
          answer.discard()
          throw .noData
        }
        return (answer.content, response)
      }
      guard response.statusCode == 401, try await refresh(response) else {
        guard case .data(let content) = answer.content else { throw .endpoint(response, Data()) }
        throw .endpoint(response, content)
      }
    }
  }

  private func prepare(_ attempt: RetryAttempt) async throws(HTTPCallError) -> URLRequest {
    let prepared: URLRequest
    do {
      prepared = try await options.authenticate?(request, attempt) ?? request
    } catch {
      throw HTTPCallError(hook: error)
    }
    // Foundation on Linux ends the process if a request has no URL.
    guard prepared.url != nil else { throw .urlError(URLError(.badURL)) }
    return prepared
  }

  private func send(
    _ request: URLRequest, _ attempt: RetryAttempt, _ activity: Activity
  ) async throws(HTTPCallError) -> HTTPAnswer {
    do {
      let exchange = Exchange(options, session, sink, activity)
      let answer = try await exchange.run(request, body, connection: options.connection(for: request, attempt))
      // Nobody uses the file of an attempt whose time is up.
      if Task.isCancelled {
        answer.discard()
        throw CancellationError()
      }
      return answer
    } catch {
      throw HTTPCallError(error)
    }
  }

  private func refresh(_ response: HTTPURLResponse) async throws(HTTPCallError) -> Bool {
    guard let refresh = options.refresh, request.httpBodyStream == nil, refreshed.begin() else { return false }
    do {
      return try await refresh(response)
    } catch {
      throw HTTPCallError(hook: error)
    }
  }
}

/// Whether a call has renewed its credentials.
private final class Refreshed: Sendable {
  private let isDone = Guarded(false)

  /// True the first time.
  func begin() -> Bool {
    isDone.withLock { isDone in
      defer { isDone = true }
      return !isDone
    }
  }
}

extension HTTPCallError {
  /// The error of a hook. It never counts as an error of the request.
  fileprivate init(hook error: any Error) {
    self = error is CancellationError ? .cancelled : .other(error)
  }
}

extension HTTPURLResponse {
  /// Whether the answer could have content (RFC 9110 sections 9.3.2, 15.3.5, 15.3.6 and 15.4.5).
  fileprivate func mayHaveContent(toMethod method: String?) -> Bool {
    method != "HEAD" && statusCode != 204 && statusCode != 205 && statusCode != 304
  }
}
