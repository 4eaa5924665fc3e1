import Foundation
import Redial
import RedialModel
import RedialTestSupport
import Testing

@Suite("A policy in a file, read by the library and by the service")
struct PolicyFileTests {
  /// The policy of a call, as the service reads it; nil if it refuses the call.
  private func atService(_ json: String) -> RetryPolicy? {
    let bytes = Array(#"{"url": "http://127.0.0.1:1/a", "policy": \#(json)}"#.utf8)
    return try? bytes.withUnsafeBufferPointer { try CallDescriptor.read($0) }.spec.policy
  }

  private func inLibrary(_ json: String) throws -> RetryPolicy {
    try JSONDecoder().decode(RetryPolicy.self, from: Data(json.utf8))
  }

  @Test("what a policy is written as, both read alike", arguments: WireTests.options + WireTests.sayable)
  func written(policy: RetryPolicy) throws {
    let json = String(decoding: try JSONEncoder().encode(policy), as: UTF8.self)
    #expect(atService(json) == policy.asRead)
    let read = try inLibrary(json)
    #expect(read.asRead == policy.asRead && read.onTrip == policy.onTrip)
    // An endless time stays endless, but a timeout.
    #expect(read.deadline == policy.deadline || policy.deadline == .seconds(366 * 86_400))
  }

  @Test("every curve with every jitter is read as it was written", arguments: WireTests.curves, WireTests.jitters)
  func backoffs(curve: BackoffCurve, jitter: Jitter) throws {
    for cap in CapMode.allCases {
      let backoff = Backoff(curve, maximum: .seconds(100 * 86_400), jitter: jitter, cap: cap)
      #expect(try JSONDecoder().decode(Backoff.self, from: JSONEncoder().encode(backoff)) == backoff)
    }
  }

  static let texts = [
    "{}", #"{"deadline": null, "backoff": null, "onTrip": null, "retryOn": null, "attemptTimeout": null}"#,
    #"{"backoff": {"initial": null, "strategy": null, "schedule": null}, "retryOn": {"network": null}}"#,
    #"{"maxAttempts": null}"#, #"{"maxAttempts": 7}"#, #"{"deadline": "PT5M"}"#,
    #"{"attemptTimeout": "1h", "lastAttempt": "pullForward", "minAttemptTime": "2s"}"#,
    #"{"retryOn": {"network": false}}"#, #"{"retryOn": {"network": true, "statuses": [503, "429", "500-502"]}}"#,
    #"{"retryOn": {"network": "notSent", "statusesWithRetryAfter": []}}"#, #"{"stopOn": {"statuses": ["404"]}}"#,
    #"{"stopOn": {}}"#, #"{"retryAfter": {"mode": "ignore"}}"#,
    #"{"retryAfter": {"max": "2h", "beyond": "clamp", "spread": 0.5, "statuses": [429]}}"#, #"{"onTrip": "fail"}"#,
    #"{"backoff": {}}"#, #"{"backoff": {"initial": "2s"}}"#, #"{"backoff": {"schedule": ["1s", "5m"]}}"#,
    #"{"backoff": {"strategy": "schedule", "schedule": ["1s"], "then": "stop", "jitter": "none"}}"#,
    #"{"backoff": {"strategy": "linear", "initial": "1s"}}"#, #"{"backoff": {"strategy": "fibonacci"}}"#,
    #"{"backoff": {"strategy": "polynomial", "first": 0, "offset": "15s"}}"#,
    #"{"backoff": {"strategy": "doublingsThenLinear", "doublings": 3, "cap": "afterJitter"}}"#,
    #"{"backoff": {"strategy": "decorrelatedSmooth", "initial": "2s"}}"#,
    #"{"backoff": {"jitter": "additive", "spread": "3s"}}"#, #"{"backoff": {"jitter": "additivePerRetry"}}"#,
    #"{"backoff": {"factor": 0.1, "multiplier": 1.25}}"#,
    #"{"deadline": null, "retryOn": null, "backoff": {"max": null}, "retryAfter": {"statuses": null}}"#,
  ]

  @Test("the same text means the same to both", arguments: texts)
  func sameText(json: String) throws {
    #expect(try inLibrary(json).asRead == atService(json))
  }

  /// Each with what the library says of it.
  static let refused = [
    (#"{"attempts": 3}"#, "attempts is none of"),
    (#"{"maxAttempts": 0}"#, "maxAttempts must be a number from 1 to 1000"),
    (#"{"maxAttempts": "3"}"#, "maxAttempts"), (#"{"maxAttempts": 3.5}"#, "maxAttempts must be a number from"),
    (#"{"deadline": 5}"#, "deadline"),
    (#"{"deadline": "soon"}"#, "deadline must be a duration such as"), (#"{"deadline": "400d"}"#, "from 1ms to 366d"),
    (#"{"attemptTimeout": "61m"}"#, "attemptTimeout must be from 1ms to 1h, and is 61m"),
    (#"{"onTrip": "hang"}"#, "onTrip must be wait or fail, and is hang"),
    (#"{"retryOn": {"network": "maybe"}}"#, "retryOn.network"), (#"{"retryOn": {"statuses": ["99"]}}"#, "one is 99"),
    (#"{"retryOn": {"statuses": "500"}}"#, "retryOn.statuses"), (#"{"retryOn": {"never": 1}}"#, "never is none of"),
    (#"{"stopOn": {"statuses": ["1000"]}}"#, "stopOn.statuses"), (#"{"retryAfter": {"spread": 2}}"#, "from 0 to 1"),
    (#"{"backoff": {"strategy": "x"}}"#, "backoff.strategy"), (#"{"backoff": {"multiplier": 0.5}}"#, "from 1 to 100"),
    (#"{"backoff": {"strategy": "constant", "multiplier": 2}}"#, "does not go with the constant strategy"),
    (#"{"backoff": {"strategy": "schedule"}}"#, "is required with the schedule strategy"),
    (#"{"backoff": {"schedule": []}}"#, "1 to 100 elements"),
    (#"{"backoff": {"strategy": "decorrelated", "jitter": "full"}}"#, "backoff.jitter does not go"),
    (#"{"backoff": {"jitter": "full", "factor": 0.1}}"#, "goes with proportional jitter only"),
    (#"{"backoff": {"initial": "20m"}}"#, "is longer than the longest wait"),
  ]

  @Test("what the service refuses the library refuses, and says where and why", arguments: refused)
  func refusals(json: String, says: String) throws {
    #expect(atService(json) == nil)
    let error = try #require(throws: DecodingError.self) { try inLibrary(json) }
    let text: String
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
      .dataCorrupted(let context):
      text = context.codingPath.map(\.stringValue).joined(separator: ".") + " " + context.debugDescription
    @unknown default: text = "\(error)"
    }
    #expect(text.contains(says), "\(text)")
  }

  @Test("what the service has no words for is not written", arguments: [RetryPolicy.aws, .exponentialBackOff])
  func unsupported(policy: RetryPolicy) {
    #expect(throws: UnsupportedByService.self) { try JSONEncoder().encode(policy) }
  }
}
