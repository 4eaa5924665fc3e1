import RedialCore
import Testing

@testable import RedialModel

@Suite("Policies with a name")
struct NamedPolicyTests {
  private static func policy(_ version: Int, attempts: Int, name: String = "fast") -> StoredPolicy {
    StoredPolicy(
      name: name, version: version, createdAt: Timestamp(microseconds: Int64(version)),
      json: Array(#"{"maxAttempts": \#(attempts)}"#.utf8))
  }

  private func read(_ text: String, _ policies: NamedPolicies) throws -> CallDescriptor {
    let text = Array(text.utf8)
    return try text.withUnsafeBufferPointer {
      try CallDescriptor.read($0, limits: CallDescriptor.Limits(policies: policies))
    }
  }

  @Test("a name means its current policy, although the bytes with the name are the same")
  func changes() throws {
    let policies = NamedPolicies()
    let text = #"{"url": "http://a/", "policy": "fast"}"#
    #expect(throws: Problem.self) { try read(text, policies) }
    for version in 1...3 {
      try policies.add(Self.policy(version, attempts: version * 10), keeping: 2)
      let spec = try read(text, policies).spec
      #expect(spec.policy.maxAttempts == version * 10 && spec.policyName == "fast@\(version)")
    }
    #expect(try read(#"{"url": "http://a/", "policy": "fast@2"}"#, policies).spec.policy.maxAttempts == 20)
    for gone in ["fast@1", "fast@4", "fast@", "fast@02", "fast@2@2", "", "@1"] {
      #expect(throws: Problem.self) { try read(#"{"url": "http://a/", "policy": "\#(gone)"}"#, policies) }
    }
  }

  @Test("a spec keeps the policy and its name without any stored policy, and a client cannot forge them")
  func canonical() throws {
    let policies = NamedPolicies()
    try policies.add(Self.policy(1, attempts: 7), keeping: 2)
    let spec = try read(#"{"url": "http://a/", "policy": "fast"}"#, policies).spec
      .erased(at: Timestamp(microseconds: 1_790_000_000_123_000))
    let kept = try spec.canonicalJSON.withUnsafeBufferPointer { try CallSpec.read(canonicalJSON: $0) }
    #expect(kept.policy == spec.policy && kept.policyName == "fast@1")
    #expect(kept.contentErasedAt == spec.contentErasedAt && kept.canonicalJSON == spec.canonicalJSON)
    #expect(throws: Problem.self) { try read(#"{"url": "http://a/", "policyName": "fast@1"}"#, policies) }
    #expect(throws: Problem.self) { try read(#"{"url": "http://a/", "contentErasedAt": null}"#, policies) }
  }

  @Test("a removed policy's name continues its version numbers until it is forgotten")
  func removal() throws {
    let policies = NamedPolicies()
    try policies.add(Self.policy(4, attempts: 1), keeping: 2)
    let removal = StoredPolicy(name: "fast", version: 5, createdAt: .epoch, json: [])
    try policies.add(removal, keeping: 1)
    #expect(policies.versions(of: "fast").isEmpty && policies.count() == 0)
    #expect(policies.nextVersion(of: "fast") == 6 && policies.longestRemoved(of: 1) == removal)
    #expect(policies.longestRemoved(of: 2) == nil)
    policies.forget(removal)
    #expect(policies.nextVersion(of: "fast") == 1)
  }

  @Test("what a version displaces is what is not kept after it, also after the limit was lowered")
  func displaced() throws {
    let policies = NamedPolicies()
    let versions = (1...4).map { Self.policy($0, attempts: $0) }
    policies.replace(with: versions)
    #expect(policies.displaced(by: Self.policy(5, attempts: 1), keeping: 2) == Array(versions.prefix(3)))
    #expect(policies.displaced(by: Self.policy(5, attempts: 1), keeping: 9).isEmpty)
    let removal = StoredPolicy(name: "fast", version: 5, createdAt: .epoch, json: [])
    #expect(policies.displaced(by: removal, keeping: 9) == versions)
    try policies.add(removal, keeping: 9)
    #expect(policies.displaced(by: Self.policy(6, attempts: 1), keeping: 9) == [removal])
    try policies.add(Self.policy(6, attempts: 1), keeping: 9)
    #expect(policies.versions(of: "fast").map(\.version) == [6] && policies.longestRemoved(of: 1) == nil)
  }
}
