import Foundation
@testable import Redial
import Testing

@Suite("What people read when an error is shown to them")
struct ErrorTextTests {
  private struct Odd: Error {}

  @Test("the localized description of every public error is its description")
  func localized() throws {
    let errors: [(any Error, String)] = [
      (
        RetryError(reason: .attemptsExhausted, attempts: 3, lastError: Odd(), history: [], elapsed: .seconds(2)),
        "gave up after 3 attempts"
      ),
      (AttemptTimeout(limit: .seconds(3)), "the attempt took longer than"), (Permanent(Odd()), "permanent: Odd"),
      (CircuitOpen(name: "api", retryAfter: .seconds(4)), "the circuit breaker api is open"),
      (LimitReached(name: "pool", retryAfter: nil), "the pool is reached"),
      (StreamOverflow(limit: 7), "more than 7 bytes"),
    ]
    for (error, start) in errors {
      #expect(error.localizedDescription == "\(error)")
      #expect(error.localizedDescription.hasPrefix(start), "\(type(of: error))")
    }
  }
}
