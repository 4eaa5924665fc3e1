import RedialModel
import Testing

@testable import RedialEngine

@Suite("Rules in other namespaces")
struct RuleNamespaceTests {
  @Test("a rule's certificate is shown for no other namespace, and the rest of the rule holds there, too")
  func identity() throws {
    var settings = EngineSettings()
    var overrides = TargetOverrides()
    overrides.maxInFlight = 3
    overrides.tls = TargetTLS(certificate: "/a.pem", key: "/a.key", caFile: "/ca.pem", minVersion: .tls13)
    settings.targetRules = [TargetRule(match: "*", settings: overrides)]
    let own = settings.target(by: settings.rule(for: "https://a"))
    #expect(own.tls == overrides.tls && own.maxInFlight == 3)
    let acme = try #require(Namespace("acme"))
    let other = settings.target(by: settings.rule(for: TargetKey("https://a", in: acme)))
    #expect(other.maxInFlight == 3)
    #expect(other.tls == TargetTLS(caFile: "/ca.pem", minVersion: .tls13))
  }
}
