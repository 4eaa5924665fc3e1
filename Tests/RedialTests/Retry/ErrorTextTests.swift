import Foundation
@testable import Redial
import Testing

@Suite("What people read when an error is shown to them")
struct ErrorTextTests {
  private struct Odd: Error {}

  @Test("the localized description of every public error is its description")
  func localized() throws {
    let call = RedialCall(
      id: "call_1", state: .running, url: "http://a/", method: "GET", target: "t", labels: [:], createdAt: Date(),
      attemptCount: 2, attempts: [])
    let errors: [(any Error, String)] = [
      (
        RetryError(reason: .attemptsExhausted, attempts: 3, lastError: Odd(), history: [], elapsed: .seconds(2)),
        "gave up after 3 attempts"
      ),
      (AttemptTimeout(limit: .seconds(3)), "the attempt took longer than"), (Permanent(Odd()), "permanent: Odd"),
      (CircuitOpen(name: "api", retryAfter: .seconds(4)), "the circuit breaker api is open"),
      (LimitReached(name: "pool", retryAfter: nil), "the pool is reached"),
      (StreamOverflow(limit: 7), "more than 7 bytes"), (WebhookRejected.wrongSignature, "no signature matches"),
      (UnexpectedAnswer(request: "GET /", status: 200, underlying: Odd()), "the answer of status 200 to GET /"),
      (CallUnfinished(call: call, limit: .seconds(5)), "call_1 is still running after"),
      (UnsupportedByService("policy.deadline", "too long"), "the service does not support policy.deadline: too long"),
    ]
    for (error, start) in errors {
      #expect(error.localizedDescription == "\(error)")
      #expect(error.localizedDescription.hasPrefix(start), "\(type(of: error))")
    }
  }
}
