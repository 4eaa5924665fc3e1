import Foundation
import HTTPServer
import RedialCore
import RedialEngine
import RedialModel
import RedialTransport
import Testing

@testable import RedialService

@Suite("Settings")
struct SettingsTests {
  private func load(
    flags: [String: String] = [:], environment: [String: String] = [:], file: String? = nil
  ) throws(SettingsFault) -> LoadedSettings {
    try LoadedSettings.load(flags: flags, environment: environment, file: file)
  }

  /// A config file with this content, while `body` runs.
  private func withFile(_ content: String, _ body: (String) throws -> Void) throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("redial-\(UUID().uuidString).json")
    try Data(content.utf8).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    try body(url.path)
  }

  @Test("a flag comes before the environment, that before the file, and that before the default")
  func order() throws {
    try withFile(#"{"maxInFlight": 3, "maxUnfinished": 30, "loops": "2"}"#) { file in
      let loaded = try load(
        flags: ["maxInFlight": "1"], environment: ["REDIAL_MAX_IN_FLIGHT": "2", "REDIAL_MAX_UNFINISHED": "20"],
        file: file)
      #expect(loaded.settings.engine.maxInFlight == 1)
      #expect(loaded.settings.engine.maxUnfinished == 20)
      #expect(loaded.settings.loops == 2)
      #expect(loaded.settings.listen == .tcp(host: "127.0.0.1", port: 8080))
      let lines = loaded.description.split(separator: "\n").map(String.init)
      #expect(lines.contains("calls.maxInFlight = 1  # flag --max-in-flight"))
      #expect(lines.contains("calls.maxUnfinished = 20  # environment REDIAL_MAX_UNFINISHED"))
      #expect(lines.contains("server.loops = 2  # file \(file)"))
      #expect(lines.first == "server.listen = 127.0.0.1:8080  # default")
      #expect(lines.count == Setting.all.count)
    }
  }

  @Test("every setting takes its own default, and names it alike in all three places", arguments: Setting.all.indices)
  func defaults(index: Int) throws {
    let setting = Setting.all[index]
    let text = setting.defaultText
    var settings = ServiceSettings()
    #expect(setting.assign(&settings, text), "\(setting.key) does not take \(text)")
    #expect(setting.read(settings) == text)
    #expect(setting.flag.dropFirst(2).replacing("-", with: "_").uppercased() == setting.variable.dropFirst(7))
    #expect(setting.key.lowercased() == setting.flag.replacing("-", with: ""))
  }

  @Test(
    "an invalid value is refused with the setting, the value, its origin and what is expected",
    arguments: [
      ("listen", "8080"), ("listen", "127.0.0.1:70000"), ("listen", ":80"), ("listen", "::1:80"),
      ("listen", "[127.0.0.1]:80"), ("listen", "unix:"),
      ("socketPermissions", "1000"), ("socketPermissions", "9"),
      ("store", ""), ("maxInFlight", "0"),
      ("maxInFlight", "many"), ("drainTimeout", "8"), ("drainTimeout", "0s"), ("traceShare", "1.5"),
      ("logFormat", "xml"), ("loops", "65"),
    ])
  func invalid(key: String, value: String) throws {
    let fault = #expect(throws: SettingsFault.self) { try load(flags: [key: value]) }
    let message = try #require(fault?.message)
    let setting = try #require(Setting.all.first { $0.key == key })
    let expected = setting.requirement ?? setting.form
    #expect(message == "\(key): \"\(value)\" (flag \(setting.flag)) is not valid; expected \(expected)")
  }

  @Test("a duration of nothing is refused with what it has to be")
  func noDuration() throws {
    let fault = #expect(throws: SettingsFault.self) { try load(flags: ["idempotencyTime": "0s"]) }
    let message = try #require(fault?.message)
    #expect(message.hasSuffix(" is not valid; expected a duration above 0s, such as 500ms, 15m or 3d"), "\(message)")
  }

  @Test("consecutive capitals are one word of a flag and a variable")
  func acronyms() throws {
    for (name, words) in [
      ("minTLS", "min tls"), ("maxTLSVersion", "max tls version"), ("caFile", "ca file"), ("loops", "loops"),
      ("otlpEndpoint", "otlp endpoint"), ("maxConnectionsPerOrigin", "max connections per origin"), ("aURL", "a url"),
    ] {
      #expect(CamelCaseWords(name).words.joined(separator: " ") == words)
    }
    let setting = try #require(Setting.all.first { $0.key == "minTLS" })
    #expect(setting.flag == "--min-tls" && setting.variable == "REDIAL_MIN_TLS")
    for setting in Setting.all { #expect(!setting.flag.contains(/-[a-z](-|$)/), "\(setting.flag)") }
    let fault = #expect(throws: SettingsFault.self) { try load(environment: ["REDIAL_MIN_T_L_S": "1.3"]) }
    #expect(fault?.message.contains("did you mean REDIAL_MIN_TLS?") == true)
  }

  @Test(
    "the variables that a Kubernetes Service puts into every container are ignored",
    arguments: [
      ("REDIAL_PORT", "tcp://10.96.0.7:8080"), ("REDIAL_SERVICE_HOST", "10.96.0.7"), ("REDIAL_SERVICE_PORT", "8080"),
      ("REDIAL_SERVICE_PORT_HTTP_API", "8080"), ("REDIAL_PORT_8080_TCP", "tcp://10.96.0.7:8080"),
      ("REDIAL_PORT_8080_TCP_PROTO", "tcp"), ("REDIAL_PORT_8080_TCP_PORT", "8080"),
      ("REDIAL_PORT_8080_TCP_ADDR", "fd00::7"), ("REDIAL_POSTGRES_PORT", "tcp://10.96.0.8:5432"),
      ("REDIAL_POSTGRES_SERVICE_PORT_HTTP", "80"), ("REDIAL_DNS_PORT_53_UDP_PROTO", "udp"),
      ("REDIAL_MAX_PORT", "sctp://[fd00::7]:1"),
    ])
  func serviceLinks(name: String, value: String) throws {
    #expect(throws: Never.self) { try load(environment: [name: value]) }
  }

  @Test(
    "a variable that only looks like a service link is a typing error",
    arguments: [
      ("REDIAL_PORT", "8080"), ("REDIAL_SERVICE_PORT", "http"), ("REDIAL_SERVICE_HOST", ""),
      ("REDIAL_HOST", "10.0.0.1"),
      ("REDIAL_SERVICE_HOST_NAME", "10.0.0.1"), ("REDIAL_PORT_HTTP_TCP", "tcp://10.0.0.1:80"),
      ("REDIAL_PORT_80_TCP_PROTO", "yes"), ("REDIAL_LISTEN_PORT", "80"), ("REDIAL_SERVICE", "10.0.0.1"),
      ("REDIAL_PORT_99999_TCP", "tcp://10.0.0.1:99999"),
    ])
  func lookalikes(name: String, value: String) throws {
    let fault = #expect(throws: SettingsFault.self) { try load(environment: [name: value]) }
    #expect(fault?.message.contains(name) == true)
  }

  @Test("a mistyped variable or key is an error, and not a default left in force")
  func mistyped() throws {
    #expect(throws: SettingsFault.self) { try load(environment: ["REDIAL_LISTN": "127.0.0.1:1"]) }
    #expect(throws: Never.self) { try load(environment: ["REDIAL_SERVER": "http://x", "PATH": "/bin"]) }
    try withFile(#"{"listn": "127.0.0.1:1"}"#) { file in
      let fault = #expect(throws: SettingsFault.self) { try load(file: file) }
      #expect(fault?.message.contains("listn") == true)
    }
  }

  @Test(
    "a config file that cannot be read is an error that names it",
    arguments: [
      "{\"server\": {\"loops\": {}}}", "{\"breakers\": {}}", "{\"server\": \"x\"}", "", "[]", "{\"loops\": {}}",
      "{\"loops\": 1", "{\"loops\": 1} x", "{\"loops\": null}",
    ])
  func brokenFile(content: String) throws {
    try withFile(content) { file in
      let fault = #expect(throws: SettingsFault.self) { try load(file: file) }
      #expect(fault?.message.contains(file) == true)
    }
    let missing = #expect(throws: SettingsFault.self) { try load(file: "/nonexistent/redial.json") }
    #expect(missing?.message.contains("/nonexistent/redial.json") == true)
  }

  @Test("a secret is never shown")
  func secret() throws {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    let loaded = try load(environment: ["REDIAL_WEBHOOK_SECRET": secret])
    #expect(loaded.settings.webhookSecret == secret)
    #expect(loaded.description.contains("webhooks.secret = (hidden)  # environment REDIAL_WEBHOOK_SECRET"))
    let fault = #expect(throws: SettingsFault.self) { try load(flags: ["webhookSecret": "hunter2"]) }
    #expect(fault?.message.contains("hunter2") == false)
  }

  @Test("a credential in a URL is not shown, in a valid or a refused value")
  func credentials() throws {
    let loaded = try load(environment: [
      "REDIAL_PROXY": "http://hopper:s3cret@proxy.example:3128", "REDIAL_OTLP_HEADERS": "authorization=s3cret",
      "REDIAL_OTLP_ENDPOINT": "https://collector.example/?api=s3cret", "REDIAL_ADMIN_KEY": "s3cret-s3cret-s3cret",
    ])
    #expect(loaded.settings.transport.proxy == "http://hopper:s3cret@proxy.example:3128")
    #expect(!loaded.description.contains("s3cret") && !loaded.description.contains("hopper"))
    #expect(loaded.description.contains("proxy = http://REDACTED@proxy.example:3128  # environment REDIAL_PROXY\n"))
    for setting in Setting.all where setting.key != "store" {
      for value in ["htp://ada:s3cret@h.example:x", "ada:s3cret@h.example\\", "http://ada:s3cret@h.example?s3cret"] {
        do throws(SettingsFault) {
          let description = try load(flags: [setting.key: value]).description
          // Other texts, such as file names, are used unchanged.
          #expect(!value.contains("://") || !description.contains("s3cret"), "\(setting.key)")
        } catch {
          #expect(!(value.contains("://") || setting.isPlace) || !error.message.contains("s3cret"), "\(error.message)")
        }
      }
    }
  }

  @Test(
    "a proxy is a URL with a scheme for proxies",
    arguments: [
      "http://p", "https://p:3128/", "HTTP://p", "socks4://p", "socks4a://p", "socks5://127.0.0.1:1080",
      "socks5h://a:b%40c@[::1]:1080", "http://user@p", "http://a_b.example",
    ])
  func proxies(text: String) throws {
    #expect(try load(flags: ["proxy": text]).settings.transport.proxy == text)
  }

  @Test(
    "anything else is refused as a proxy, by an error that names the setting and the schemes",
    arguments: [
      "htp://p", "p:3128", "ftp://p", "http:/p", "http:p", "://p", "http://", "http://a:b@", "http://p:x",
      "http://p:70000",
      "http://p/path", "http://p?x", "http://a/b@p", "http://a@b@p", "http://p q", "socks://p", "http://p\\q",
      "socks6://p",
    ])
  func noProxies(text: String) throws {
    let fault = #expect(throws: SettingsFault.self) { try load(environment: ["REDIAL_PROXY": text]) }
    let message = try #require(fault?.message)
    #expect(message.hasPrefix("proxy: ") && message.contains("REDIAL_PROXY") && message.contains("socks5h"))
  }

  @Test("every setting is in exactly one group, under a name of its own")
  func groups() {
    #expect(SettingGroup.allCases.flatMap(\.keys).sorted() == Setting.all.map(\.key).sorted())
    #expect(Set(Setting.all.map(\.path)).count == Setting.all.count)
    for setting in Setting.all {
      let name = String(setting.path.drop { $0 != "." }.dropFirst())
      #expect(setting.group.setting(name)?.key == setting.key, "\(setting.path)")
    }
    #expect(Setting.all.filter(\.isCommon).count == 15)
  }

  @Test("the config file has settings in groups, by their keys, or both, but none twice")
  func groupedFile() throws {
    let grouped = #"""
      {"log": {"format": "json"}, "store": {"url": "sqlite:x.db"}, "loops": 2, "egress": "listed",
       "targets": {"defaults": {"maxInFlight": 3, "breaker": {"window": "30s", "failureRate": 0.25}},
                   "rules": [{"match": "a*", "settings": {}}]}}
      """#
    try withFile(grouped) { file in
      let settings = try load(file: file).settings
      #expect(
        settings.engine.target.breaker.failureRate == 0.25
          && settings.engine.target.breaker.window == .time(.seconds(30)))
      #expect(settings.engine.target.maxInFlight == 3 && settings.logFormat == .json)
      #expect(settings.store == "sqlite:x.db" && settings.loops == 2 && settings.egress.reach == .listed)
      #expect(settings.engine.targetRules.count == 1)
    }
    try withFile(#"{"targetDefaults": {"maxInFlight": 9}}"#) { file in
      let settings = try load(file: file).settings
      #expect(settings.engine.target.maxInFlight == 9)
    }
    for (content, words) in [
      (
        "{\"logFormat\": \"json\",\n \"log\": {\"format\": \"json\"}}",
        ["logFormat", "log.format", "1 and 2"]
      ),
      (#"{"store": {"url": "sqlite:a"}, "store": "sqlite:b"}"#, ["store.url and store are", "given twice"]),
      (#"{"loops": 1, "loops": 2}"#, ["loops is given twice"]),
      (#"{"log": {"format": "json"}, "log": {"format": "json"}}"#, ["log.format is given twice"]),
      (#"{"log": {"logFormat": "json"}}"#, ["log.logFormat", "did you mean log.format?"]),
      (#"{"server": {"format": "json"}}"#, ["server.format is not a setting"]),
      (#"{"log.format": "json"}"#, ["log.format is not a setting"]),
      (#"{"log": {"format": "soon"}}"#, ["logFormat", "soon"]),
      (#"{"targets": {"defaults": {"rate": {"perSecond": -1}}}}"#, ["targetDefaults", "line 1", "/rate/perSecond"]),
      (#"{"targets": {"defaults": {"tls": {}}}}"#, ["targetDefaults", "/tls"]),
    ] {
      try withFile(content) { file in
        let fault = #expect(throws: SettingsFault.self) { try load(file: file) }
        for word in words {
          #expect(fault?.message.contains(word) == true, "\(content): \(fault?.message ?? "")")
        }
      }
    }
  }

  @Test("the settings of all targets are those of one, without TLS")
  func targetDefaults() throws {
    let text = #"{"breaker":{"consecutiveFailures":0},"maxInFlight":7,"rate":{"perSecond":0.5}}"#
    let loaded = try load(flags: ["targetDefaults": text])
    let target = loaded.settings.engine.target
    #expect(target.ratePerSecond == 0.5 && target.breaker.consecutiveFailures == 0 && target.maxInFlight == 7)
    #expect(loaded.description.contains("targets.defaults = \(text)  # flag --target-defaults\n"))
  }

  @Test("constants are changed by tests alone; an unknown name or a wrong value is an error")
  func constants() throws {
    let settings = try load(environment: ["REDIAL_TEST_CONSTANTS": "maxScan=100,otlpTimeout=1h"]).settings
    #expect(settings.maxScan == 100 && settings.spans.timeout == .seconds(3600))
    for wrong in ["maxScan", "maxScan=1", "listen=127.0.0.1:1"] {
      let fault = #expect(throws: SettingsFault.self) { try load(environment: ["REDIAL_TEST_CONSTANTS": wrong]) }
      #expect(fault?.message.contains("REDIAL_TEST_CONSTANTS") == true, "\(wrong)")
    }
    for constant in Setting.constants { #expect(!Setting.all.contains { $0.key == constant.key }, "\(constant.key)") }
  }

  @Test("docs/settings.md has all settings, in their groups")
  func readme() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let readme = try String(contentsOf: root.appendingPathComponent("docs/settings.md"), encoding: .utf8)
    for group in SettingGroup.allCases {
      let heading = "| **`\(group.rawValue)`** | | | **\(group.title)** |\n"
      let start = try #require(readme.range(of: heading), "docs/settings.md lacks the row: \(heading)")
      let rows = readme[start.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
        .prefix { $0.hasPrefix("| `") }
      let expected = group.settings.map { setting in
        let byDefault = setting.defaultText.isEmpty ? "" : "`\(setting.defaultText)`"
        return "| `\(setting.key)` | `\(setting.form)` | \(byDefault) | \(setting.summary) |"
      }
      #expect(rows.map(String.init) == expected, "docs/settings.md, \(group.rawValue)")
    }
  }
}
