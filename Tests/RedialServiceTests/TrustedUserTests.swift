import HTTPServer
import RedialModel
import Testing

@testable import RedialService

@Suite("People whom a proxy has signed in")
struct TrustedUserTests {
  private func users(_ scopes: String) throws -> TrustedUsers {
    TrustedUsers(
      userField: "x-forwarded-user", groupsField: "x-forwarded-groups", scopes: try #require(GroupScopes(scopes)),
      proxies: try #require(TrustedProxies("127.0.0.1")))
  }

  private func code(_ names: [String], _ groups: [String], _ scopes: String = "ops=read") throws -> String? {
    let users = try users(scopes)
    do throws(Problem) {
      return try users.person(names, groups)?.name
    } catch {
      return error.code.rawValue
    }
  }

  @Test("groups have their scopes together, and those of everybody")
  func scopes() throws {
    let scopes = try #require(GroupScopes(" ops = read,operate ;cn=admins=admin;*=metrics; "))
    #expect(scopes.scopes(of: ["ops"]) == [.read, .operate, .metrics])
    #expect(scopes.scopes(of: ["cn=admins", "ops"]) == [.read, .operate, .metrics, .admin])
    #expect(scopes.scopes(of: ["Ops"]) == [.metrics])
    #expect(try #require(GroupScopes("")).isEmpty)
  }

  @Test("a wrong mapping is refused", arguments: ["ops", "ops=", "=read", "ops=reed", "ops=read,", "a=read;a=admin"])
  func wrong(text: String) {
    #expect(GroupScopes(text) == nil)
  }

  @Test("one name with a group is a person; an empty one is nobody")
  func people() throws {
    #expect(try code(["ada"], ["staff, ops"]) == "ada")
    #expect(try code(["ada"], ["staff", "ops"]) == "untrustedUser")
    #expect(try code([""], ["ops"]) == nil)
    #expect(try code(["ada"], ["staff"]) == "userNotAdmitted")
    #expect(try code(["ada"], []) == "userNotAdmitted")
    #expect(try code(["ada"], [], "*=read") == "ada")
    #expect(try code(["ada", "root"], ["ops"]) == "untrustedUser")
    #expect(try code(["ada\u{1B}[2J"], ["ops"]) == "untrustedUser")
    #expect(try code([String(repeating: "a", count: 256)], ["ops"]) == "untrustedUser")
  }

  @Test("pages of other origins and unknown hosts are refused as without a key")
  func pages() {
    let pages = PageGuard(
      hosts: AllowedHosts("redial.example.com") ?? AllowedHosts(),
      origins: CORSOrigins("https://app.example.com") ?? CORSOrigins())
    func refusal(
      _ authority: String, site: String? = nil, origin: String? = nil, _ exposure: PageGuard.Exposure = .own,
      isShared: Bool = false
    ) -> String? {
      var evidence = PageGuard.Evidence(authority: authority)
      (evidence.site, evidence.origin, evidence.isFromSharedOrigin) = (site, origin, isShared)
      evidence.isReading = origin == nil
      return pages.refusal(of: evidence, to: exposure, asksForKey: false, isRemote: { true })?.code
        .rawValue
    }
    #expect(refusal("redial.example.com") == nil)
    #expect(refusal("redial.example.com", site: "same-origin", origin: "https://redial.example.com") == nil)
    #expect(refusal("evil.example", site: "same-origin") == "hostNotAllowed")
    #expect(refusal("redial.example.com", site: "cross-site") == "crossSiteRequest")
    #expect(refusal("redial.example.com", origin: "https://evil.example") == "crossSiteRequest")
    #expect(refusal("redial.example.com", origin: "https://app.example.com", isShared: true) == "crossSiteRequest")
    #expect(refusal("redial.example.com", .acting) == "forwardNotDeliberate")
  }
}
