import Redial

/// Asks stations for the weather.
///
/// One client serves the whole program: all questions share its budget, and all questions to one station its breaker.
struct WeatherClient: Sendable {
  /// Events, for observers.
  let events = RetryEvents()

  private let network: StationNetwork
  private let breakers: SharedRegistry<String, SharedCircuitBreaker>
  private let budget = SharedRetryBudget(.finagle)

  init(_ network: StationNetwork) {
    self.network = network
    breakers = SharedRegistry { [events] station in
      SharedCircuitBreaker(CircuitBreakerSettings(consecutiveFailures: 3), name: station, events: events)
    }
  }

  /// The temperature at a station, in degrees Celsius.
  func temperature(at station: String) async throws -> Int {
    var retrier = Retrier(Self.policy, name: station)
    retrier.breaker = breakers[station]
    retrier.budget = budget
    retrier.events = events
    return try await retrier.run { try await network.ask(station) }
  }

  /// A person is waiting: quick, and not for long.
  private static let policy = RetryPolicy(
    maxAttempts: 6, deadline: .seconds(5), attemptTimeout: .seconds(1),
    backoff: Backoff(initial: .milliseconds(20), multiplier: 2, maximum: .milliseconds(200), jitter: .full),
    onTrip: .fail)
}
