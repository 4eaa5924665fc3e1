package import Redial
internal import Synchronization

/// An error that says what the test wants it to.
package struct Flop: RetryOutcomeProviding, Equatable {
  package var retryOutcome: AttemptOutcome

  package init(retryOutcome: AttemptOutcome = .maybeSent) { self.retryOutcome = retryOutcome }
}

/// Counts and remembers, from any thread.
package final class Notes<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])

  package init() {}

  package var all: [Value] { values.withLock { $0 } }
  package var count: Int { values.withLock { $0.count } }

  /// Adds a value, and returns how many there are then.
  @discardableResult
  package func add(_ value: Value) -> Int {
    values.withLock { values in
      values.append(value)
      return values.count
    }
  }
}

extension RetryPolicy {
  /// 25 attempts within 15 minutes, and an open breaker is waited for.
  package static let patient = RetryPolicy(maxAttempts: 25, deadline: .seconds(900), onTrip: .wait)
}

extension Retrier {
  /// A retrier on a clock of the test's, with the same jitter each time.
  package static func test(_ policy: RetryPolicy = .patient, clock: any RetryClock = TestClock()) -> Retrier {
    var retrier = Retrier(policy, name: "test")
    retrier.clock = clock
    retrier.seed = { 7 }
    return retrier
  }
}

extension Retrier {
  /// How the retrier gives up on work; nil when it does not.
  package func failure(_ work: @escaping @Sendable (RetryAttempt) async throws -> Void) async -> RetryError? {
    do {
      try await run(work)
      return nil
    } catch {
      return error as? RetryError
    }
  }
}

/// Waits until something holds that other threads bring about: for minutes, since other tests may keep all threads busy.
package func eventually(_ condition: @Sendable () async -> Bool) async -> Bool {
  let end = ContinuousClock.now + .seconds(180)
  while ContinuousClock.now < end {
    if await condition() { return true }
    try? await Task.sleep(for: .milliseconds(1))
  }
  return false
}
