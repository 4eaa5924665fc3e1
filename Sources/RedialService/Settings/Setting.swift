internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialTransport
internal import RedialText

/// One setting, which can be set by a flag, an environment variable or the config file.
package struct Setting: Sendable {
  /// Its key in the config file, in camelCase.
  package let key: String
  /// The form of its value, for people.
  package let form: String
  /// Its meaning.
  package let summary: String
  /// Whether its value must not be shown.
  package let isSecret: Bool
  /// Returns its value as text.
  let read: @Sendable (ServiceSettings) -> String
  /// Sets it from text; false for an invalid text.
  let assign: @Sendable (inout ServiceSettings, String) -> Bool
  /// A variable of OpenTelemetry with the same meaning; Redial's own has precedence.
  var sharedVariable: String?
  /// For a setting with parts: the wrong part of a text, and its line; nil if all are right.
  var fault: @Sendable (String) -> TargetRule.Fault? = { _ in nil }

  /// What a value has to be, for people; nil if the form says it all.
  var requirement: String?

  /// Whether it is a URL, or names a place like one, that may contain credentials.
  var isPlace = false

  /// A value of it as people may see it: without credentials in a URL, wherever it was set.
  func displayed(_ value: String) -> String {
    let mayBePlace = value.contains("://") && !value.hasPrefix("sqlite:")
    return isPlace || mayBePlace && key != "targetRules" ? Redaction.place(value) : value
  }

  /// The flag: the key in kebab-case after two hyphens.
  package var flag: String { "--" + words.joined(separator: "-") }
  /// The environment variable: the key in upper case after `REDIAL_`.
  package var variable: String { "REDIAL_" + words.map { $0.uppercased() }.joined(separator: "_") }
  /// The value if nobody sets it.
  package var defaultText: String { read(ServiceSettings()) }

  private var words: [String] { CamelCaseWords(key).words }
}

extension Setting {
  /// Every setting, in the order of the help.
  package static let all: [Setting] = [
    Setting(
      key: "listen", form: "HOST:PORT or unix:PATH",
      summary: "Address to listen on, such as [::1]:8080. Port 0 takes any free port.", isSecret: false,
      read: { $0.listen.description },
      assign: { settings, text in
        guard let address = ListenAddress(text) else { return false }
        settings.listen = address
        return true
      }),
    Setting(
      key: "socketPermissions", form: "0000...0777",
      summary: "Mode of the Unix domain socket's file: users who may write to it may connect.", isSecret: false,
      read: { octal($0.socketPermissions) },
      assign: { settings, text in
        guard let mode = UInt16(text, radix: 8), mode <= 0o777 else { return false }
        settings.socketPermissions = Int(mode)
        return true
      }),
    Setting(
      key: "allowUnauthenticated", form: "true or false",
      summary: "Whether to listen for other machines without an API key.", isSecret: false,
      read: { "\($0.allowUnauthenticated)" },
      assign: { settings, text in
        settings.allowUnauthenticated = text == "true"
        return text == "true" || text == "false"
      }),
    Setting(
      key: "allowedHosts", form: "NAME,...",
      summary:
        "Host names, such as redial or *.internal.example.com, that a service without API keys answers to, "
        + "besides localhost and addresses; * for all.", isSecret: false,
      read: { $0.allowedHosts.names.joined(separator: ",") },
      assign: { settings, text in
        guard let hosts = AllowedHosts(text) else { return false }
        settings.allowedHosts = hosts
        return true
      }),
    Setting(
      key: "trustedProxies", form: "ADDRESS[/BITS] or unix,...",
      summary:
        "Reverse proxies whose X-Forwarded-Prefix, -Proto and -Host are used: addresses, CIDR blocks, or "
        + "unix for clients of a Unix domain socket; see docs/proxies.md.", isSecret: false,
      read: { $0.trustedProxies.entries.joined(separator: ",") },
      assign: { settings, text in
        guard let proxies = TrustedProxies(text) else { return false }
        settings.trustedProxies = proxies
        return true
      }),
    Setting(
      key: "corsOrigins", form: "ORIGIN,...",
      summary:
        "Origins, such as https://app.example.com, whose web pages may use the API with an API key (CORS); "
        + "see docs/proxies.md.", isSecret: false,
      read: { $0.corsOrigins.names.joined(separator: ",") },
      assign: { settings, text in
        guard let origins = CORSOrigins(text) else { return false }
        settings.corsOrigins = origins
        return true
      }),
    headerName(
      "trustedUserHeader", \.trustedUserHeader,
      "Header field in which one of the trustedProxies names the person who has signed in, such as X-Forwarded-User; see "
        + "docs/signing-in.md."),
    headerName(
      "trustedGroupsHeader", \.trustedGroupsHeader, "Header field with the groups of that person, separated by commas."),
    Setting(
      key: "groupScopes", form: "GROUP=SCOPE,...;...",
      summary:
        "What people of a group may do, such as ops=read,operate;admins=admin; * is everybody who has signed in.",
      isSecret: false,
      read: { $0.groupScopes.text },
      assign: { settings, text in
        guard let scopes = GroupScopes(text) else { return false }
        settings.groupScopes = scopes
        return true
      }),
    Setting(
      key: "adminKey", form: "16 to 255 visible ASCII characters",
      summary: "API key that allows everything, in addition to those that `redial keys` makes.", isSecret: true,
      read: { $0.adminKey ?? "" },
      assign: { settings, text in
        settings.adminKey = text.isEmpty ? nil : text
        return text.isEmpty || (16...255).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
      }),
    store,
    optionalText(
      "storePasswordFile", \.storePasswordFile, "PATH",
      "File with the password for PostgreSQL."),
    optionalText(
      "encryptionKeyFile", \.encryptionKeyFile, "PATH",
      "File of mode 0600 with 32 random bytes in base 64, which encrypt what the store has of calls; see docs/encryption.md."
    ),
    optionalText(
      "encryptionKeyCommand", \.encryptionKeyCommand, "PATH",
      "Program that wraps and unwraps keys in place of encryptionKeyFile; see docs/encryption.md."),
    duration(
      "leaseDuration", \.leaseDuration, in: .seconds(1)...(.seconds(60)),
      "How long an instance that died keeps its targets, on PostgreSQL."),
    Setting(
      key: "peerURL", form: "http://HOST:PORT",
      summary:
        "URL at which other instances reach this one; by default where it listens.", isSecret: false,
      read: { $0.peerURL ?? "" },
      assign: { settings, text in
        settings.peerURL = text.isEmpty ? nil : text
        return text.isEmpty || PeerURL.isValid(text)
      }),
    Setting(
      key: "webhookSecret", form: "whsec_BASE64",
      summary: "Secret that signs callbacks; by default one is made and kept encrypted in the store.", isSecret: true,
      read: { $0.webhookSecret ?? "" },
      assign: { settings, text in
        settings.webhookSecret = text.isEmpty ? nil : text
        return text.isEmpty || WebhookSecret(text) != nil
      }),
    whole("maxBodyBytes", \.maxBodyBytes, 0...(64 << 20), "Maximum size of a call's request body, in bytes."),
    whole(
      "maxConnections", \.maxConnections, 1...1_000_000,
      "Maximum open connections of clients. At the limit idle ones are closed; if all are busy, new ones get 503."),
    whole("loops", \.loops, 1...64, "Event loops of the HTTP server."),
    whole("maxInFlight", \.engine.maxInFlight, 1...100_000, "Maximum attempts in flight."),
    share(
      "namespaceShare", \.engine.namespaceShare,
      "Maximum share of maxInFlight, maxUnfinished, calls in memory and all targets for one namespace, if there is "
        + "another; see docs/access.md."),
    whole(
      "maxHeldBytes", \.engine.maxHeldBytes, 1...Int.max,
      "Maximum bytes of request bodies of calls that wait in memory. Bodies of attempts in flight are not "
        + "counted."),
    whole(
      "maxUnfinished", \.engine.maxUnfinished, 1...Int.max, "Maximum unfinished calls; beyond it new ones are refused."
    ),
    duration(
      "idempotencyTime", \.engine.idempotencyTime, "How long the Idempotency-Key of a submission is remembered."),
    choice(
      "onRepeat", \.repetitionRule,
      "What a submission does under the Idempotency-Key of a call that has failed or was cancelled, if the call does not "
        + "say; see docs/calls-in-detail.md."),
    duration("retentionTime", \.retention.time, "How long a call is kept after its end."),
    Setting(
      key: "payloadRetentionTime", form: "duration",
      summary:
        "How long a call's header fields, bodies and query are kept after its end; by default as long as the call.",
      isSecret: false,
      read: { $0.retention.payloadTime.map { DurationText.format($0) } ?? "" },
      assign: { settings, text in
        settings.retention.payloadTime = text.isEmpty ? nil : DurationText.parse(text)
        return text.isEmpty || settings.retention.payloadTime.map { Retention.payloadTimes.contains($0) } ?? false
      }, requirement: "a duration of at least 1m, such as 30m or 1d"),
    whole(
      "retentionBytes", \.retention.bytes, 1...Int.max,
      "Maximum size of the store, in bytes: of the file, or of what calls in a database take. "
        + "Beyond it, the calls that ended first are removed early."),
    duration("auditRetentionTime", \.auditRetentionTime, "How long a record of the audit log is kept."),
    whole(
      "reserveBytes", \.reserveBytes, 0...Int.max,
      "Room reserved on the store's disk, in bytes, for accepted calls and retention when the disk is full."),
    whole(
      "maxConnectionsPerOrigin", \.engine.maxConnectionsPerOrigin, 1...100_000,
      "Maximum connections to one host and port, HTTP/2 aside; others wait."),
    duration("connectTimeout", \.transport.connectTimeout, "Maximum time to connect to a target."),
    whole(
      "maxResponseBytes", \.transport.maxResponseBytes, 0...(1 << 30),
      "Maximum bytes of a response's body that are received; each call says how much of that is kept."),
    Setting(
      key: "proxy", form: "URL of \(ProxyURL.schemes.joined(separator: ", "))",
      summary: "Proxy for all calls. Proxy variables of the environment are not used.", isSecret: false,
      read: { $0.transport.proxy ?? "" },
      assign: { settings, text in
        settings.transport.proxy = text.isEmpty ? nil : text
        return text.isEmpty || ProxyURL.isValid(text)
      }, isPlace: true),
    optionalText(
      "caFile", \.transport.tls.trustedIssuers, "FILE",
      "PEM file of trusted certificate authorities; by default the system's."),
    Setting(
      key: "tlsDirectory", form: "/DIRECTORY",
      summary: "Directory of the files that TLS settings of targets may name; without it, they may name none.",
      isSecret: false, read: { $0.engine.tlsDirectory ?? "" },
      assign: { settings, text in
        settings.engine.tlsDirectory = text.isEmpty ? nil : text
        return text.isEmpty || text.hasPrefix("/") && !text.split(separator: "/").contains { $0 == "." || $0 == ".." }
      }),
    choice(
      "targetNaming", \.targetNaming,
      "Who may name a call's target: anyone who may submit, those with the scope operate, or nobody."),
    choice("minTLS", \.transport.tls.minimumVersion, "Oldest allowed version of TLS."),
    names(
      "redactHeaders", \.engine.redaction.headers,
      "Header fields whose values are not shown and, in responses, not stored; see docs/access.md."),
    names(
      "redactParameters", \.engine.redaction.parameters,
      "URL parameters whose values are not shown; also those whose names end in one of these words."),
    choice("egress", \.egress.reach, "Where calls may go, in addition to egressAllow; see docs/access.md."),
    rules(
      "egressAllow", \.egress.allow,
      "Destinations that are also allowed: addresses, blocks or names, with or without a port."),
    rules("egressDeny", \.egress.deny, "Destinations that are refused, even if something else allows them."),
    duration("drainTimeout", \.drainTimeout, "How long a stop waits for attempts in flight."),
    Setting(
      key: "targetDefaults", form: "JSON",
      summary:
        "Settings of all targets that have no others, such as {\"rate\": {\"perSecond\": 10}}; see docs/targets.md.",
      isSecret: false,
      read: { $0.targetDefaults == TargetOverrides() ? "" : String(decoding: $0.targetDefaults.json, as: UTF8.self) },
      assign: { settings, text in
        guard let overrides = try? TargetOverrides.readDefaults(text) else { return false }
        settings.targetDefaults = overrides
        settings.engine.target = overrides.applied(to: settings.engine.target)
        return true
      },
      fault: { text in
        do throws(TargetRule.Fault) {
          _ = try TargetOverrides.readDefaults(text)
          return nil
        } catch {
          return error
        }
      }),
    Setting(
      key: "targetRules", form: "JSON",
      summary: "Settings for targets whose keys match a pattern: an array of match and settings; see docs/targets.md.",
      isSecret: false, read: { TargetRule.text($0.engine.targetRules) },
      assign: { settings, text in
        guard let rules = try? text.isEmpty ? [] : TargetRule.read(text) else { return false }
        settings.engine.targetRules = rules
        return true
      },
      fault: { text in
        do throws(TargetRule.Fault) {
          _ = try TargetRule.read(text)
          return nil
        } catch {
          return error
        }
      }),
    Setting(
      key: "otlpEndpoint", form: "URL",
      summary: "Collector for spans (OTLP/HTTP); /v1/traces is appended. Also OTEL_EXPORTER_OTLP_ENDPOINT.",
      isSecret: false, read: { $0.spans.endpoint },
      assign: { settings, text in
        settings.spans.endpoint = text
        return text.isEmpty || (try? TargetURL(text)) != nil
      }, sharedVariable: "OTEL_EXPORTER_OTLP_ENDPOINT", isPlace: true),
    Setting(
      key: "otlpHeaders", form: "NAME=VALUE,...",
      summary: "Header fields for the collector, values percent-encoded. Also OTEL_EXPORTER_OTLP_HEADERS.",
      isSecret: true,
      read: { $0.spans.headers.isEmpty ? "" : "set" },
      assign: { settings, text in
        let headers = SpanSettings.headers(text)
        settings.spans.headers = headers ?? []
        return headers != nil
      }, sharedVariable: "OTEL_EXPORTER_OTLP_HEADERS"),
    Setting(
      key: "otlpService", form: "NAME",
      summary: "Service name in the spans. Also OTEL_SERVICE_NAME.", isSecret: false,
      read: { $0.spans.service },
      assign: { settings, text in
        settings.spans.service = text
        return !text.isEmpty
      }, sharedVariable: "OTEL_SERVICE_NAME"),
    Setting(
      key: "traceShare", form: "0...1",
      summary: "Share of calls that are traced, if the client sent no traceparent; otherwise the client decides.",
      isSecret: false,
      read: { "\($0.spans.share == $0.spans.share.rounded() ? String(Int($0.spans.share)) : String($0.spans.share))" },
      assign: { settings, text in
        guard let share = Double(text), (0...1).contains(share) else { return false }
        settings.spans.share = share
        return true
      }),
    choice("logFormat", \.logFormat, "Format of log lines."),
    choice("logLevel", \.logLevel, "Lowest level that is logged."),
  ]
}
