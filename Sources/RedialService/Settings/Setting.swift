internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialTransport
internal import RedialText

/// One setting, which can be set by a flag, an environment variable or the config file.
public struct Setting: Sendable {
  /// Its key in the config file, in camelCase.
  public let key: String
  /// The form of its value, for people.
  public let form: String
  /// Its meaning.
  public let summary: String
  /// Whether its value must not be shown.
  public let isSecret: Bool
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
  public var flag: String { "--" + words.joined(separator: "-") }
  /// The environment variable: the key in upper case after `REDIAL_`.
  public var variable: String { "REDIAL_" + words.map { $0.uppercased() }.joined(separator: "_") }
  /// The value if nobody sets it.
  public var defaultText: String { read(ServiceSettings()) }

  private var words: [String] { CamelCaseWords(key).words }
}

extension Setting {
  /// Every setting, in the order of the help.
  public static let all: [Setting] = [
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
      summary: "Secret that signs webhooks; by default one is made and kept in the store.", isSecret: true,
      read: { $0.webhookSecret ?? "" },
      assign: { settings, text in
        settings.webhookSecret = text.isEmpty ? nil : text
        return text.isEmpty || WebhookSecret(text) != nil
      }),
    whole("maxBodyBytes", \.maxBodyBytes, 0...(64 << 20), "Maximum size of a call's request body, in bytes."),
    whole(
      "maxInflationRatio", \.maxInflationRatio, 1...1_000_000,
      "Maximum ratio of a request's size after decompression to its compressed size."),
    whole(
      "gzipLevel", \.gzipLevel, 0...9,
      "Compression of answers for clients that accept gzip: 1 is fast, 9 is small, 0 is off."),
    whole("gzipMinBytes", \.gzipMinBytes, 0...Int.max, "Smallest answer that is compressed, in bytes."),
    whole(
      "maxConnections", \.maxConnections, 1...1_000_000,
      "Maximum open connections of clients. At the limit idle ones are closed; if all are busy, new ones get 503."),
    whole(
      "keptFreeBytes", \.keptFreeBytes, 0...(1 << 40),
      "Freed memory that the process keeps for reuse, in bytes; more goes back to the system within seconds."),
    whole("loops", \.loops, 1...64, "Event loops of the HTTP server."),
    whole(
      "maxHeaderBytes", \.http.maxHeaderBytes, 64...(1 << 20), "Maximum size of a request's header section, in bytes."),
    whole("maxHeaderCount", \.http.maxHeaderCount, 1...65_536, "Maximum number of header fields in a request."),
    whole(
      "maxTargetLength", \.http.maxTargetLength, 1...(1 << 20),
      "Maximum length of a request's path and query, in bytes."),
    whole(
      "maxRequestsPerConnection", \.http.maxRequestsPerConnection, 1...Int.max,
      "Maximum requests on one connection; it is closed after the last."),
    whole(
      "maxPipelinedBytes", \.http.maxPipelinedBytes, 1...65_536,
      "Bytes of further requests that are read from a connection before the current one is answered."),
    whole(
      "maxOutputBacklogBytes", \.http.maxOutputBacklogBytes, 1...(1 << 30),
      "When this many bytes of answers wait for a client, no more answers are made for it."),
    duration("headerTimeout", \.http.headerTimeout, "Maximum time to receive the header section of a request."),
    duration("bodyTimeout", \.http.bodyTimeout, "Maximum time to receive the body of a request."),
    duration("idleTimeout", \.http.idleTimeout, "How long a client's connection may be idle."),
    duration(
      "writeTimeout", \.http.writeTimeout, "How long a client may leave an answer unread before it is cut off."),
    whole("maxInFlight", \.engine.maxInFlight, 1...100_000, "Maximum attempts in flight."),
    whole(
      "maxInFlightPerTarget", \.engine.maxInFlightPerTarget, 1...100_000, "Maximum attempts in flight to one target."),
    share(
      "targetShare", \.engine.targetShare,
      "Maximum share of maxInFlight for one target, of its own attempts and the free places together."),
    share(
      "unprovenShare", \.engine.unprovenShare,
      "Maximum share of maxInFlight for all targets that have not proven to answer; 1 for no limit."),
    share(
      "namespaceShare", \.engine.namespaceShare,
      "Maximum share of maxInFlight, maxHeld, maxUnfinished and all targets for one namespace, if there is "
        + "another; see docs/access.md."),
    whole(
      "maxHeld", \.engine.maxHeld, 1...10_000_000, "Maximum calls that wait in memory; the others wait in the store."),
    whole(
      "maxHeldBytes", \.engine.maxHeldBytes, 1...Int.max,
      "Maximum bytes of request bodies of calls that wait in memory. Bodies of attempts in flight are not "
        + "counted."),
    whole(
      "streamBodiesAbove", \.engine.streamBodiesAbove, 0...Int.max,
      "Largest request body that is held in memory, in bytes. A larger one is sent from the store."),
    whole(
      "maxUnfinished", \.engine.maxUnfinished, 1...Int.max, "Maximum unfinished calls; beyond it new ones are refused."
    ),
    duration(
      "idempotencyTime", \.engine.idempotencyTime, "How long the Idempotency-Key of a submission is remembered."),
    duration("retentionTime", \.retention.time, "How long a call is kept after its end."),
    whole(
      "retentionBytes", \.retention.bytes, 1...Int.max,
      "Maximum size of the store on disk, in bytes. Beyond it, the calls that ended first are removed early."),
    duration(
      "retentionMinimumTime", \.retention.minimumTime,
      "How long a call is kept after its end, however large the store is."),
    whole(
      "reserveBytes", \.reserveBytes, 0...Int.max,
      "Room reserved on the store's disk, in bytes, for accepted calls and retention when the disk is full."),
    whole(
      "compressMinBytes", \.payloads.compressMinBytes, 0...Int.max,
      "Smallest request body or captured response that the store compresses, in bytes."),
    whole(
      "keptResponses", \.payloads.keptResponses, 1...1_000_000,
      "Response bodies are kept for this many latest attempts of a call."),
    duration("storeWatchInterval", \.storeWatchInterval, "How often the store is examined for the metrics."),
    whole(
      "maxWaiting", \.maxWaiting, 0...1_000_000,
      "Maximum clients that wait for a call to end; others are answered at once."),
    duration("maxWaitTime", \.maxWaitTime, "How long a client may wait for a call to end."),
    whole("maxBatch", \.maxBatch, 1...100_000, "Maximum calls in one request."),
    whole(
      "maxHops", \.maxHops, 0...100,
      "How often a call may be submitted by the attempt of another call, one after the other."),
    whole(
      "maxScan", \.maxScan, 100...1_000_000,
      "Maximum calls examined for one page of a list, for conditions without an index; long URLs count as several."),
    whole("maxOperations", \.maxOperations, 1...1000, "Maximum bulk operations that run at a time."),
    whole(
      "operationRate", \.operationRate, BulkOperation.rates,
      "Calls per second of a bulk operation, if its request does not say."),
    whole(
      "maxPreviewDraws", \.forecasts.maxPreviewDraws, 4096...4_096_000,
      "Maximum waits that one preview of a policy draws, 4096 for each attempt listed."),
    whole(
      "maxSimulationAttempts", \.forecasts.maxSimulationAttempts, 1000...100_000_000,
      "Maximum attempts of one simulated outage; larger simulations are refused or end early."),
    whole(
      "maxForecastsPerKey", \.forecasts.maxForecastsPerKey, 1...10_000,
      "Maximum waiting previews, simulations and dry runs of one API key, or of all clients without keys."),
    whole(
      "maxForecasts", \.forecasts.maxForecasts, 1...100_000,
      "Maximum waiting previews, simulations and dry runs in all."),
    whole("maxPolicies", \.maxPolicies, 1...10_000, "Maximum stored policies."),
    whole("maxPolicyVersions", \.maxPolicyVersions, 1...1000, "Versions that are kept of a stored policy."),
    whole(
      "maxIdleConnections", \.transport.maxIdleConnections, 1...100_000,
      "Idle connections to targets that are kept for reuse."),
    whole(
      "maxConnectionsPerOrigin", \.engine.maxConnectionsPerOrigin, 1...100_000,
      "Maximum connections to one host and port, HTTP/2 aside; others wait."),
    duration(
      "maxConnectionAge", \.transport.maxConnectionAge, "How long a connection may be idle before its next use."),
    duration(
      "nameCacheTime", \.transport.nameCacheTime, "How long the address of a name is remembered, in whole seconds."),
    whole(
      "maxLookups", \.transport.maxLookups, 1...10_000,
      "Maximum names that are looked up at a time, one thread each; names that were slow last time get a "
        + "quarter of them."),
    duration("connectTimeout", \.transport.connectTimeout, "Maximum time to connect to a target."),
    duration(
      "happyEyeballsDelay", \.transport.happyEyeballsDelay,
      "How long a target's IPv6 address is tried alone before its IPv4 address is tried too."),
    optionalDuration(
      "firstByteTimeout", \.transport.firstByteTimeout,
      "Maximum time from an attempt's start to the first byte of the response; by default only the "
        + "attempt's timeout."),
    whole(
      "lowSpeedLimit", \.transport.lowSpeedLimit, 0...Int.max,
      "An attempt is given up if it is slower than this many bytes per second for lowSpeedTime; 0 turns "
        + "this off."),
    duration("lowSpeedTime", \.transport.lowSpeedTime, "How long an attempt may be slower, in whole seconds."),
    whole(
      "maxResponseHeaderBytes", \.transport.maxResponseHeaderBytes, 1024...(1 << 20),
      "Maximum size of a response's header, in bytes."),
    whole(
      "maxResponseBytes", \.transport.maxResponseBytes, 0...(1 << 30),
      "Maximum bytes of a response's body that are received; each call says how much of that is kept."),
    whole(
      "maxResponseInflationRatio", \.transport.maxInflationRatio, 1...1_000_000,
      "Maximum ratio of a response's decompressed size, beyond 64 KiB, to its compressed size."),
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
    whole(
      "breakerConsecutiveFailures", \.engine.breaker.consecutiveFailures, 0...1_000_000,
      "Least failures in a row that open a target's breaker; 0 turns this off."),
    Setting(
      key: "breakerSignificance", form: "0...1",
      summary:
        "Highest probability by chance at which such a run opens it; 1 for any run.", isSecret: false,
      read: { "\($0.engine.breaker.significance)" }, assign: setSignificance),
    duration(
      "breakerFailureTime", \.engine.breaker.failureTime, in: .zero...Duration.seconds(86_400),
      "Least time that such a run lasts; 0s for any."),
    Setting(
      key: "breakerFailureRate", form: "0...1",
      summary: "Failure rate in the window that opens a target's breaker; 0 turns this rule off.", isSecret: false,
      read: { $0.engine.breaker.failureRate > 1 ? "0" : "\($0.engine.breaker.failureRate)" }, assign: setFailureRate),
    duration("breakerWindow", \.engine.breaker.windowLength, "Length of the window for the failure rate."),
    duration(
      "longSilence", \.engine.longSilence,
      "Minimum silence of a target for an attempt to count as failed if the call's deadline or a client "
        + "ended it."),
    whole(
      "breakerMinimumCalls", \.engine.breaker.minimumCalls, 1...1_000_000,
      "Outcomes in the window before the rate counts."),
    duration("breakerOpenInterval", \.engine.breaker.openInterval, "How long a breaker stays open the first time."),
    duration(
      "breakerMaxOpenInterval", \.engine.breaker.maximumOpenInterval,
      "Maximum time that a breaker stays open, after many failed probes."),
    whole(
      "breakerProbes", \.engine.breaker.halfOpenProbes, 1...1000, "Attempts that a half-open breaker lets through."),
    Setting(
      key: "targetRate", form: "0...1000000",
      summary: "Maximum attempts started per second to one target, such as 0.5; 0 for no limit.", isSecret: false,
      read: { $0.engine.ratePerSecond == 0 ? "0" : "\($0.engine.ratePerSecond)" }, assign: setRate),
    whole(
      "targetBurst", \.engine.rateBurst, 1...1_000_000,
      "Attempts to one target that may start at once after a quiet time, if it has a rate."),
    Setting(
      key: "retryBudgetShare", form: "0...1",
      summary: "Maximum retries to a target by its first attempts of 10 s, unless retryBudgetMinPerSecond is 0.",
      isSecret: false, read: { "\($0.engine.retryShare)" }, assign: setRetryShare),
    whole(
      "retryBudgetMinPerSecond", \.engine.retriesPerSecond, 0...1_000_000,
      "Retries per second to a target in addition to the share; 0 for no limit on retries."),
    choice(
      "pace", \.engine.pace,
      "After an outage attempts start as fast as the target can take them, or as its other limits allow."),
    Setting(
      key: "newCallShare", form: "0...0.95",
      summary: "Share of the attempts to a target for new calls while a backlog waits too; 0 for all calls by age.",
      isSecret: false, read: { "\($0.engine.newCallShare)" },
      assign: setNewCallShare),
    Setting(
      key: "slowStart", form: "duration",
      summary:
        "After an outage, with a fixed pace, attempts in flight grow to the maximum over this time; 0s for at once.",
      isSecret: false, read: { DurationText.format($0.engine.slowStart) },
      assign: { settings, text in
        guard let value = DurationText.parse(text), value >= .zero else { return false }
        settings.engine.slowStart = value
        return true
      }),
    duration(
      "maxRetryAfterPause", \.engine.maxRetryAfterPause,
      "Maximum time that one Retry-After pauses all calls to its target."
    ),
    duration("maxAttemptTimeout", \.engine.attemptTimeout, "Maximum duration of an attempt, whatever the policy says."),
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
    whole(
      "namedTargets", \.namedTargets, 0...1000,
      "The busiest targets that have their own gauges in the metrics; the others are summed."),
    whole("maxWebhookEndpoints", \.maxWebhookEndpoints, 0...10_000, "Maximum webhook endpoints."),
    duration(
      "webhookDisableAfter", \.webhookDisableAfter,
      "A webhook endpoint is disabled when all its deliveries have failed for this long."),
    whole(
      "maxEventListeners", \.events.maxListeners, 0...100_000,
      "Maximum clients of one namespace that listen to events."),
    whole(
      "maxEvents", \.events.maxKept, 1...10_000_000,
      "Events of one namespace that are kept for listeners that are slow or reconnect."),
    whole("maxEventBytes", \.events.maxKeptBytes, 1024...Int.max, "Maximum size of the kept events, in bytes."),
    duration("eventHeartbeat", \.events.heartbeat, "How often listeners get a sign that the connection is alive."),
    duration(
      "eventLinger", \.events.linger,
      "How long events are kept after the last listener has left, so that it can come back without a gap."),
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
    duration("otlpInterval", \.spans.interval, "Maximum time that spans wait before they are sent to the collector."),
    duration("otlpTimeout", \.spans.timeout, "Maximum time of a request to the collector."),
    whole(
      "maxSpans", \.spans.maxWaiting, 1...10_000_000,
      "Maximum spans that wait for the collector; more are dropped and counted."),
    choice("logFormat", \.logFormat, "Format of log lines."),
    choice("logLevel", \.logLevel, "Lowest level that is logged."),
  ]
}
