extension RedialClient {
  /// Waits for a call's end. The service holds each answer back until the call has ended, for ``longestWait`` at most, and
  /// is asked again then.
  ///
  /// Where it does not hold its answers back, the call is looked at again and again, at the pace of ``polling``, and later
  /// where the service answers with `Retry-After`. The wait between two looks passes on ``clock``.
  ///
  /// A call that fails is a result, too, and not an error. Cancelling the task ends the wait at once and leaves the call
  /// alone.
  ///
  /// - Parameters:
  ///   - id: The call.
  ///   - limit: How long to wait; nil for as long as it takes. The last look may take longer.
  /// - Returns: The call, succeeded, failed or cancelled.
  /// - Throws: ``CallUnfinished`` when the limit passes first; else what every operation throws.
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
      // It was held back; to wait on top of that would only be late.
      if hold > .zero, (elapsed - asked) * 2 >= min(hold, left) { continue }
      // A schedule that has ended goes on with its last wait.
      if let drawn = polling.wait(beforeRetry: looks, after: history, using: &random) {
        wait = max(Self.shortestPoll, drawn.duration)
        history = history.adding(wait)
      }
      looks += 1
      // A wait beyond the policy's maximum would be a stop elsewhere; here it is only a slow pace.
      let asks = policy.retryAfter.isRespected ? min(seen.retryAfter ?? .zero, policy.retryAfter.maximum) : .zero
      let next = max(wait, asks)
      try await clock.sleep(for: limit.map { min(next, max(.zero, $0 - elapsed)) } ?? next)
    }
  }

  /// Submits a call and waits for its end: ``submit(_:idempotencyKey:)`` and ``result(of:within:)``, in
  /// one request when the call is quick.
  ///
  /// When this throws, the call may go on at the service; ``CallUnfinished`` says which it is.
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
  /// Whether the service refuses what a parameter says.
  fileprivate func refuses(_ parameter: String) -> Bool {
    status == 400 && errors.contains { $0.pointer == parameter }
  }
}

/// A call has not ended within the time that its waiter had. It goes on.
public struct CallUnfinished: Error, Hashable, CustomStringConvertible {
  /// The call as it was last seen.
  public var call: RedialCall
  /// How long was waited.
  public var limit: Duration
  /// For people.
  public var description: String {
    "\(call.id) is still \(call.state) after \(limit), with \(call.attemptCount) attempts so far; it goes on"
  }
}
