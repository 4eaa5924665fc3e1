import Testing

@testable import RedialModel

@Suite("TLS settings by origin")
struct OriginTLSTests {
  private let one = "https://one.example"
  private let other = "https://other.example"
  private let certificate = TargetTLS(certificate: "/c.pem", key: "/c.key", minVersion: .tls13)
  private let identity = TargetTLS(certificate: "/c.pem", key: "/c.key")

  /// The target that is named as an origin.
  private func own(_ origin: String) -> TargetKey { TargetKey(origin, in: .default) }

  @Test("a certificate is used only for its origin, by calls to its target")
  func certificates() {
    var settings = OriginTLS()
    #expect(settings.isEmpty && settings.settings(for: one, of: own(one)) == nil)
    settings.set(certificate, of: own(one))
    #expect(settings.settings(for: one, of: own(one)) == certificate)
    #expect(settings.settings(for: one, of: "billing") == certificate)
    #expect(settings.settings(for: other, of: own(one)) == nil)
    #expect(settings.settings(for: one, of: "billing", isRedirected: true) == TargetTLS(minVersion: .tls13))
    // Another tenant's settings are separate, and those of a name are not used without it.
    settings.set(TargetTLS(certificate: "/b.pem", origins: [other, one]), of: "billing")
    #expect(settings.settings(for: one, of: "billing")?.certificate == "/b.pem")
    #expect(settings.settings(for: one, of: own(one))?.certificate == "/c.pem")
    #expect(settings.settings(for: other, of: own(other)) == nil)
    #expect(settings.settings(for: other, of: "billing") == TargetTLS(certificate: "/b.pem"))
    settings.set(nil, of: "billing")
    settings.set(nil, of: own(one))
    #expect(settings.isEmpty && settings.settings(for: one, of: "billing") == nil)
  }

  @Test("settings of a name without origins apply nowhere")
  func nameless() {
    var settings = OriginTLS()
    settings.set(certificate, of: "billing")
    settings.set(certificate, of: "webhook:whe_1")
    #expect(settings.settings(for: one, of: "billing") == nil)
    #expect(settings.settings(for: one, of: "webhook:whe_1") == nil)
    settings.set(certificate, of: "webhook:\(one)")
    #expect(settings.settings(for: one, of: "webhook:\(one)") == certificate)
    #expect(settings.settings(for: other, of: "webhook:\(one)") == nil)
    #expect(certificate.origins(of: "HTTPS://one.example").isEmpty && certificate.origins(of: "\(one)/").isEmpty)
  }

  @Test("all pins of an origin apply together, and those that exclude each other allow nothing")
  func pins() {
    let (a, b, c) = ("a", "b", "c")
    var settings = OriginTLS()
    settings.set(TargetTLS(pins: [a, b]), of: own(one))
    settings.set(TargetTLS(pins: [b, c], origins: [one]), of: "billing")
    for target in [own(one), "billing", "other", own(other)] {
      #expect(settings.settings(for: one, of: target)?.pins == [b], "\(target)")
      #expect(settings.settings(for: one, of: target, isRedirected: true)?.pins == [b], "\(target)")
      #expect(settings.settings(for: other, of: target) == nil)
    }
    settings.set(TargetTLS(pins: [c], origins: [one]), of: "more")
    #expect(settings.settings(for: one, of: own(other))?.pins == [TargetTLS.impossiblePin])
  }

  @Test("settings of one namespace apply in no other")
  func namespaces() throws {
    let acme = try #require(Namespace("acme"))
    var settings = OriginTLS(rules: [
      TargetRule(match: "https://*", settings: Self.overrides(TargetTLS(certificate: "/r.pem", minVersion: .tls13)))
    ])
    settings.set(TargetTLS(certificate: "/a.pem", pins: ["a"], origins: [one]), of: TargetKey("t", in: acme))
    #expect(settings.settings(for: one, of: "t") == TargetTLS(certificate: "/r.pem", minVersion: .tls13))
    #expect(
      settings.settings(for: one, of: TargetKey("t", in: acme))
        == TargetTLS(certificate: "/a.pem", pins: ["a"], minVersion: .tls13))
    // The operator's certificate is only for the default namespace.
    #expect(settings.settings(for: other, of: TargetKey("t", in: acme)) == TargetTLS(minVersion: .tls13))
  }

  @Test("a rule's settings apply to the target's own origin, or to those that it lists")
  func rules() {
    let rules = [
      TargetRule(
        match: "bill*", settings: Self.overrides(TargetTLS(certificate: "/b.pem", pins: ["p"], origins: [one]))),
      TargetRule(match: "*.example", settings: Self.overrides(identity)),
    ]
    let settings = OriginTLS(rules: rules)
    #expect(!settings.isEmpty)
    #expect(settings.settings(for: other, of: own(other)) == identity)
    #expect(settings.settings(for: other, of: "x.example") == identity, "the origin's own")
    #expect(settings.settings(for: "https://evil.test", of: "x.example") == nil)
    #expect(settings.settings(for: "https://evil.test", of: own(other)) == nil)
    #expect(settings.settings(for: one, of: "billing") == TargetTLS(certificate: "/b.pem", pins: ["p"]))
    #expect(settings.settings(for: one, of: own(one)) == TargetTLS(certificate: "/c.pem", key: "/c.key", pins: ["p"]))
  }

  private static func overrides(_ tls: TargetTLS) -> TargetOverrides {
    var overrides = TargetOverrides()
    overrides.tls = tls
    return overrides
  }
}
