import RedialCore
@testable import RedialModel
import Testing

@Suite("Warnings for clients")
struct CallWarningTests {
  private static func codes(_ members: String) throws -> [String] {
    let bytes = Array("{\(members)}".utf8)
    return try bytes.withUnsafeBufferPointer { try CallDescriptor.read($0) }.spec.warnings.map(\.code)
  }

  static let cases: [(String, [String])] = [
    (#""url": "http://x/""#, []),
    (#""url": "http://x/", "policy": {"maxAttempts": 3}"#, ["attemptsEndEarly"]),
    (
      #""url": "http://x/", "policy": {"maxAttempts": 3, "deadline": "20s"}"#,
      ["timeoutBeyondDeadline", "deadlineWithinPause"]
    ),
    (#""url": "http://x/", "policy": {"deadline": "1m"}"#, ["deadlineWithinPause"]),
    (#""url": "http://x/", "policy": {"deadline": "1m", "onTrip": "fail", "retryAfter": {"mode": "ignore"}}"#, []),
    (#""url": "http://x/", "idempotent": false"#, []),
    (
      #""url": "http://x/", "idempotent": false, "policy": {"retryOn": {"statuses": ["500-599"]}}"#,
      ["permanentStatusRetried", "permanentStatusRetried", "permanentStatusRetried", "repeatsThoughNotIdempotent"]
    ),
    (
      #""url": "http://x/", "idempotent": false, "policy": {"retryOn": {"network": true}}"#,
      ["repeatsThoughNotIdempotent"]
    ),
    (#""url": "https://hooks.slack.com/services/T0/B0/x""#, ["sharedOrigin"]),
    (#""url": "https://hooks.slack.com/services/T0/B0/x", "target": "team-a""#, []),
    (#""url": "https://hooks.slack.com.example.com/""#, []),
  ]

  @Test("each warning comes with the calls that cause it", arguments: cases)
  func warnings(members: String, expected: [String]) throws {
    #expect(try Self.codes(members) == expected, "\(members)")
  }

  @Test("a call that was accepted before has none")
  func stored() throws {
    let bytes = Array(#"{"url": "https://hooks.zapier.com/"}"#.utf8)
    let spec = try bytes.withUnsafeBufferPointer { try CallDescriptor.read($0) }.spec
    let again = try spec.canonicalJSON.withUnsafeBufferPointer { try CallSpec.read(canonicalJSON: $0) }
    #expect(spec.warnings.count == 1 && again.warnings.isEmpty && again.policyName == "default")
  }
}
