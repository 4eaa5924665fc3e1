public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension URLSession {
  /// Sends a request until it succeeds, and loads the content:
  ///
  /// ```swift
  /// let (data, response) = try await session.data(for: request, retrying: .http)
  /// ```
  ///
  /// A body from `httpBodyStream` can be sent once, so such a request is not retried.
  ///
  /// The request uses a session of the library's own with this one's configuration. A request that may not be executed
  /// twice, and every retry, uses its own connection: N attempts are N requests. Only the first attempt of an
  /// idempotent request may find an idle connection closed and be sent again, on another, automatically. End calls by
  /// cancelling their tasks: this session's `invalidateAndCancel()` does not affect them.
  ///
  /// The policy's `attemptTimeout` ends an attempt that is silent for so long, and none that sends or receives.
  ///
  /// - Throws: How it ended without success; ``HTTPCallError/cancelled`` if the task is cancelled, also during a wait.
  public func data(
    for request: URLRequest, retrying options: URLRetryOptions
  ) async throws(HTTPCallError) -> (Data, HTTPURLResponse) {
    try await load(HTTPCallRun(self, request, options, into: .data))
  }

  /// Sends a request with data as its body until it succeeds, and loads the content.
  ///
  /// - Throws: Like ``data(for:retrying:)``.
  public func upload(
    for request: URLRequest, from body: Data, retrying options: URLRetryOptions
  ) async throws(HTTPCallError) -> (Data, HTTPURLResponse) {
    try await load(HTTPCallRun(self, request, options, body: .data(body), into: .data))
  }

  /// Sends a request with a file as its body, read again for each attempt, until it succeeds, and loads the content.
  ///
  /// - Throws: Like ``data(for:retrying:)``.
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
  /// - Returns: The file, which the caller must move or remove.
  /// - Throws: Like ``data(for:retrying:)``.
  public func download(
    for request: URLRequest, retrying options: URLRetryOptions
  ) async throws(HTTPCallError) -> (URL, HTTPURLResponse) {
    let (content, response) = try await HTTPCallRun(self, request, options, into: .file).run()
    guard case .file(let file, _) = content else { throw .notHTTP(response) }
    return (file, response)
  }

  /// Sends a request until a successful answer begins, and delivers its content as it arrives:
  ///
  /// ```swift
  /// let (chunks, response) = try await session.stream(for: request, retrying: .http)
  /// for try await chunk in chunks { file.write(chunk) }
  /// ```
  ///
  /// Failures before the head of such an answer are retried; a stream that has begun and is interrupted ends with its
  /// error. The policy's `attemptTimeout` limits the time to the head.
  ///
  /// - Throws: Like ``data(for:retrying:)``.
  public func stream(
    for request: URLRequest, retrying options: URLRetryOptions
  ) async throws(HTTPCallError) -> (HTTPByteStream, HTTPURLResponse) {
    let (content, response) = try await HTTPCallRun(self, request, options, into: .stream).run()
    guard case .stream(let chunks) = content else { throw .notHTTP(response) }
    return (chunks, response)
  }
}
