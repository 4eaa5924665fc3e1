internal import Foundation

extension RedialClient {
  // MARK: Calls

  /// Hands over a call. When this returns, the call is on the service's disk, and will end in exactly one outcome.
  ///
  /// When the task is cancelled meanwhile, the call may have been accepted or not.
  ///
  /// - Throws: Before anything is sent ``UnsupportedByService``, for a policy that the service has no words for, and
  ///   `EncodingError`, for a JSON body that cannot be encoded; else what every operation throws.
  ///   ``RedialTransportError/mayHaveBeenAccepted`` says whether the call may exist.
  public func submit(_ call: OutgoingCall) async throws -> SubmittedCall {
    var request = ServiceRequest("POST", ["v1", "calls"], body: try call.descriptor())
    if idempotentSubmit {
      request.idempotencyKey = UUID().uuidString.lowercased()
      request.isRepeatable = true
    }
    let accepted = try await exchange(request).decoded(RedialCall.self)
    return SubmittedCall(call: accepted, idempotencyKey: request.idempotencyKey)
  }

  /// A call as it stands, with its attempts and what was kept of the last response.
  public func call(_ id: String) async throws -> RedialCall {
    try await look(at: id).call
  }

  /// Every attempt of a call, the oldest first, with what was kept of each response.
  public func attempts(of id: String) async throws -> [RedialCallAttempt] {
    var request = ServiceRequest("GET", ["v1", "calls", id, "attempts"])
    request.query = [("include", "body")]
    return try await exchange(request).decoded(Listed<RedialCallAttempt>.self).data
  }

  /// Ends a call. An attempt under way is aborted; a call that was cancelled before stays so.
  ///
  /// - Returns: The call, cancelled.
  /// - Throws: ``RedialProblem`` with the code `callEnded` when it has succeeded or failed.
  @discardableResult
  public func cancel(_ id: String) async throws -> RedialCall {
    try await operate("cancel", on: id)
  }

  /// Runs a call at once if it waits, and anew, with all its attempts, if it has ended.
  ///
  /// - Returns: The call, on its way.
  /// - Throws: ``RedialProblem`` with the code `callRunning` when an attempt is under way.
  @discardableResult
  public func retry(_ id: String) async throws -> RedialCall {
    try await operate("retry", on: id)
  }

  /// The calls of the service, the newest first, fetched page by page as they are asked for.
  ///
  /// ```swift
  /// let client = RedialClient(serviceURL)
  /// for try await call in client.calls(state: .failed) { print(call.id, call.url) }
  /// ```
  ///
  /// Pages do not shift when calls arrive. Attempts and responses are left out.
  ///
  /// - Parameters:
  ///   - state: Only calls in this state.
  ///   - target: Only calls of this target.
  ///   - pageSize: How many a request fetches, 1...250; what lies outside counts as the nearer end.
  public func calls(
    state: RedialCall.State? = nil, target: String? = nil, pageSize: Int = 50
  ) -> RedialCallList {
    RedialCallList(client: self, state: state, target: target, pageSize: pageSize)
  }

  // MARK: Targets

  /// The targets that the service remembers, by key, with their breakers.
  public func targets() async throws -> [RedialTarget] {
    try await exchange(ServiceRequest("GET", ["v1", "targets"])).decoded(Listed<RedialTarget>.self).data
  }

  /// One target with its breaker.
  ///
  /// - Throws: ``RedialProblem`` with the code `targetNotFound` when no call to it has been seen since the service's
  ///   start.
  public func target(_ key: String) async throws -> RedialTarget {
    try await exchange(ServiceRequest("GET", ["v1", "targets", key])).decoded(RedialTarget.self)
  }

  // MARK: Inside

  /// A call as it stands, and the time after which the service wants to be asked again.
  func look(at id: String) async throws -> (call: RedialCall, retryAfter: Duration?) {
    let answer = try await exchange(ServiceRequest("GET", ["v1", "calls", id]))
    return (try answer.decoded(RedialCall.self), answer.retryAfter)
  }

  /// The service reads no body here. One is sent all the same, since a body that was never begun proves that the
  /// request never left.
  private func operate(_ operation: String, on id: String) async throws -> RedialCall {
    try await exchange(ServiceRequest("POST", ["v1", "calls", id, operation], body: Data("{}".utf8)))
      .decoded(RedialCall.self)
  }
}

/// A list that comes whole.
private struct Listed<Element: Decodable & Sendable>: Decodable, Sendable {
  var data: [Element]
}

/// A call that the service has accepted.
public struct SubmittedCall: Sendable, Hashable, Identifiable {
  /// The call as it was when it was accepted.
  public var call: RedialCall
  /// The `Idempotency-Key` that it was submitted with; nil without ``RedialClient/idempotentSubmit``.
  public var idempotencyKey: String?
  /// The call's id, by which it can be asked for.
  public var id: String { call.id }
}
