import RedialCore
import Testing

@testable import RedialModel

@Suite("Namespaces")
struct NamespaceTests {
  private static let acme = Namespace("acme")
  private static let names = [
    "", "a", "acme", "https://a.example", "acme\u{1F}x", "default\u{1F}x", "\u{1F}", "Ä\u{301}",
  ]

  @Test("a name has 1 to 63 lower-case letters, digits and hyphens")
  func names() {
    for name in ["a", "acme-1", "0", "-", String(repeating: "x", count: 63)] {
      #expect(Namespace(name)?.name == name)
    }
    for name in ["", "A", "ä", "a b", "a_b", "a\u{1F}", "a.b", String(repeating: "x", count: 64)] {
      #expect(Namespace(name) == nil, "\(name)")
    }
  }

  @Test("a key of the default namespace is its own text, and no two keys have the same one")
  func keys() throws {
    let spaces = [Namespace.default, try #require(Self.acme), try #require(Namespace("b"))]
    var seen: Set<TargetKey> = []
    for space in spaces {
      for name in Self.names {
        let key = TargetKey(name, in: space)
        #expect(seen.insert(key).inserted, "\(space) \(name)")
        #expect(key.namespace == space, "\(space) \(name)")
        #expect(key.bare == name, "\(space) \(name)")
        if space.isDefault, !name.contains("\u{1F}") { #expect(key.text == name) }
      }
    }
  }

  @Test("a client's target name belongs to its namespace, is shown unchanged, and returns so from the store")
  func specs() throws {
    var limits = CallDescriptor.Limits()
    limits.namespace = try #require(Self.acme)
    let text = Array(#"{"url": "https://a.example/x", "target": "billing"}"#.utf8)
    let spec = try text.withUnsafeBufferPointer { try CallDescriptor.read($0, limits: limits) }.spec
    #expect(spec.namespace == Self.acme && spec.targetName == "billing" && spec.target != "billing")
    let stored = spec.canonicalJSON
    #expect(try stored.withUnsafeBufferPointer { try CallSpec.read(canonicalJSON: $0) }.target == spec.target)
    #expect(!String(decoding: spec.redactedJSON(Redaction()), as: UTF8.self).contains("acme"))
    let mine = try text.withUnsafeBufferPointer { try CallDescriptor.read($0) }.spec
    #expect(mine.namespace.isDefault && mine.target == "billing")
    #expect(!String(decoding: mine.canonicalJSON, as: UTF8.self).contains("namespace"))
    let said = Array(#"{"url": "https://a.example/x", "namespace": "acme"}"#.utf8)
    #expect(throws: Problem.self) { try said.withUnsafeBufferPointer { try CallDescriptor.read($0) } }
  }

  @Test("ids that skip some still ascend, within a millisecond and beyond its sequence")
  func identities() {
    var source = CallIDSource(instance: 7)
    var random = RandomSource(seed: 4)
    let now = Timestamp(microseconds: 1_796_083_200_000_000)
    var last = CallID(rawValue: 0)
    var steps: Set<Int64> = []
    for _ in 0..<3000 {
      let next = source.next(at: now, skipping: Int(random.next() & 7))
      #expect(next > last && next.rawValue >> 10 & 1023 == 7)
      steps.insert(next.rawValue - last.rawValue)
      last = next
    }
    #expect(steps.filter { $0 < 1024 } == Set(1...8))
  }

  @Test("a policy of one namespace does not exist in another")
  func policies() throws {
    let acme = try #require(Self.acme)
    let policies = NamedPolicies()
    let text = Array(#"{"maxAttempts": 3}"#.utf8)
    try policies.add(StoredPolicy(name: "fast", version: 1, createdAt: .epoch, json: text, in: acme), keeping: 5)
    #expect(policies.count(in: acme) == 1 && policies.count() == 0 && policies.versions(of: "fast").isEmpty)
    #expect(policies.nextVersion(of: "fast", in: acme) == 2 && policies.nextVersion(of: "fast") == 1)
    if case .found = policies.resolve("fast", in: .default) { Issue.record("it is found from elsewhere") }
    if case .fault = policies.resolve("fast@1", in: acme) { Issue.record("it is not found") }
  }

  @Test("a subscription gets events of its own namespace's targets, with unqualified names")
  func subscriptions() throws {
    let acme = try #require(Self.acme)
    let all = WebhookSubscription(id: "whe_1", url: "http://h.example", events: [.targetOpened], in: acme)
    let one = WebhookSubscription(
      id: "whe_2", url: "http://h.example", events: [.targetOpened], targets: ["billing"], in: acme)
    let own = TargetKey("billing", in: acme)
    #expect(all.wants(.targetOpened, target: own) && one.wants(.targetOpened, target: own))
    #expect(!all.wants(.targetOpened, target: "billing") && !one.wants(.targetOpened, target: "billing"))
    #expect(!one.wants(.targetOpened, target: TargetKey("other", in: acme)))
  }

  @Test("a target's key has its namespace with it, in whichever form it comes")
  func targetKey() throws {
    let acme = try #require(Namespace("acme"))
    let key = TargetKey("billing", in: acme)
    #expect(key.bare == "billing" && key.namespace == acme)
    #expect(TargetKey(qualified: key.text) == key)
    #expect(key != TargetKey("billing", in: .default))
    // What a client of the default namespace writes cannot lead into another.
    let forged = TargetKey(key.text, in: .default)
    #expect(forged != key && forged.namespace == .default && forged.bare == key.text)
  }
}
