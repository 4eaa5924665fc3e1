import RedialCore
import RedialModel
import Testing

@testable import RedialService

@Suite("The quota of API keys")
struct KeyQuotaTests {
  private static let start = Timestamp(microseconds: 1_796_083_200_000_000)

  /// Keys of a namespace, of which the first ones were revoked, each a second after the one before.
  private func keys(_ count: Int, revoked: Int = 0, in namespace: Namespace = .default) throws -> [APIKey] {
    try (0..<count).map { number in
      var (key, _) = try #require(
        APIKey.make(APIKeyDraft(name: "\(number)", scopes: [.read]), in: namespace, at: Self.start))
      if number < revoked { key.revokedAt = Self.start + .seconds(number) }
      return key
    }
  }

  private func forgotten(
    for namespace: Namespace = .default, _ keys: [APIKey], after: Duration = .zero
  ) -> [String]? {
    KeyQuota.forgotten(for: namespace, among: keys, at: Self.start + after)?.map(\.name)
  }

  private static func tenant(_ number: Int) throws -> Namespace { try #require(Namespace("tenant-\(number)")) }

  @Test("a namespace whose keys are all valid gets no more, and one with revoked keys replaces the oldest of them")
  func ofNamespace() throws {
    let tenant = try Self.tenant(1)
    let full = try keys(KeyQuota.mostOfNamespace, in: tenant)
    #expect(forgotten(for: tenant, full) == nil)
    #expect(forgotten(for: tenant, Array(full.dropLast())) == [])
    #expect(forgotten(for: tenant, try keys(KeyQuota.mostOfNamespace, revoked: 3, in: tenant).reversed()) == ["0"])
    #expect(forgotten(for: try Self.tenant(2), full) == [])
    #expect(forgotten(full) == [])
  }

  @Test("however many keys the others have, the default namespace can make keys, and is refused last")
  func ofOthers() throws {
    var all = try (0..<9).flatMap { try keys(KeyQuota.mostOfNamespace, in: Self.tenant($0)) }
    #expect(all.count == KeyQuota.mostOfOthers)
    #expect(forgotten(for: try Self.tenant(10), all) == nil)
    #expect(forgotten(all) == [])
    all += try keys(KeyQuota.most - KeyQuota.mostOfOthers - 1)
    #expect(forgotten(all) == [])
    all += try keys(1)
    #expect(forgotten(all) == nil)
    all[5].revokedAt = Self.start
    #expect(forgotten(all) == [all[5].name])
    #expect(forgotten(for: try Self.tenant(10), all) == [all[5].name])
    // Other namespaces must not displace the revoked keys of the default namespace.
    all[5].revokedAt = nil
    all[all.count - 1].revokedAt = Self.start
    #expect(forgotten(for: try Self.tenant(10), all) == nil && forgotten(all)?.count == 1)
  }

  @Test("a key that was revoked long ago is forgotten in any case, and no more than so many at a time")
  func age() throws {
    let some = try keys(5, revoked: 3)
    #expect(forgotten(some, after: KeyQuota.memory - .seconds(1)) == [])
    #expect(forgotten(some, after: KeyQuota.memory + .seconds(1)) == ["0", "1"])
    let many = try keys(KeyQuota.mostForgotten + 5, revoked: KeyQuota.mostForgotten + 5)
    #expect(forgotten(many, after: KeyQuota.memory * 2)?.count == KeyQuota.mostForgotten)
  }

  @Test("a refusal says nothing about other namespaces")
  func problem() throws {
    let detail = KeyQuota.problem(in: try Self.tenant(1)).detail
    #expect(detail.contains("\(KeyQuota.mostOfNamespace)"))
    #expect(!detail.contains("\(KeyQuota.most)") && !detail.contains("\(KeyQuota.mostOfOthers)"))
  }

  @Test("a forgotten key admits nobody, and a key is still required")
  func forgottenKey() throws {
    let ring = KeyRing(adminKey: nil)
    let (key, text) = try #require(APIKey.make(APIKeyDraft(name: "a", scopes: [.read]), at: Self.start))
    ring.set(key)
    ring.forget(key.id)
    #expect(ring.isRequired && ring.all.isEmpty)
    #expect(ring.judge("Bearer \(text)", for: .anyKey, at: Self.start).problem?.status == 401)
  }
}
