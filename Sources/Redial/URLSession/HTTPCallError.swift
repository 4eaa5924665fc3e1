public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// How a call by a session has ended without success.
///
/// ```swift
/// do {
///   let (data, _) = try await session.data(for: request, retrying: .alley)
/// } catch .cancelled {
///   return
/// } catch .endpoint(let response, let body) {
///   show(response.statusCode, body)
/// } catch {
///   print(error.logDescription)
///   show(error.localizedDescription)
/// }
/// ```
///
/// Three texts go with it: ``description`` and ``logDescription`` hold no secrets of the request and are for programs'
/// logs, ``errorDescription`` is for people.
public indirect enum HTTPCallError: Error, Sendable {
  /// Retrying has ended without success: attempts, time or budget are spent, or a breaker is open. `last` is how the last
  /// attempt ended, nil when there was none; `retries` has the reason and the history of attempts.
  case inaccessible(last: HTTPCallError?, retries: RetryError)
  /// The task, or its request, was cancelled.
  case cancelled
  /// The request could not be made, or broke off, in a way that is not worth another attempt.
  case urlError(URLError)
  /// Something else has failed: a hook, say.
  case other(any Error)
  /// What answered does not speak HTTP.
  case notHTTP(URLResponse)
  /// A success without content, where ``URLRetryOptions/allowNoData`` is false.
  case noData
  /// The endpoint has answered with a status that is no success and not worth another attempt. The attempts before it are
  /// in ``URLRetryOptions/history``.
  case endpoint(HTTPURLResponse, Data)
}

extension HTTPCallError {
  /// What a session, a hook or a retrier has thrown, in these words.
  init(_ error: any Error) {
    switch error {
    case let error as HTTPCallError: self = error
    case let error as RetryError:
      let last = error.lastError.map { HTTPCallError($0) }
      if error.reason == .notRetryable, let last {
        self = last
      } else {
        self = .inaccessible(last: last, retries: error)
      }
    case is CancellationError: self = .cancelled
    // To the caller it is all one which clock has ended the attempt; the history tells them apart.
    case is AttemptTimeout: self = .urlError(URLError(.timedOut))
    case let error as URLError: self = error.code == .cancelled ? .cancelled : .urlError(error)
    default: self = .other(error)
    }
  }
}
