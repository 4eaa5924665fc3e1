extension RedialClient {
  /// Waits for a call's end by looking at it again and again, at the pace of ``polling``, and later where the service
  /// answers with `Retry-After`. The wait between two looks passes on ``clock``.
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
    let began = clock.now
    var random = RandomSource(seed: seed())
    var history = WaitHistory.none
    var wait = Self.shortestPoll
    var looks = 0
    while true {
      try Task.checkCancellation()
      let (call, retryAfter) = try await look(at: id)
      if call.state.isFinal { return call }
      let elapsed = clock.now - began
      if let limit, elapsed >= limit { throw CallUnfinished(call: call, limit: limit) }
      // A schedule that has ended goes on with its last wait.
      if let drawn = polling.wait(beforeRetry: looks, after: history, using: &random) {
        wait = max(Self.shortestPoll, drawn.duration)
        history = history.adding(wait)
      }
      looks += 1
      // What is asked for beyond the policy's maximum would be a stop elsewhere; here it is only a slow pace.
      let asked = policy.retryAfter.isRespected ? min(retryAfter ?? .zero, policy.retryAfter.maximum) : .zero
      let next = max(wait, asked)
      try await clock.sleep(for: limit.map { min(next, max(.zero, $0 - elapsed)) } ?? next)
    }
  }

  /// Hands over a call and waits for its end: ``submit(_:)`` and ``result(of:within:)``.
  ///
  /// When this throws, the call may go on at the service; ``CallUnfinished`` says which it is.
  public func submitAndWait(_ call: OutgoingCall, within limit: Duration? = nil) async throws -> RedialCall {
    let submitted = try await submit(call)
    return submitted.call.state.isFinal ? submitted.call : try await result(of: submitted.id, within: limit)
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
