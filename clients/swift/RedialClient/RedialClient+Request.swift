public import Foundation

extension RedialClient {
  /// Sends any request of the API by its path, and reads the answer.
  ///
  /// ```swift
  /// let client = RedialClient(serviceURL)
  /// let target = try await client.request("POST", "/v1/targets/billing/pause", as: RedialAPI.Target.self)
  /// show(target.breaker.state)
  /// ```
  ///
  /// A `GET` is retried after any failure, anything else only if the service certainly did nothing.
  ///
  /// - Parameters:
  ///   - method: The method, in capitals.
  ///   - path: The path, such as `/v1/policies`. Parts of it that come from elsewhere must be percent-encoded.
  ///   - query: Parameters, which are encoded here.
  ///   - json: The body, encoded by `JSONEncoder` with its defaults and sorted keys; nil for none.
  ///   - type: What to read from the answer's JSON.
  /// - Throws: Before anything is sent: `EncodingError` for a body that cannot be encoded. Otherwise the errors of every
  ///   operation; ``UnexpectedAnswer`` also for JSON that is not of that type.
  public func request<Answer: Decodable & Sendable>(
    _ method: String, _ path: String, query: [String: String] = [:], json: (any Encodable & Sendable)? = nil,
    as type: Answer.Type
  ) async throws -> Answer {
    try await answer(to: method, path, query, json).decoded(type)
  }

  /// Sends any request of the API by its path, and returns the body of the answer: JSON, or nothing.
  ///
  /// ```swift
  /// let client = RedialClient(serviceURL)
  /// try await client.request("PUT", "/v1/policies/patient", json: ["deadline": "7d"])
  /// ```
  ///
  /// Parameters, retries and errors are those of ``request(_:_:query:json:as:)``.
  @discardableResult
  public func request(
    _ method: String, _ path: String, query: [String: String] = [:], json: (any Encodable & Sendable)? = nil
  ) async throws -> Data {
    try await answer(to: method, path, query, json).body
  }

  private func answer(
    to method: String, _ path: String, _ query: [String: String], _ json: (any Encodable & Sendable)?
  ) async throws -> ServiceAnswer {
    let body = try json.map { try ServiceRequest.encoded($0) } ?? (method == "POST" ? ServiceRequest.nothing : nil)
    var request = ServiceRequest(method, path: path, body: body)
    request.query = query.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    return try await exchange(request)
  }
}
