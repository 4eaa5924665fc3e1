internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One request on a `URLSession`, and how far it got.
final class Transmission: NSObject, URLSessionDataDelegate {
  /// No answer arrived.
  struct Failure: Error {
    var outcome: AttemptOutcome
    var error: any Error
  }

  typealias Answer = (body: Data, response: HTTPURLResponse)

  private struct State {
    var isAbandoned = false
    var body = Data()
    var continuation: CheckedContinuation<Answer, any Error>?
  }

  private let state = Guarded(State())
  private let hasBody: Bool

  private init(_ request: URLRequest) { hasBody = request.httpBody != nil }

  /// Sends a request that has no body and may be repeated, on any connection of the session.
  ///
  /// - Throws: ``Failure``.
  static func perform(_ request: URLRequest, on session: URLSession) async throws -> Answer {
    let transmission = Transmission(request)
    return try await transmission.run {
      let task = session.dataTask(with: request) { body, response, error in
        transmission.finish(body ?? Data(), response, error, bytesSent: nil)
      }
      task.delegate = transmission
      return task
    }
  }

  /// Sends a request with a body exactly once, on its own connection.
  ///
  /// If a reused connection fails, Foundation's HTTP (libcurl) silently sends the request again, whatever its method. A
  /// new session has no such connection; and for a session with a delegate Foundation counts the sent bytes of the
  /// body.
  ///
  /// - Throws: ``Failure``.
  static func performOnce(_ request: URLRequest, like session: URLSession) async throws -> Answer {
    let transmission = Transmission(request)
    let own = URLSession(configuration: session.configuration, delegate: transmission, delegateQueue: nil)
    defer { own.finishTasksAndInvalidate() }
    return try await transmission.run { own.dataTask(with: request) }
  }

  private func run(_ makeTask: () -> URLSessionDataTask) async throws -> Answer {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isAbandoned = state.withLock { state in
          if !state.isAbandoned { state.continuation = continuation }
          return state.isAbandoned
        }
        if isAbandoned { continuation.resume(throwing: CancellationError()) } else { makeTask().resume() }
      }
    } onCancel: {
      abandon()
    }
  }

  /// Stops waiting for the answer. The task ends by itself, at the latest by its own timeout: cancelling one that ends
  /// at that moment crashes the process in Foundation on Linux.
  private func abandon() {
    let continuation = state.withLock { state in
      state.isAbandoned = true
      return state.continuation.take()
    }
    continuation?.resume(throwing: CancellationError())
  }

  private func finish(_ body: Data, _ response: URLResponse?, _ error: (any Error)?, bytesSent: Int64?) {
    let continuation = state.withLock { $0.continuation.take() }
    if error == nil, let response = response as? HTTPURLResponse {
      continuation?.resume(returning: (body, response))
    } else {
      let error = error ?? URLError(.badServerResponse)
      continuation?.resume(throwing: Failure(outcome: Self.outcome(error, bytesSent: bytesSent), error: error))
    }
  }

  // MARK: The task's delegate

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    state.withLock { $0.body.append(data) }
  }

  /// Follows no redirect: the service sends none, and a submission that follows one would become a read.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    finish(state.withLock { $0.body }, task.response, error, bytesSent: hasBody ? task.countOfBytesSent : nil)
  }

  /// What an error shows about the request. A refused connection alone proves little: of a host with several addresses
  /// one may refuse and the next accept the request. If no byte of the body was sent, that proves the rest; without a
  /// body nothing does.
  private static func outcome(_ error: any Error, bytesSent: Int64?) -> AttemptOutcome {
    switch (error as? URLError)?.code {
    case .badURL, .unsupportedURL, .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot, .clientCertificateRejected,
      .clientCertificateRequired:
      .unusable
    case .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .notConnectedToInternet:
      bytesSent == 0 ? .notSent : .maybeSent
    default: .maybeSent
    }
  }
}
