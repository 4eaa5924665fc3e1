public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension URLSession {
  /// Sends a request until it succeeds, and loads the content:
  ///
  /// ```swift
  /// let (data, response) = try await session.data(for: request, retrying: .alley)
  /// ```
  ///
  /// A body from `httpBodyStream` can be sent once, so such a request is not retried.
  ///
  /// The request goes through a session of the library's own with this one's configuration. What may not be executed
  /// twice, and every retry, goes through a connection of its own: N attempts are N requests. Only the first attempt of
  /// an idempotent request may find a kept connection dead and be sent again, on another, without being asked.
  /// Calls are ended by cancelling their tasks: this session's `invalidateAndCancel()` does not know of them.
  ///
  /// - Throws: How it ended without success; ``HTTPCallError/cancelled`` when the task is cancelled, also during a wait.
  public func data(
    for request: URLRequest, retrying options: URLRetryOptions
  ) async throws(HTTPCallError) -> (Data, HTTPURLResponse) {
    try await load(HTTPCallRun(self, request, options, into: .data))
  }

  /// Sends a request with data as its body until it succeeds, and loads the content.
  ///
  /// - Throws: As ``data(for:retrying:)``.
  public func upload(
    for request: URLRequest, from body: Data, retrying options: URLRetryOptions
  ) async throws(HTTPCallError) -> (Data, HTTPURLResponse) {
    try await load(HTTPCallRun(self, request, options, body: .data(body), into: .data))
  }

  /// Sends a request with a file as its body, read anew for each attempt, until it succeeds, and loads the content.
  ///
  /// - Throws: As ``data(for:retrying:)``.
  public func upload(
    for request: URLRequest, fromFile file: URL, retrying options: URLRetryOptions
  ) async throws(HTTPCallError) -> (Data, HTTPURLResponse) {
    try await load(HTTPCallRun(self, request, options, body: .file(file), into: .data))
  }

  private func load(_ run: HTTPCallRun) async throws(HTTPCallError) -> (Data, HTTPURLResponse) {
    let (content, response) = try await run.run()
    guard case .data(let data) = content else { throw .notHTTP(response) }
    return (data, response)
  }

  /// Sends a request until it succeeds, and loads the content into a file.
  ///
  /// - Returns: The file, which is the caller's to move or to remove.
  /// - Throws: As ``data(for:retrying:)``.
  public func download(
    for request: URLRequest, retrying options: URLRetryOptions
  ) async throws(HTTPCallError) -> (URL, HTTPURLResponse) {
    let (content, response) = try await HTTPCallRun(self, request, options, into: .file).run()
    guard case .file(let file, _) = content else { throw .notHTTP(response) }
    return (file, response)
  }

  /// Sends a request until an answer of success begins, and hands its content out as it comes:
  ///
  /// ```swift
  /// let (chunks, response) = try await session.stream(for: request, retrying: .alley)
  /// for try await chunk in chunks { file.write(chunk) }
  /// ```
  ///
  /// Retried is what fails before the head of such an answer has come; a stream that has begun and breaks off ends with
  /// its error. The policy's `attemptTimeout` bounds the time to the head.
  ///
  /// - Throws: As ``data(for:retrying:)``.
  public func stream(
    for request: URLRequest, retrying options: URLRetryOptions
  ) async throws(HTTPCallError) -> (HTTPByteStream, HTTPURLResponse) {
    let (content, response) = try await HTTPCallRun(self, request, options, into: .stream).run()
    guard case .stream(let chunks) = content else { throw .notHTTP(response) }
    return (chunks, response)
  }
}
