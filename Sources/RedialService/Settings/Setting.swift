internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialTransport

/// One thing that can be set, by a flag, an environment variable or the config file.
public struct Setting: Sendable {
  /// Its key in the config file, in camelCase.
  public let key: String
  /// What its value looks like, for people.
  public let form: String
  /// What it means.
  public let summary: String
  /// Whether its value must not be shown.
  public let isSecret: Bool
  /// Its value, as text.
  let read: @Sendable (ServiceSettings) -> String
  /// Sets it from text; false for a text that it cannot be.
  let assign: @Sendable (inout ServiceSettings, String) -> Bool
  /// A variable of OpenTelemetry's that says the same to many programs; Redial's own comes before it.
  var sharedVariable: String?
  /// Of a setting with parts: which of a text is at fault, in which of its lines; nil when none is.
  var fault: @Sendable (String) -> TargetRule.Fault? = { _ in nil }

  /// Whether it is a URL, or names a place like one, that may hold credentials.
  var isPlace = false

  /// A value of it as people may see it: without credentials that are in a URL, wherever it was put.
  func shown(_ value: String) -> String {
    let mayBePlace = value.contains("://") && !value.hasPrefix("sqlite:")
    return isPlace || mayBePlace && key != "targetRules" ? Redaction.place(value) : value
  }

  /// The flag: the key in kebab-case behind two hyphens.
  public var flag: String { "--" + words.joined(separator: "-") }
  /// The environment variable: the key in upper case behind `REDIAL_`.
  public var variable: String { "REDIAL_" + words.map { $0.uppercased() }.joined(separator: "_") }
  /// The value that it has when nobody sets it.
  public var defaultText: String { read(ServiceSettings()) }

  private var words: [String] { CamelCaseWords(key).words }
}

extension Setting {
  /// Every setting, in the order in which people are shown them.
  public static let all: [Setting] = [
    Setting(
      key: "listen", form: "HOST:PORT or unix:PATH",
      summary: "Address to listen on, such as [::1]:8080; port 0 takes any that is free.", isSecret: false,
      read: { $0.listen.description },
      assign: { settings, text in
        guard let address = ListenAddress(text) else { return false }
        settings.listen = address
        return true
      }),
    Setting(
      key: "socketPermissions", form: "0000...0777",
      summary: "Mode of a Unix domain socket's file: who may write to it may connect.", isSecret: false,
      read: { octal($0.socketPermissions) },
      assign: { settings, text in
        guard let mode = UInt16(text, radix: 8), mode <= 0o777 else { return false }
        settings.socketPermissions = Int(mode)
        return true
      }),
    Setting(
      key: "allowUnauthenticated", form: "true or false",
      summary: "Whether to listen for other machines though there is no API key.", isSecret: false,
      read: { "\($0.allowUnauthenticated)" },
      assign: { settings, text in
        settings.allowUnauthenticated = text == "true"
        return text == "true" || text == "false"
      }),
    Setting(
      key: "allowedHosts", form: "NAME,...",
      summary:
        "Host names, such as redial or *.internal.example.com, that a service without API keys answers by besides "
        + "localhost and addresses; * for all.", isSecret: false,
      read: { $0.allowedHosts.names.joined(separator: ",") },
      assign: { settings, text in
        guard let hosts = AllowedHosts(text) else { return false }
        settings.allowedHosts = hosts
        return true
      }),
    Setting(
      key: "trustedProxies", form: "ADDRESS[/BITS] or unix,...",
      summary:
        "Reverse proxies whose X-Forwarded-Prefix, -Proto and -Host are believed: addresses, CIDR blocks, or unix for peers "
        + "that come by a Unix domain socket; see docs/proxies.md.", isSecret: false,
      read: { $0.trustedProxies.entries.joined(separator: ",") },
      assign: { settings, text in
        guard let proxies = TrustedProxies(text) else { return false }
        settings.trustedProxies = proxies
        return true
      }),
    Setting(
      key: "corsOrigins", form: "ORIGIN,...",
      summary:
        "Origins, such as https://app.example.com, whose web pages may use the API with an API key (CORS); see "
        + "docs/proxies.md.", isSecret: false,
      read: { $0.corsOrigins.names.joined(separator: ",") },
      assign: { settings, text in
        guard let origins = CORSOrigins(text) else { return false }
        settings.corsOrigins = origins
        return true
      }),
    Setting(
      key: "adminKey", form: "16 to 255 visible ASCII characters",
      summary: "API key for everything, besides those that `redial keys` makes.", isSecret: true,
      read: { $0.adminKey ?? "" },
      assign: { settings, text in
        settings.adminKey = text.isEmpty ? nil : text
        return text.isEmpty || (16...255).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
      }),
    text("store", \.store, "sqlite:PATH", "Where calls are kept: sqlite:///absolute/path or sqlite:relative/path."),
    Setting(
      key: "webhookSecret", form: "whsec_BASE64",
      summary: "Secret that webhooks are signed with; without it one is made and kept in the store.", isSecret: true,
      read: { $0.webhookSecret ?? "" },
      assign: { settings, text in
        settings.webhookSecret = text.isEmpty ? nil : text
        return text.isEmpty || WebhookSecret(text) != nil
      }),
    whole("maxBodyBytes", \.maxBodyBytes, 0...(64 << 20), "Longest request body of a call, in bytes."),
    whole(
      "maxInflationRatio", \.maxInflationRatio, 1...1_000_000,
      "How many times larger than it was sent a compressed request may become."),
    whole(
      "gzipLevel", \.gzipLevel, 0...9,
      "How hard answers are compressed for clients that accept gzip: 1 is fast, 9 is small, 0 switches it off."),
    whole("gzipMinBytes", \.gzipMinBytes, 0...Int.max, "Smallest answer that is compressed, in bytes."),
    whole(
      "maxConnections", \.maxConnections, 1...1_000_000,
      "Connections that clients may have open at a time; at the bound those that have sent nothing and those that are "
        + "idle give way, and if all are busy new ones are told 503."),
    whole(
      "keptFreeBytes", \.keptFreeBytes, 0...(1 << 40),
      "Freed memory that the process keeps for what comes next, in bytes; more goes back to the system within seconds."),
    whole("loops", \.loops, 1...64, "Event loops of the HTTP server."),
    whole("maxHeaderBytes", \.http.maxHeaderBytes, 64...(1 << 20), "Longest header section of a request, in bytes."),
    whole("maxHeaderCount", \.http.maxHeaderCount, 1...65_536, "Most header fields of a request."),
    whole("maxTargetLength", \.http.maxTargetLength, 1...(1 << 20), "Longest request target, in bytes."),
    whole(
      "maxRequestsPerConnection", \.http.maxRequestsPerConnection, 1...Int.max,
      "Requests that one connection may carry; it is closed after the last."),
    whole(
      "maxPipelinedBytes", \.http.maxPipelinedBytes, 1...65_536,
      "Bytes of further requests that are read while one of the same connection is answered."),
    whole(
      "maxOutputBacklogBytes", \.http.maxOutputBacklogBytes, 1...(1 << 30),
      "Bytes of answers that wait for a client from which on no more are made for it."),
    span("headerTimeout", \.http.headerTimeout, "Longest that the header section of a request may take."),
    span("bodyTimeout", \.http.bodyTimeout, "Longest that the body of a request may take."),
    span("idleTimeout", \.http.idleTimeout, "How long a client's connection may be idle."),
    span("writeTimeout", \.http.writeTimeout, "How long a client may leave an answer without taking a byte of it."),
    whole("maxInFlight", \.engine.maxInFlight, 1...100_000, "Attempts under way at a time."),
    whole(
      "maxInFlightPerTarget", \.engine.maxInFlightPerTarget, 1...100_000, "Attempts under way at a time to one target."),
    share(
      "targetShare", \.engine.targetShare,
      "What one target may have of maxInFlight beside what is free, whatever is set for it."),
    share(
      "unprovenShare", \.engine.unprovenShare,
      "What targets that have not proven to answer may have of maxInFlight together; 1 for no bound."),
    share(
      "namespaceShare", \.engine.namespaceShare,
      "What one namespace may have of maxInFlight, maxHeld, maxUnfinished and all targets, as soon as there is another; "
        + "see Tenants apart."),
    whole(
      "maxHeld", \.engine.maxHeld, 1...10_000_000, "Calls that wait in memory at a time; the rest waits in the store."),
    whole(
      "maxHeldBytes", \.engine.maxHeldBytes, 1...Int.max,
      "Bytes of request bodies of calls that wait in memory; those of attempts under way come on top."),
    whole(
      "streamBodiesAbove", \.engine.streamBodiesAbove, 0...Int.max,
      "Largest request body that is held in memory, in bytes; a larger one is read from the store while it is sent."),
    whole(
      "maxUnfinished", \.engine.maxUnfinished, 1...Int.max, "Calls that have not ended; beyond it new ones are refused."
    ),
    span("idempotencyTime", \.engine.idempotencyTime, "How long the Idempotency-Key of a submission is remembered."),
    span("retentionTime", \.retention.time, "How long a call is kept after its end."),
    whole(
      "retentionBytes", \.retention.bytes, 1...Int.max,
      "What the store may take on disk, in bytes; beyond it the calls that ended first go before their time."),
    span(
      "retentionMinimumTime", \.retention.minimumTime,
      "How long a call is kept after its end however large the store is."),
    whole(
      "reserveBytes", \.reserveBytes, 0...Int.max,
      "Room set aside on the store's disk, in bytes, for accepted calls and retention when the disk is full."),
    whole(
      "compressMinBytes", \.payloads.compressMinBytes, 0...Int.max,
      "Smallest request body or captured response that the store compresses, in bytes."),
    whole(
      "keptResponses", \.payloads.keptResponses, 1...1_000_000,
      "Latest attempts of a call whose response bodies are kept."),
    span("storeWatchInterval", \.storeWatchInterval, "How often the store is looked at for the metrics."),
    whole(
      "maxWaiting", \.maxWaiting, 0...1_000_000,
      "Clients that may wait for a call to end at a time; others are answered at once."),
    span("maxWaitTime", \.maxWaitTime, "Longest that a client may wait for a call to end."),
    whole("maxBatch", \.maxBatch, 1...100_000, "Calls that one request may hand over."),
    whole(
      "maxScan", \.maxScan, 100...1_000_000,
      "Calls that are looked at for one page of a list by conditions that no index tells."),
    whole("maxOperations", \.maxOperations, 1...1000, "Operations on many calls that are under way at a time."),
    whole(
      "operationRate", \.operationRate, BulkOperation.rates,
      "Calls a second that such an operation is done to, when its client does not say."),
    whole(
      "maxPreviewDraws", \.forecasts.maxPreviewDraws, 4096...4_096_000,
      "Waits that one preview of a policy draws, 4096 for each attempt listed; larger previews are refused."),
    whole(
      "maxSimulationAttempts", \.forecasts.maxSimulationAttempts, 1000...100_000_000,
      "Attempts that one simulation of an outage makes; larger ones are refused or end early."),
    whole(
      "maxForecastsPerKey", \.forecasts.maxForecastsPerKey, 1...10_000,
      "Previews, simulations and dry runs that may wait for one API key, or without keys for all clients."),
    whole(
      "maxForecasts", \.forecasts.maxForecasts, 1...100_000,
      "Previews, simulations and dry runs that may wait in all."),
    whole("maxPolicies", \.maxPolicies, 1...10_000, "Policies that are stored under names."),
    whole("maxPolicyVersions", \.maxPolicyVersions, 1...1000, "Versions that are kept of a stored policy."),
    whole(
      "maxIdleConnections", \.transport.maxIdleConnections, 1...100_000,
      "Idle connections to targets that are kept for reuse."),
    whole(
      "maxConnectionsPerTarget", \.transport.maxConnectionsPerTarget, 1...100_000,
      "Connections to one host and port; what is beyond waits for one."),
    span("maxConnectionAge", \.transport.maxConnectionAge, "How long a connection may be idle before its next use."),
    span("nameCacheTime", \.transport.nameCacheTime, "How long a name's address is remembered, in whole seconds."),
    whole(
      "maxLookups", \.transport.maxLookups, 1...10_000,
      "Names that are looked up at a time, each on a thread; those that were slow last time have a quarter of them."),
    span("connectTimeout", \.transport.connectTimeout, "Longest that connecting to a target may take."),
    span(
      "happyEyeballsDelay", \.transport.happyEyeballsDelay,
      "How long a target's IPv6 address is tried alone before its IPv4 address is tried as well."),
    optionalSpan(
      "firstByteTimeout", \.transport.firstByteTimeout,
      "Longest from an attempt's start to the first byte of its answer; without it, as long as the attempt may take."),
    whole(
      "lowSpeedLimit", \.transport.lowSpeedLimit, 0...Int.max,
      "Least bytes a second, over lowSpeedTime, below which an attempt is given up; 0 switches it off."),
    span("lowSpeedTime", \.transport.lowSpeedTime, "How long an attempt may be slower, in whole seconds."),
    whole(
      "maxResponseHeaderBytes", \.transport.maxResponseHeaderBytes, 1024...(1 << 20), "Longest header of a response."),
    whole(
      "maxResponseBytes", \.transport.maxResponseBytes, 0...(1 << 30),
      "How much of a response's body is received before it is broken off; what is kept is for the call to say."),
    whole(
      "maxResponseInflationRatio", \.transport.maxInflationRatio, 1...1_000_000,
      "How many times larger than it came, beyond 64 KiB, a compressed response may become before it is broken off."),
    Setting(
      key: "proxy", form: "URL of \(ProxyURL.schemes.joined(separator: ", "))",
      summary: "Proxy that all calls go through; those of the environment never are.", isSecret: false,
      read: { $0.transport.proxy ?? "" },
      assign: { settings, text in
        settings.transport.proxy = text.isEmpty ? nil : text
        return text.isEmpty || ProxyURL.isValid(text)
      }, isPlace: true),
    optionalText(
      "caFile", \.transport.tls.trustedIssuers, "FILE",
      "Certificates, in PEM, whose issuers are trusted; else the system's."),
    Setting(
      key: "tlsDirectory", form: "/DIRECTORY",
      summary: "Where the files are that the TLS settings of a target may name; without it, none may be named.",
      isSecret: false, read: { $0.tlsDirectory ?? "" },
      assign: { settings, text in
        settings.tlsDirectory = text.isEmpty ? nil : text
        return text.isEmpty || text.hasPrefix("/") && !text.split(separator: "/").contains { $0 == "." || $0 == ".." }
      }),
    choice(
      "targetNaming", \.targetNaming,
      "Who may name a call's target: those who may submit calls, those with the scope operate, or no client."),
    choice("minTLS", \.transport.tls.minimumVersion, "Oldest version of TLS that is spoken."),
    names(
      "redactHeaders", \.engine.redaction.headers,
      "Header fields whose values are neither shown nor, of responses, kept; see What is kept from people."),
    names(
      "redactParameters", \.engine.redaction.parameters,
      "URL parameters whose values are not shown, and those whose names end in one of these words."),
    choice("egress", \.egress.reach, "Where calls may go besides what egressAllow names; see Egress."),
    rules(
      "egressAllow", \.egress.allow, "Destinations that are allowed besides: addresses, blocks, names, perhaps a port."),
    rules("egressDeny", \.egress.deny, "Destinations that are refused, whatever else allows them."),
    span("drainTimeout", \.drainTimeout, "Longest that a stop waits for running attempts."),
    whole(
      "breakerConsecutiveFailures", \.engine.breaker.consecutiveFailures, 0...1_000_000,
      "Failures in a row that open a target's breaker; 0 switches this rule off."),
    Setting(
      key: "breakerFailureRate", form: "0...1",
      summary: "Failure rate over the window that opens a target's breaker; 0 switches this rule off.", isSecret: false,
      read: { $0.engine.breaker.failureRate > 1 ? "0" : "\($0.engine.breaker.failureRate)" }, assign: setFailureRate),
    span("breakerWindow", \.engine.breaker.windowLength, "How far back the failure rate looks."),
    span(
      "longSilence", \.engine.longSilence,
      "How long a target must be silent, at least, for an attempt to count as failed that the call's deadline or a client "
        + "has ended."),
    whole(
      "breakerMinimumCalls", \.engine.breaker.minimumCalls, 1...1_000_000,
      "Outcomes that the window must hold before the rate is judged."),
    span("breakerOpenInterval", \.engine.breaker.openInterval, "How long a breaker stays open the first time."),
    span(
      "breakerMaxOpenInterval", \.engine.breaker.maximumOpenInterval,
      "Longest that a breaker stays open; each time a probe fails the interval doubles up to this."),
    whole("breakerProbes", \.engine.breaker.halfOpenProbes, 1...1000, "Calls that a half-open breaker lets through."),
    Setting(
      key: "targetRate", form: "0...1000000",
      summary: "Attempts begun a second to one target, such as 0.5; 0 for no bound.", isSecret: false,
      read: { $0.engine.ratePerSecond == 0 ? "0" : "\($0.engine.ratePerSecond)" }, assign: setRate),
    whole(
      "targetBurst", \.engine.rateBurst, 1...1_000_000,
      "Attempts to one target that may begin at once after a pause, where it has a rate."),
    Setting(
      key: "retryBudgetShare", form: "0...1",
      summary: "Retries to a target as a share of its first tries of the last 10 s, where retries are bounded.",
      isSecret: false, read: { "\($0.engine.retryShare)" }, assign: setRetryShare),
    whole(
      "retryBudgetMinPerSecond", \.engine.retriesPerSecond, 0...1_000_000,
      "Retries a second to a target that are allowed on top of the share; 0 for no bound on retries."),
    Setting(
      key: "slowStart", form: "duration",
      summary:
        "How long a target whose breaker has closed is given a growing share of its attempts; 0s for all at once.",
      isSecret: false, read: { DurationText.format($0.engine.slowStart) },
      assign: { settings, text in
        guard let value = DurationText.parse(text), value >= .zero else { return false }
        settings.engine.slowStart = value
        return true
      }),
    span(
      "maxTargetHold", \.engine.maxTargetHold, "Longest that Retry-After of one answer keeps all calls from its target."
    ),
    span("maxAttemptTimeout", \.engine.attemptTimeout, "Longest that an attempt may take, whatever a policy says."),
    Setting(
      key: "targetRules", form: "JSON",
      summary: "What holds for targets whose keys match a pattern, as an array of match and settings; see Targets.",
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
      "Targets that have gauges of their own in the metrics, the busiest; the rest are summed."),
    whole("maxWebhookEndpoints", \.maxWebhookEndpoints, 0...10_000, "Webhook endpoints that may be registered."),
    span(
      "webhookDisableAfter", \.webhookDisableAfter,
      "For how long every delivery to a webhook endpoint may fail before it is disabled."),
    whole(
      "maxEventListeners", \.events.maxListeners, 0...100_000,
      "Clients of one namespace that may listen to events at a time."),
    whole(
      "maxEvents", \.events.maxKept, 1...10_000_000,
      "Events of one namespace that are kept for listeners that are behind or come back."),
    whole("maxEventBytes", \.events.maxKeptBytes, 1024...Int.max, "What the kept events may take, in bytes."),
    span("eventHeartbeat", \.events.heartbeat, "How often listeners are shown that the connection lives."),
    span(
      "eventLinger", \.events.linger,
      "How long events are kept on after the last listener has gone, so that it can come back without a gap."),
    Setting(
      key: "otlpEndpoint", form: "URL",
      summary: "Collector that spans go to, by OTLP/HTTP; /v1/traces is added to it, OTEL_EXPORTER_OTLP_ENDPOINT too.",
      isSecret: false, read: { $0.spans.endpoint },
      assign: { settings, text in
        settings.spans.endpoint = text
        return text.isEmpty || (try? TargetURL(text)) != nil
      }, sharedVariable: "OTEL_EXPORTER_OTLP_ENDPOINT", isPlace: true),
    Setting(
      key: "otlpHeaders", form: "NAME=VALUE,...",
      summary: "Header fields for the collector, values percent-encoded; OTEL_EXPORTER_OTLP_HEADERS too.",
      isSecret: true,
      read: { $0.spans.headers.isEmpty ? "" : "set" },
      assign: { settings, text in
        let headers = SpanSettings.headers(text)
        settings.spans.headers = headers ?? []
        return headers != nil
      }, sharedVariable: "OTEL_EXPORTER_OTLP_HEADERS"),
    Setting(
      key: "otlpService", form: "NAME",
      summary: "Name of the service that its spans are shown under; OTEL_SERVICE_NAME too.", isSecret: false,
      read: { $0.spans.service },
      assign: { settings, text in
        settings.spans.service = text
        return !text.isEmpty
      }, sharedVariable: "OTEL_SERVICE_NAME"),
    Setting(
      key: "traceShare", form: "0...1",
      summary: "Share of calls that are traced, of those whose clients sent no traceparent; a client that did decides.",
      isSecret: false,
      read: { "\($0.spans.share == $0.spans.share.rounded() ? String(Int($0.spans.share)) : String($0.spans.share))" },
      assign: { settings, text in
        guard let share = Double(text), (0...1).contains(share) else { return false }
        settings.spans.share = share
        return true
      }),
    span("otlpInterval", \.spans.interval, "How long spans may wait until a request takes them to the collector."),
    span("otlpTimeout", \.spans.timeout, "How long a request to the collector may take."),
    whole(
      "maxSpans", \.spans.maxWaiting, 1...10_000_000,
      "Ends of attempts and calls that may wait for the collector; those beyond are dropped, and counted."),
    choice("logFormat", \.logFormat, "How log lines are written."),
    choice("logLevel", \.logLevel, "Least that is worth a log line."),
  ]

  private static func text(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, String> & Sendable, _ form: String, _ summary: String
  ) -> Setting {
    Setting(
      key: key, form: form, summary: summary, isSecret: false, read: { $0[keyPath: path] },
      assign: { settings, text in
        settings[keyPath: path] = text
        return !text.isEmpty
      })
  }

  private static func whole(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, Int> & Sendable, _ range: ClosedRange<Int>,
    _ summary: String
  ) -> Setting {
    let form = range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound)...\(range.upperBound)"
    return Setting(
      key: key, form: form, summary: summary, isSecret: false, read: { "\($0[keyPath: path])" },
      assign: { settings, text in
        guard let value = Int(text), range.contains(value) else { return false }
        settings[keyPath: path] = value
        return true
      })
  }

  private static func share(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, Double> & Sendable, _ summary: String
  ) -> Setting {
    Setting(
      key: key, form: "0.01...1", summary: summary, isSecret: false, read: { "\($0[keyPath: path])" },
      assign: { settings, text in
        guard let value = Double(text), (0.01...1).contains(value) else { return false }
        settings[keyPath: path] = value
        return true
      })
  }

  private static func span(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, Duration> & Sendable, _ summary: String
  ) -> Setting {
    Setting(
      key: key, form: "duration", summary: summary, isSecret: false,
      read: { DurationText.format($0[keyPath: path]) },
      assign: { settings, text in
        guard let value = DurationText.parse(text), value > .zero else { return false }
        settings[keyPath: path] = value
        return true
      })
  }

  private static func optionalText(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, String?> & Sendable, _ form: String, _ summary: String
  ) -> Setting {
    Setting(
      key: key, form: form, summary: summary, isSecret: false, read: { $0[keyPath: path] ?? "" },
      assign: { settings, text in
        settings[keyPath: path] = text.isEmpty ? nil : text
        return true
      })
  }

  private static func optionalSpan(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, Duration?> & Sendable, _ summary: String
  ) -> Setting {
    Setting(
      key: key, form: "duration", summary: summary, isSecret: false,
      read: { $0[keyPath: path].map(DurationText.format) ?? "" },
      assign: { settings, text in
        guard text.isEmpty || DurationText.parse(text).map({ $0 > .zero }) == true else { return false }
        settings[keyPath: path] = DurationText.parse(text)
        return true
      })
  }

  private static func choice<Choice: RawRepresentable & CaseIterable & Sendable>(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, Choice> & Sendable, _ summary: String
  ) -> Setting where Choice.RawValue == String {
    Setting(
      key: key, form: Choice.allCases.map(\.rawValue).joined(separator: " or "), summary: summary, isSecret: false,
      read: { $0[keyPath: path].rawValue },
      assign: { settings, text in
        guard let value = Choice(rawValue: text) else { return false }
        settings[keyPath: path] = value
        return true
      })
  }

  private static func rules(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, [EgressRule]> & Sendable, _ summary: String
  ) -> Setting {
    Setting(
      key: key, form: "HOST[:PORT],...", summary: summary, isSecret: false,
      read: { $0[keyPath: path].map(\.text).joined(separator: ",") },
      assign: { settings, text in
        let texts = text.split(separator: ",").map { $0.filter { !$0.isWhitespace } }
        let rules = texts.compactMap { EgressRule($0) }
        settings[keyPath: path] = rules
        return rules.count == texts.count
      })
  }

  private static func names(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, [String]> & Sendable, _ summary: String
  ) -> Setting {
    Setting(
      key: key, form: "NAME,...", summary: summary, isSecret: false,
      read: { $0[keyPath: path].joined(separator: ",") },
      assign: { settings, text in
        let names = text.split(separator: ",").map { $0.filter { !$0.isWhitespace }.lowercased() }
        settings[keyPath: path] = names
        return names.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
      })
  }

  private static func octal(_ mode: Int) -> String {
    let digits = String(mode, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  @Sendable
  private static func setRate(_ settings: inout ServiceSettings, _ text: String) -> Bool {
    guard let rate = Double(text), rate == 0 || (0.001...1_000_000).contains(rate) else { return false }
    settings.engine.ratePerSecond = rate
    return true
  }

  @Sendable
  private static func setRetryShare(_ settings: inout ServiceSettings, _ text: String) -> Bool {
    guard let share = Double(text), (0...1).contains(share) else { return false }
    settings.engine.retryShare = share
    return true
  }

  @Sendable
  private static func setFailureRate(_ settings: inout ServiceSettings, _ text: String) -> Bool {
    guard let rate = Double(text), (0...1).contains(rate) else { return false }
    // The breaker's own word for "never" is a rate that cannot be reached.
    settings.engine.breaker.failureRate = rate == 0 ? 2 : rate
    return true
  }
}

extension CircuitBreakerSettings {
  /// The length of a window of time, which is the only kind that the service's settings offer.
  fileprivate var windowLength: Duration {
    get { if case .time(let length) = window { length } else { .zero } }
    set { window = .time(newValue) }
  }
}
