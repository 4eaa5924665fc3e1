public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// How a session's call has ended without success.
///
/// ```swift
/// do {
///   let (data, _) = try await session.data(for: request, retrying: .http)
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
/// It has three texts: ``description`` and ``logDescription`` contain no secrets of the request and are for programs'
/// logs, ``errorDescription`` is for people.
public indirect enum HTTPCallError: Error, Sendable {
  /// Retrying has ended without success: attempts, time or budget are used up, or a breaker is open. `last` is the end
  /// of the last attempt, nil if there was none; `retries` has the reason and the history of attempts.
  case inaccessible(last: HTTPCallError?, retries: RetryError)
  /// The task, or its request, was cancelled.
  case cancelled
  /// The request could not be made, or was interrupted, in a way that is not retried.
  case urlError(URLError)
  /// Something else has failed, for example a hook.
  case other(any Error)
  /// The server does not speak HTTP.
  case notHTTP(URLResponse)
  /// A success without content, if ``URLRetryOptions/allowNoData`` is false.
  case noData
  /// The endpoint has answered with a status that is neither a success nor retried. The attempts before it are in
  /// ``URLRetryOptions/history``.
  case endpoint(HTTPURLResponse, Data)
}

extension HTTPCallError {
  /// The error of a session, a hook or a retrier, in these words.
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
    // For the caller it does not matter which clock has ended the attempt; the history distinguishes them.
    case is AttemptTimeout: self = .urlError(URLError(.timedOut))
    case let error as URLError: self = error.code == .cancelled ? .cancelled : .urlError(error)
    default: self = .other(error)
    }
  }
}
