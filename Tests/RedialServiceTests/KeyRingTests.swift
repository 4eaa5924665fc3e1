import HTTPServer
import RedialCore
import RedialModel
import Testing

@testable import RedialService

@Suite("API keys")
struct KeyRingTests {
  private static let start = Timestamp(microseconds: 1_796_083_200_000_000)

  private static func isAdmitted(_ verdict: KeyRing.Verdict) -> Bool {
    if case .admitted = verdict { true } else { false }
  }

  private static func status(_ verdict: KeyRing.Verdict) -> Int? {
    if case .refused(let problem, _) = verdict { problem.status } else { nil }
  }

  @Test("a quota is divided by the number of instances, and never to nothing")
  func dividedQuota() throws {
    for (instances, allowed) in [(1, 4), (2, 2), (3, 2), (9, 1)] {
      let ring = KeyRing(adminKey: nil)
      let draft = APIKeyDraft(name: "a", scopes: [.submit], quota: 4)
      let (key, text) = try #require(APIKey.make(draft, in: .default, at: Self.start))
      ring.set(key)
      ring.divideQuotas(among: instances)
      let admitted = (0..<6).count { _ in
        ring.judge("Bearer \(text)", for: .scope(.submit), at: Self.start).problem == nil
      }
      #expect(admitted == allowed)
    }
  }

  @Test("without keys everybody is admitted, and with one nobody without a key")
  func locks() throws {
    let ring = KeyRing(adminKey: nil)
    #expect(Self.isAdmitted(ring.judge(nil, for: .scope(.admin), at: Self.start)))
    var (key, text) = try #require(APIKey.make(APIKeyDraft(name: "a", scopes: [.read]), at: Self.start))
    ring.set(key)
    #expect(Self.status(ring.judge(nil, for: .anyKey, at: Self.start)) == 401)
    #expect(Self.isAdmitted(ring.judge(nil, for: .open, at: Self.start)))
    #expect(Self.isAdmitted(ring.judge("bearer \(text)", for: .scope(.read), at: Self.start)))
    #expect(Self.status(ring.judge("Bearer \(text)", for: .scope(.submit), at: Self.start)) == 403)
    for wrong in ["", "Bearer", "Bearer ", "Bearer rdl_", "Bearer \(text) ", "Basic \(text)", text] {
      #expect(Self.status(ring.judge(wrong, for: .anyKey, at: Self.start)) == 401, "\(wrong)")
    }
    for spaced in ["Bearer\t\(text)", " Bearer \t  \(text)"] {
      #expect(Self.isAdmitted(ring.judge(spaced, for: .scope(.read), at: Self.start)))
    }
    key.revokedAt = Self.start
    ring.set(key)
    #expect(Self.status(ring.judge("Bearer \(text)", for: .scope(.read), at: Self.start)) == 401)
  }

  @Test(
    "a text that looks like a key is for Redial, with any white space",
    arguments: [
      "Bearer rdl_1_x", "bearer  rdl_1_x", "Bearer\trdl_1_x", "BEARER \t rdl_1_x", "\tBearer rdl_1_x", "Bearer rdl_",
    ])
  func credentials(field: String) {
    #expect(KeyRing(adminKey: nil).isCredential(field))
    #expect(!KeyRing(adminKey: nil).isCredential(field.replacing("rdl_", with: "tok_")))
  }

  @Test("a quota is full again after its minute")
  func quota() throws {
    let ring = KeyRing(adminKey: nil)
    let draft = APIKeyDraft(name: "a", scopes: [.read], quota: 2)
    let (key, text) = try #require(APIKey.make(draft, at: Self.start))
    ring.set(key)
    let judge = { ring.judge("Bearer \(text)", for: .scope(.read), at: $0) }
    #expect(Self.isAdmitted(judge(Self.start)))
    #expect(Self.isAdmitted(judge(Self.start + .seconds(30))))
    #expect(Self.status(judge(Self.start + .seconds(59))) == 429)
    #expect(Self.isAdmitted(judge(Self.start + .seconds(60))))
    guard case .refused(let problem, _) = [judge(Self.start + .seconds(61)), judge(Self.start + .seconds(62))][1] else {
      Issue.record("it is not refused")
      return
    }
    #expect(problem.retryAfter == 58)
  }

  @Test("a stream without a key ends when keys are required, and one with a key when that is revoked or removed")
  func goingOn() throws {
    let ring = KeyRing(adminKey: nil)
    let nobody = Caller()
    #expect(ring.refusal(of: nobody) == nil)
    var (key, text) = try #require(APIKey.make(APIKeyDraft(name: "a", scopes: [.read]), at: Self.start))
    ring.set(key)
    #expect(ring.refusal(of: nobody)?.code == .missingAPIKey)
    guard case .admitted(_, let holder) = ring.judge("Bearer \(text)", for: .scope(.read), at: Self.start) else {
      Issue.record("the key is not admitted")
      return
    }
    #expect(ring.refusal(of: holder) == nil)
    key.revokedAt = Self.start
    ring.set(key)
    #expect(ring.refusal(of: holder)?.code == .invalidAPIKey)
    #expect(KeyRing(adminKey: nil).refusal(of: holder)?.code == .invalidAPIKey, "a key that is not kept is no key")

    let admin = KeyRing(adminKey: "0123456789abcdef")
    guard case .admitted(_, let caller) = admin.judge("Bearer 0123456789abcdef", for: .anyKey, at: Self.start) else {
      Issue.record("the admin key is not admitted")
      return
    }
    #expect(admin.refusal(of: caller) == nil && admin.refusal(of: nobody)?.status == 401)
  }

  @Test("a key is read back from the store, without its text")
  func document() throws {
    let draft = APIKeyDraft(name: "ci \"x\"", scopes: [.submit, .operate], quota: 7)
    var (key, text) = try #require(APIKey.make(draft, at: Self.start))
    key.revokedAt = Self.start + .seconds(1)
    let read = try #require(APIKey(document: key.document.content))
    #expect(read.id == key.id && read.name == key.name && read.scopes == key.scopes)
    #expect(read.quota == 7 && read.revokedAt == key.revokedAt && read.matches(text))
    #expect(!read.matches(text + "x"))
    #expect(!String(decoding: key.document.content, as: UTF8.self).contains(text.dropFirst(18)))
    #expect(APIKey(document: Array("{}".utf8)) == nil)
    let earlier = String(decoding: key.document.content, as: UTF8.self).replacing("quota", with: "requestsPerMinute")
    #expect(APIKey(document: Array(earlier.utf8)) == read)
  }

  @Test("a key acts only in its namespace, and one from before namespaces in the default one")
  func namespaces() throws {
    let acme = try #require(Namespace("acme"))
    let ring = KeyRing(adminKey: "0123456789abcdef")
    func caller(_ draft: APIKeyDraft, in namespace: Namespace) throws -> Caller {
      let (key, text) = try #require(APIKey.make(draft, in: namespace, at: Self.start))
      ring.set(try #require(APIKey(document: key.document.content)))
      guard case .admitted(_, let caller) = ring.judge("Bearer \(text)", for: .anyKey, at: Self.start) else {
        throw Problem(.notReady, detail: "")
      }
      return caller
    }
    let admin = APIKeyDraft(name: "a", scopes: [.admin])
    let tenant = try caller(admin, in: acme)
    let operate = try caller(admin, in: .default)
    let other = try caller(APIKeyDraft(name: "r", scopes: [.read]), in: .default)
    #expect(tenant.namespace == acme && !tenant.isOperator)
    #expect(operate.namespace.isDefault && operate.isOperator && !other.isOperator)
    #expect(ring.all(of: tenant).count == 1 && ring.all(of: operate).count == 3)
    #expect(throws: Problem.self) { try tenant.acting(in: "default", .anyKey) }
    #expect(throws: Problem.self) { try operate.acting(in: "acme", .anyKey) }
    #expect(throws: Problem.self) { try Caller().acting(in: "Acme", .anyKey) }
    #expect(try Caller().acting(in: "acme", .anyKey).namespace == acme)
    #expect(throws: Problem.self) { try tenant.requireDefaultNamespace() }

    var (key, _) = try #require(APIKey.make(admin, in: acme, at: Self.start))
    key.revokedAt = Self.start
    let text = String(decoding: key.document.content, as: UTF8.self)
    #expect(APIKey(document: key.document.content)?.namespace == acme)
    let older = text.replacing(#""namespace":"acme","#, with: "")
    #expect(older != text && APIKey(document: Array(older.utf8))?.namespace == .default)
  }
}
