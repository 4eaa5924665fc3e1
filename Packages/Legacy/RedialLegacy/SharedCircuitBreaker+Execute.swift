public import Redial

extension SharedCircuitBreaker {
  /// Makes a call that reports by itself, and retries it by the policy, under this breaker.
  ///
  /// ```swift
  /// breaker.execute(.fe9lix) { call in
  ///   client.send(request) { error in
  ///     if let error { call.failure(error) } else { call.success() }
  ///   }
  /// } didTrip: { error in show(error) }
  /// ```
  ///
  /// A call that reports nothing within the policy's `attemptTimeout` counts as failed, and is made again as in fe9lix's
  /// CircuitBreaker: the one before may still run. While the breaker is open the
  /// call is not made, and `didTrip` is called with the last error: this call's own; or that of the latest call that
  /// failed under the breaker; or, if none did since the breaker last closed, `CircuitOpen`.
  ///
  /// - Returns: The task that runs it; cancelling it ends the retries.
  @discardableResult
  public func execute(
    _ policy: RetryPolicy, call: @escaping @Sendable (CallbackAttempt) -> Void,
    didTrip: @escaping @Sendable (any Error) -> Void = { _ in }
  ) -> Task<Void, any Error> {
    var retrier = Retrier(policy, name: name)
    retrier.breaker = self
    retrier.clock = retryClock
    return Task { [retrier] in
      do {
        try await retrier.run { _ in try await CallbackAttempt.run(call) }
      } catch let error as RetryError {
        if error.reason == .tripped || self.isOpen {
          let open = error.breaker ?? CircuitOpen(name: self.name, retryAfter: error.retryAfter ?? .zero)
          didTrip(error.lastError ?? self.lastError ?? open)
        }
        throw error
      }
    }
  }

  private var isOpen: Bool {
    switch current {
    case .open, .forced(.open): true
    default: false
    }
  }
}
