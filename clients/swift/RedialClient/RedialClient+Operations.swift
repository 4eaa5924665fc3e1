internal import Foundation
internal import RedialText

extension RedialClient {
  // MARK: Calls

  /// Submits a call. On return, the call is on the service's disk, and will end in exactly one outcome.
  ///
  /// If the task is cancelled meanwhile, the call may or may not have been accepted.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - idempotencyKey: Identifies this submission, 1 to 255 printable ASCII characters: a repetition returns the call
  ///     that was accepted first. Nil for a new one each time, or none without ``idempotentSubmit``.
  /// - Throws: Before anything is sent: `UnsupportedByService` for a policy that the service does not support, and
  ///   `EncodingError` for a JSON body that cannot be encoded. Otherwise the errors of every operation.
  ///   ``RedialTransportError/mayHaveBeenAccepted`` says whether the call may exist.
  public func submit(_ call: OutgoingCall, idempotencyKey: String? = nil) async throws -> SubmittedCall {
    try await submit(call, idempotencyKey, waiting: .zero)
  }

  /// Submits a call, and lets the service hold its answer back for a while, until the call has ended.
  func submit(_ call: OutgoingCall, _ key: String?, waiting: Duration) async throws -> SubmittedCall {
    var request = submission(of: try call.descriptor(), to: ["v1", "calls"], key)
    hold(&request, for: waiting)
    let accepted = try await exchange(request).decoded(RedialCall.self)
    return SubmittedCall(call: accepted, idempotencyKey: request.idempotencyKey)
  }

  /// Submits many calls. Each is accepted or refused by itself; accepted calls are on the service's disk on return.
  ///
  /// They are sent in requests of up to ``batchSize``, one after the other. If one of these fails, the earlier ones
  /// were accepted: submit all again with the same key, and they are recognized.
  ///
  /// - Parameters:
  ///   - calls: The calls.
  ///   - idempotencyKey: As for ``submit(_:idempotencyKey:)``, for all of them; at most 240 characters.
  /// - Returns: The result of each, in their order.
  public func submit(
    batch calls: [OutgoingCall], idempotencyKey: String? = nil
  ) async throws -> [Result<SubmittedCall, RedialProblem>] {
    let key = idempotencyKey ?? (idempotentSubmit ? UUID().uuidString.lowercased() : nil)
    var results: [Result<SubmittedCall, RedialProblem>] = []
    for first in stride(from: 0, to: calls.count, by: Self.batchSize) {
      let part = calls[first..<min(calls.count, first + Self.batchSize)]
      let body = try part.map { try $0.descriptor() }.joined(separator: Data(",".utf8))
      let request = submission(
        of: Data("[".utf8) + Data(body) + Data("]".utf8), to: ["v1", "calls", "batch"], key.map { "\($0).\(first)" })
      let answer = try await exchange(request)
      let items = try answer.decoded(Listed<BatchItem>.self).data
      guard items.count == part.count else {
        let fault = DecodingError.Context(codingPath: [], debugDescription: "\(items.count) of \(part.count) answers")
        throw UnexpectedAnswer(
          request: request.name, status: answer.status, underlying: DecodingError.dataCorrupted(fault))
      }
      for (index, item) in items.enumerated() {
        results.append(item.result.map { SubmittedCall(call: $0, idempotencyKey: request.itemKey(index)) })
      }
    }
    return results
  }

  /// The maximum number of calls in a request of ``submit(batch:idempotencyKey:)``.
  public static let batchSize = 500

  private func submission(of body: Data, to path: [String], _ key: String?) -> ServiceRequest {
    var request = ServiceRequest("POST", path, body: body)
    identify(&request, by: key)
    return request
  }

  /// A call in its current state, with its attempts and the captured part of the last response.
  ///
  /// - Parameters:
  ///   - id: The call.
  ///   - withRequest: Whether to show its request too; that needs a key with the scope `payloads`.
  public func call(_ id: String, withRequest: Bool = false) async throws -> RedialCall {
    try await look(at: id, withRequest: withRequest).call
  }

  /// Every attempt of a call, the oldest first, with the captured part of each response.
  public func attempts(of id: String) async throws -> [RedialCallAttempt] {
    let pages = RedialPages<RedialCallAttempt>(client: self, pageSize: 250) {
      var request = ServiceRequest("GET", ["v1", "calls", id, "attempts"])
      request.query = [("include", "body")]
      return request
    }
    var attempts: [RedialCallAttempt] = []
    // Not `for await`, which needs macOS 15 in code that is isolated to nobody.
    var iterator = pages.makeAsyncIterator()
    while let attempt = try await iterator.next() { attempts.append(attempt) }
    return attempts
  }

  /// Cancels a call. An attempt in flight is aborted; a call that was cancelled before stays so.
  ///
  /// - Returns: The call, cancelled.
  /// - Throws: ``RedialProblem`` with the code `callEnded` if it has succeeded or failed.
  @discardableResult
  public func cancel(_ id: String) async throws -> RedialCall {
    try await operate("cancel", on: id)
  }

  /// Runs a call at once if it waits, and again, with all its attempts, if it has ended.
  ///
  /// - Parameters:
  ///   - id: The call.
  ///   - by: Who wants it, 1 to 255 characters; recorded in ``RedialCall/retries``.
  ///   - reason: Why, 1 to 1024 characters; recorded, too.
  /// - Returns: The call, which will run.
  /// - Throws: ``RedialProblem`` with the code `callRunning` if an attempt is in flight.
  @discardableResult
  public func retry(_ id: String, by: String? = nil, reason: String? = nil) async throws -> RedialCall {
    var words: [String: String] = [:]
    words["by"] = by
    words["reason"] = reason
    return try await operate("retry", on: id, JSONEncoder().encode(words))
  }

  /// The calls of the service, the newest first, fetched page by page on demand.
  ///
  /// ```swift
  /// let client = RedialClient(serviceURL)
  /// for try await call in client.calls(CallFilter(state: [.failed])) { print(call.id, call.url) }
  /// ```
  ///
  /// Pages do not shift when calls arrive. Attempts and responses are left out.
  ///
  /// - Parameters:
  ///   - filter: Selects calls.
  ///   - pageSize: How many a request fetches, 1...250; for a number outside, the nearest one in that range is used.
  public func calls(_ filter: CallFilter = CallFilter(), pageSize: Int = 50) -> RedialPages<RedialCall> {
    RedialPages(client: self, pageSize: pageSize) {
      var request = ServiceRequest("GET", ["v1", "calls"])
      request.query = try filter.query()
      return request
    }
  }

  // MARK: Inside

  /// Gives a request the key by which the service recognizes a repetition: this one, or a new one.
  func identify(_ request: inout ServiceRequest, by key: String?) {
    request.idempotencyKey = key ?? (idempotentSubmit ? UUID().uuidString.lowercased() : nil)
    request.isRepeatable = request.idempotencyKey != nil
  }

  /// Lets the service hold its answer back for a while, until the call has ended.
  func hold(_ request: inout ServiceRequest, for wait: Duration) {
    let seconds = Int(min(wait, longestHold).inSeconds)
    guard seconds > 0 else { return }
    request.preference = "wait=\(seconds)"
    request.isHeld = true
  }

  /// A call in its current state, or once it has ended within a time; and the time after which the service wants the
  /// next request.
  func look(
    at id: String, waiting: Duration = .zero, withRequest: Bool = false
  ) async throws -> (call: RedialCall, retryAfter: Duration?) {
    var request = ServiceRequest("GET", ["v1", "calls", id])
    if waiting > .zero {
      request.query = [("wait", DurationText.format(waiting))]
      request.isHeld = true
    }
    if withRequest { request.query.append(("include", "request")) }
    let answer = try await exchange(request)
    return (try answer.decoded(RedialCall.self), answer.retryAfter)
  }

  /// The maximum time for which the service holds an answer back, so that an attempt does not time out because of it.
  var longestHold: Duration { max(.zero, min(longestWait, policy.attemptTimeout * 2 / 3)) }

  private func operate(
    _ operation: String, on id: String, _ body: Data = ServiceRequest.nothing
  ) async throws -> RedialCall {
    try await exchange(ServiceRequest("POST", ["v1", "calls", id, operation], body: body)).decoded(RedialCall.self)
  }
}

/// A list in a single answer.
struct Listed<Element: Decodable & Sendable>: Decodable, Sendable {
  var data: [Element]
}

/// The body of a request, for a dry run.
struct DryRunBody<Body: Encodable>: Encodable {
  var body: Body

  init(of body: Body) { self.body = body }

  private enum Key: String, CodingKey { case dryRun }

  func encode(to encoder: any Encoder) throws {
    try body.encode(to: encoder)
    var members = encoder.container(keyedBy: Key.self)
    try members.encode(true, forKey: .dryRun)
  }
}

/// The result of one call of a batch.
private struct BatchItem: Decodable, Sendable {
  var status: Int
  var call: RedialCall?
  var problem: RedialProblem.Document?

  var result: Result<RedialCall, RedialProblem> {
    if let call { .success(call) } else { .failure(RedialProblem(problem, status: status)) }
  }
}

extension ServiceRequest {
  /// The service's key for a call of a batch.
  fileprivate func itemKey(_ index: Int) -> String? { idempotencyKey.map { "\($0)/\(index)" } }
}

/// A call that the service has accepted.
public struct SubmittedCall: Sendable, Hashable, Identifiable {
  /// The call as it was when it was accepted.
  public var call: RedialCall
  /// The `Idempotency-Key` of its submission; nil without ``RedialClient/idempotentSubmit``.
  public var idempotencyKey: String?
  /// The call's id, for later requests.
  public var id: String { call.id }
}
