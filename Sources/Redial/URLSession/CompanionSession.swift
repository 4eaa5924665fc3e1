internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// A session with the configuration of another, whose delegate passes each task's events to the task's exchange.
///
/// Foundation on Linux asks only a session's delegate about redirections and challenges, not a task's, and keeps the
/// content of a task with a completion handler in memory: so every exchange is a task of such a session.
struct CompanionSession: Sendable {
  let session: URLSession
  let router: ExchangeRouter

  init(of original: URLSession) {
    router = ExchangeRouter()
    session = URLSession(configuration: original.configuration, delegate: router, delegateQueue: nil)
  }

  /// The companion of a session, created on first use, and released some time after the session.
  static func shared(with original: URLSession) -> CompanionSession {
    let (companion, abandoned) = all.withLock { all in
      let abandoned = all.filter { $0.value.original == nil }
      for key in abandoned.keys { all[key] = nil }
      if let entry = all[ObjectIdentifier(original)] { return (entry.companion, abandoned) }
      let companion = CompanionSession(of: original)
      all[ObjectIdentifier(original)] = Entry(original: original, companion: companion)
      return (companion, abandoned)
    }
    for entry in abandoned.values { entry.companion.session.finishTasksAndInvalidate() }
    return companion
  }

  private struct Entry {
    weak var original: URLSession?
    var companion: CompanionSession
  }

  private static let all = Guarded<[ObjectIdentifier: Entry]>([:])
}

/// Passes the events of a session's tasks to their exchanges.
final class ExchangeRouter: NSObject, URLSessionDataDelegate {
  private let exchanges = Guarded<[Int: Exchange]>([:])

  /// Call it before the task is resumed.
  func add(_ exchange: Exchange, for task: URLSessionTask) {
    exchanges.withLock { $0[task.taskIdentifier] = exchange }
  }

  private func exchange(of task: URLSessionTask) -> Exchange? {
    exchanges.withLock { $0[task.taskIdentifier] }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    exchange(of: dataTask)?.receive(response, of: dataTask)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    exchange(of: dataTask)?.receive(data, of: dataTask)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    #if canImport(FoundationNetworking)
      exchange?.delegate?.urlSession(session, task: task, didCompleteWithError: error)
    #endif
    exchange?.end(task, error)
  }
}

#if canImport(FoundationNetworking)
  /// The decisions and events of the caller's delegate. On other platforms a task has its own delegate for them.
  extension ExchangeRouter {
    /// A 401 that asks for a password (`WWW-Authenticate: Basic`) is a challenge here, and if it is handled by default
    /// without a credential, no further event arrives. It is declined: the exchange's result is the answer.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let hasProposal = challenge.proposedCredential != nil
      let answer = { @Sendable (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) in
        let isUnanswered = disposition == .performDefaultHandling && !hasProposal
        completionHandler(isUnanswered ? .cancelAuthenticationChallenge : disposition, credential)
      }
      guard let delegate = exchange(of: task)?.delegate else { return answer(.performDefaultHandling, nil) }
      delegate.urlSession(session, task: task, didReceive: challenge, completionHandler: answer)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      guard let delegate = exchange(of: task)?.delegate else { return completionHandler(request) }
      delegate.urlSession(
        session, task: task, willPerformHTTPRedirection: response, newRequest: request,
        completionHandler: completionHandler)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
      guard let delegate = exchange(of: task)?.delegate else { return completionHandler(nil) }
      delegate.urlSession(session, task: task, needNewBodyStream: completionHandler)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
      totalBytesExpectedToSend: Int64
    ) {
      let exchange = exchange(of: task)
      exchange?.bodyWasSent()
      exchange?.delegate?.urlSession(
        session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
        totalBytesExpectedToSend: totalBytesExpectedToSend)
    }
  }
#endif
