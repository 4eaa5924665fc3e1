/// A group of settings in the help, the config file and docs/settings.md.
///
/// In the config file a group is an object, and its settings omit the group's name: `logFormat` is `{"log":
/// {"format": "json"}}`. Its key alone, `{"logFormat": "json"}`, means the same.
package enum SettingGroup: String, Sendable, CaseIterable {
  case server, access, store, calls, targets, egress, transport, tls, webhooks, tracing, log

  /// The subject of the settings.
  package var title: String {
    switch self {
    case .server: "Listening and HTTP"
    case .access: "Access and redaction"
    case .store: "The store and retention"
    case .calls: "Calls"
    case .targets: "Targets"
    case .egress: "Where calls may go"
    case .transport: "Requests to targets"
    case .tls: "TLS to targets"
    case .webhooks: "Webhooks"
    case .tracing: "Traces"
    case .log: "The log"
    }
  }

  /// The keys of its settings, in the order of the help.
  var keys: [String] {
    switch self {
    case .server:
      [
        "listen", "socketPermissions", "loops", "maxConnections", "maxBodyBytes", "drainTimeout",
      ]
    case .access:
      [
        "adminKey", "allowUnauthenticated", "allowedHosts", "trustedProxies", "trustedUserHeader",
        "trustedGroupsHeader", "groupScopes", "corsOrigins", "redactHeaders", "redactParameters",
      ]
    case .store:
      [
        "store", "storePasswordFile", "encryptionKeyFile", "encryptionKeyCommand", "leaseDuration", "peerURL",
        "retentionTime", "payloadRetentionTime", "retentionBytes", "auditRetentionTime", "reserveBytes",
        "idempotencyTime", "onRepeat",
      ]
    case .calls:
      ["maxInFlight", "maxHeldBytes", "maxUnfinished", "namespaceShare"]
    case .targets:
      ["targetNaming", "targetDefaults", "targetRules"]
    case .egress: ["egress", "egressAllow", "egressDeny", "proxy"]
    case .transport:
      ["connectTimeout", "maxConnectionsPerOrigin", "maxResponseBytes"]
    case .tls: ["minTLS", "caFile", "tlsDirectory"]
    case .webhooks: ["webhookSecret"]
    case .tracing: ["otlpEndpoint", "otlpHeaders", "otlpService", "traceShare"]
    case .log: ["logFormat", "logLevel"]
    }
  }

  /// The settings, in the order of the help.
  package var settings: [Setting] { keys.compactMap { key in Setting.all.first { $0.key == key } } }

  /// The prefix that a key of the group may have and that the config file omits.
  private var prefix: String {
    switch self {
    case .targets, .webhooks: String(rawValue.dropLast())
    default: rawValue
    }
  }

  /// The setting's name in the group.
  func name(of key: String) -> String {
    switch key {
    case "store": "url"
    case "egress": "reach"
    default:
      if key.hasPrefix(prefix), let first = key.dropFirst(prefix.count).first, first.isUppercase {
        first.lowercased() + key.dropFirst(prefix.count + 1)
      } else {
        key
      }
    }
  }

  func setting(_ name: String) -> Setting? { settings.first { self.name(of: $0.key) == name } }
}

extension Setting {
  /// Its group; a test checks that there is exactly one.
  package var group: SettingGroup { SettingGroup.allCases.first { $0.keys.contains(key) } ?? .server }

  /// Its place in the config file, such as `events.heartbeat`.
  package var path: String { "\(group.rawValue).\(group.name(of: key))" }

  /// Whether it is one of the few that people usually set; the help shows the others on request.
  package var isCommon: Bool {
    [
      "listen", "adminKey", "allowUnauthenticated", "store", "retentionTime", "retentionBytes", "maxBodyBytes",
      "maxInFlight", "targetDefaults", "egress", "egressAllow", "webhookSecret", "otlpEndpoint", "logFormat",
      "logLevel",
    ].contains(key)
  }
}
