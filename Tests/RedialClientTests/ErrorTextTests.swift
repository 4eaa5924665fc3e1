import Foundation
@testable import RedialClient
import Testing

@Suite("What people read when an error of the client is shown to them")
struct ErrorTextTests {
  private struct Odd: Error {}

  @Test("the localized description of every public error is its description")
  func localized() throws {
    let call = RedialCall(
      id: "call_1", state: .running, url: "http://a/", method: "GET", target: "t", labels: [:], createdAt: Date(),
      attemptCount: 2, attempts: [])
    let errors: [(any Error, String)] = [
      (WebhookRejected.wrongSignature, "no signature matches"),
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
