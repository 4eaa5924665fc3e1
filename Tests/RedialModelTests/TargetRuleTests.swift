import RedialCore
import RedialModel
import Testing

@Suite("Rules for targets that look alike")
struct TargetRuleTests {
  @Test(
    "a pattern is compared with the host of an origin, and with the whole of any other key",
    arguments: [
      ("*", "https://a.example", true), ("*", "webhook:https://a.example", true),
      ("*.internal.example", "https://a.internal.example", true),
      ("*.internal.example", "http://a.b.internal.example:8080", true),
      ("*.internal.example", "https://internal.example", false),
      ("*.Internal.example", "https://A.internal.example", true),
      ("*.internal.example", "https://a.internal.example.evil.example", false),
      ("api.example", "https://api.example:444", true), ("api.example", "https://api.example.org", false),
      ("https://*.example", "https://a.example", true), ("https://*.example", "http://a.example", false),
      ("https://*.example", "https://a.example:444", false), ("https://*.example:*", "https://a.example:444", true),
      ("[::1]", "http://[::1]:80", true), ("bill*", "billing", true), ("bill*", "Billing", false),
      ("bill*", "https://billing.example", true), ("webhook:*", "webhook:https://a.example", true),
      ("*a*b*c", "xxaxxbxxbc", true), ("*a*b*c", "xxaxxbxxbcd", false), ("a", "", false), ("**", "x", true),
    ])
  func matches(pattern: String, key: String, expected: Bool) {
    #expect(TargetRule(match: pattern, settings: TargetOverrides()).matches(key) == expected)
  }

  @Test("rules are read as they were written")
  func roundTrip() throws {
    let text = #"[{"match": "*.example", "settings": {"maxInFlight": 3, "rate": {"perSecond": 2.5}}}, {"match": "b"}]"#
    let rules = try TargetRule.read(text)
    #expect(rules.map(\.match) == ["*.example", "b"])
    #expect(rules[0].settings.maxInFlight == 3 && rules[0].settings.ratePerSecond == 2.5)
    #expect(try TargetRule.read(TargetRule.text(rules)) == rules)
    #expect(TargetRule.text([]).isEmpty)
  }

  @Test(
    "a fault is reported with its line and its member",
    arguments: [
      ("{}", 1, "an array"),
      ("[\n{\"match\": \"a\",\n\"settings\": {\"maxInFlight\": 0}}]", 3, "/0/settings/maxInFlight"),
      ("[{\"match\": \"a\"},\n{\"settings\": {}}]", 2, "/1/match is missing"),
      ("[{\"match\": \"\"}]", 1, "/0/match must have"), ("[{\"match\": \"a\",\n\"x\": 1}]", 2, "/0/x is not a member"),
      ("[\n1]", 2, "/0 must be an object"), ("[{\"match\": \"a\"}]]", 1, ""),
    ])
  func faults(text: String, line: Int, words: String) {
    #expect {
      try TargetRule.read(text)
    } throws: { error in
      guard let fault = error as? TargetRule.Fault else { return false }
      return fault.line == line && (fault.message.contains(words) || words == "an array")
    }
  }
}
