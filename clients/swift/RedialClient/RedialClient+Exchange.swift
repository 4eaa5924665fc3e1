internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension RedialClient {
  /// Statuses that say that nothing was accepted (see the service's contract), so that any read may be repeated.
  private static let refusals = [429, 503, 507]
  /// With these codes the change may have been made all the same.
  private static let uncertain: Set<RedialProblem.Code> = ["outcomeUnknown", "leaseLost", "leaderUnreachable"]

  /// Sends a request to the service, and retries it as far as that is safe, until it succeeds.
  ///
  /// - Throws: The error of the last attempt, unchanged; `CancellationError`.
  func exchange(_ request: ServiceRequest) async throws -> ServiceAnswer {
    if sendsKeyInTheClear { log?("\(request.name): the API key goes unencrypted to \(baseURL.host ?? "")") }
    var policy = policy
    policy.retryOn =
      request.isRepeatable
      ? RetryConditions(
        network: .always, statuses: StatusSet(StatusSet.transient.ranges + Self.refusals.map { $0...$0 }))
      : RetryConditions(network: .whenNotSent, statuses: StatusSet(statuses: Self.refusals))
    // The service sends `Retry-After` with each of them.
    policy.retryAfter.statuses = StatusSet(policy.retryAfter.statuses.ranges + Self.refusals.map { $0...$0 })
    var retrier = Retrier(policy, name: request.name)
    retrier.clock = clock
    retrier.seed = seed
    retrier.log = log
    if !request.isRepeatable {
      retrier.outcome = { error in
        if let problem = error as? RedialProblem, Self.uncertain.contains(problem.code) { return .maybeSent }
        return Retrier.outcome(of: error)
      }
    }
    do {
      return try await retrier.run { _ in try await attempt(request) }
    } catch let error as RetryError {
      switch error.lastError {
      case let timeout as AttemptTimeout:
        throw RedialTransportError(
          request: request.name, baseURL: baseURL, retryOutcome: timeout.retryOutcome, underlying: timeout)
      case let last?: throw last
      case nil: throw error
      }
    }
  }

  private func attempt(_ request: ServiceRequest) async throws -> ServiceAnswer {
    let (body, response): (Data, HTTPURLResponse)
    do {
      let urlRequest = try request.urlRequest(to: self)
      (body, response) =
        request.isRepeatable && request.body == nil && !request.isHeld
        ? try await Transmission.perform(urlRequest, on: session)
        : try await Transmission.performOnce(urlRequest, like: session)
    } catch let failure as Transmission.Failure {
      throw RedialTransportError(
        request: request.name, baseURL: baseURL, retryOutcome: failure.outcome, underlying: failure.error)
    } catch let error as URLError {
      throw RedialTransportError(request: request.name, baseURL: baseURL, retryOutcome: .unusable, underlying: error)
    }
    let field = response.value(forHTTPHeaderField: "Retry-After")
    let answer = ServiceAnswer(
      request: request.name, status: response.statusCode, body: body,
      retryAfter: field.flatMap { RetryAfter.parse(Array($0.utf8)[...], at: clock.wallTime) })
    guard (200...299).contains(answer.status) else { throw RedialProblem(answer) }
    return answer
  }
}
