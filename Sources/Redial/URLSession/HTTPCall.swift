public import Dispatch
public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// A call that was begun with a completion handler. Releasing it does not end the call.
public final class HTTPCall: Sendable {
  private let task: Task<Void, Never>

  fileprivate init(_ task: Task<Void, Never>) { self.task = task }

  /// Ends the call, also during a wait: its handler gets ``HTTPCallError/cancelled``, unless the call had ended before.
  public func cancel() { task.cancel() }
}

extension URLSession {
  /// Sends a request until it succeeds, loads the content, and reports the end exactly once:
  ///
  /// ```swift
  /// session.perform(request, completionQueue: .main) { result in
  ///   switch result {
  ///   case .success(let (data, response)): show(data, response)
  ///   case .failure(let error): show(error.localizedDescription)
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - options: How to retry it.
  ///   - completionQueue: Where the handler is called; nil for the thread on which the call ends.
  ///   - completion: Called with the end.
  /// - Returns: An object that can cancel the call.
  @discardableResult
  public func perform(
    _ request: URLRequest, retrying options: URLRetryOptions = .alley, completionQueue: DispatchQueue? = nil,
    completion: @escaping @Sendable (Result<(Data, HTTPURLResponse), HTTPCallError>) -> Void
  ) -> HTTPCall {
    HTTPCall(
      Task {
        let result: Result<(Data, HTTPURLResponse), HTTPCallError>
        do throws(HTTPCallError) {
          result = .success(try await data(for: request, retrying: options))
        } catch {
          result = .failure(error)
        }
        if let completionQueue {
          completionQueue.async { completion(result) }
        } else {
          completion(result)
        }
      })
  }
}
