public import Foundation

extension RedialClient {
  /// Waits for a call's end. The service holds each answer back until the call has ended, for at most ``longestWait``;
  /// then the request is repeated.
  ///
  /// If it does not hold its answers back, the client polls at the pace of ``polling``, or later if an answer has
  /// `Retry-After`. The waits between polls use ``clock``.
  ///
  /// A failed call is also a result, not an error. Cancelling the task ends the wait at once and does not affect the
  /// call.
  ///
  /// - Parameters:
  ///   - id: The call.
  ///   - limit: How long to wait; nil for no limit. The last poll may take longer.
  /// - Returns: The call, succeeded, failed or cancelled.
  /// - Throws: ``CallUnfinished`` if the limit passes first; otherwise the errors of every operation.
  public func result(of id: String, within limit: Duration? = nil) async throws -> RedialCall {
    // A clock that goes back does not put the limit off.
    var reading = CourseClock(clock.now)
    var random = RandomSource(seed: seed())
    var history = WaitHistory.none
    var wait = Self.shortestPoll
    var looks = 0
    var hold = longestHold
    while true {
      try Task.checkCancellation()
      let asked = reading.elapsed(at: clock.now)
      let left = limit.map { max(.zero, $0 - asked) } ?? hold
      let seen: (call: RedialCall, retryAfter: Duration?)
      do {
        seen = try await look(at: id, waiting: min(hold, left))
      } catch let problem as RedialProblem where hold > .zero && problem.refuses("wait") {
        // This service holds no answer back for so long.
        hold = .zero
        continue
      }
      if seen.call.state.isFinal { return seen.call }
      let elapsed = reading.elapsed(at: clock.now)
      if let limit, elapsed >= limit { throw CallUnfinished(call: seen.call, limit: limit) }
      // It was held back; another wait would only delay the result.
      if hold > .zero, (elapsed - asked) * 2 >= min(hold, left) { continue }
      // A schedule that has ended repeats its last wait.
      if let drawn = polling.wait(beforeRetry: looks, after: history, using: &random) {
        wait = max(Self.shortestPoll, drawn.duration)
        history = history.adding(wait)
      }
      looks += 1
      // Elsewhere a wait beyond the policy's maximum would be the end; here it only slows the polling.
      let asks = policy.retryAfter.isRespected ? min(seen.retryAfter ?? .zero, policy.retryAfter.maximum) : .zero
      let next = max(wait, asks)
      try await clock.sleep(for: limit.map { min(next, max(.zero, $0 - elapsed)) } ?? next)
    }
  }

  /// Submits a call and waits for its end: ``submit(_:idempotencyKey:)`` and ``result(of:within:)``, in one request if
  /// the call is fast.
  ///
  /// After an error, the call may continue at the service; ``CallUnfinished`` has its id.
  public func submitAndWait(
    _ call: OutgoingCall, idempotencyKey: String? = nil, within limit: Duration? = nil
  ) async throws -> RedialCall {
    let began = clock.now
    let submitted = try await submit(call, idempotencyKey, waiting: limit ?? longestHold)
    if submitted.call.state.isFinal { return submitted.call }
    return try await result(of: submitted.id, within: limit.map { max(.zero, $0 - max(.zero, clock.now - began)) })
  }
}

extension RedialProblem {
  /// Whether the service refuses the value of a parameter.
  fileprivate func refuses(_ parameter: String) -> Bool {
    status == 400 && errors.contains { $0.parameter == parameter }
  }
}

/// A call has not ended within the limit of the wait. It continues.
public struct CallUnfinished: LocalizedError, Hashable, CustomStringConvertible {
  /// The last known state of the call.
  public var call: RedialCall
  /// The length of the wait.
  public var limit: Duration
  /// For people.
  public var description: String {
    "\(call.id) is still \(call.state) after \(limit), with \(call.attemptCount) attempts so far; it goes on"
  }
  /// The same.
  public var errorDescription: String? { description }
}
