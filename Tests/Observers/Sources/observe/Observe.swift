import Logging
import Metrics
import Redial
import RedialLogging
import RedialMetrics

/// Fails twice, succeeds, and gives up once, with both observers. What they make of it is printed by the stand-ins.
@main
struct Observe {
  struct Broken: Error {}

  static func main() async throws {
    let observers = RetryObservers(LoggingObserver(Logger(label: "retry")), MetricsObserver())
    let settings = CircuitBreakerSettings(consecutiveFailures: 4)
    let breaker = SharedCircuitBreaker(settings, name: "user", events: observers)
    let policy = RetryPolicy(maxAttempts: 3, backoff: .constant(.milliseconds(1)), onTrip: .fail)
    let retrier = Retrier(policy, name: "user", breaker: breaker, events: observers)
    let number = try await retrier.run { attempt in
      if attempt.number < 3 { throw Broken() }
      return attempt.number
    }
    print("returned \(number)")
    breaker.trip()
    _ = try? await retrier.run { 1 }
  }
}
