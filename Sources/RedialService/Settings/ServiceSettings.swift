public import HTTPServer
internal import RedialCore
public import RedialEngine
public import RedialModel
public import RedialStore
public import RedialTransport

/// Everything about the service that can be set.
public struct ServiceSettings: Sendable {
  /// Where to listen.
  public var listen = ListenAddress.tcp(host: "127.0.0.1", port: 8080)
  /// The mode of a Unix domain socket's file: who may write to it may connect.
  public var socketPermissions = 0o600
  /// Whether to listen for other machines though there is no API key.
  public var allowUnauthenticated = false
  /// The hosts by which the service may be addressed where no API key is asked for.
  public var allowedHosts = AllowedHosts()
  /// The reverse proxies that are believed to say how clients address the service.
  public var trustedProxies = TrustedProxies()
  /// The origins whose pages may use the API with an API key.
  public var corsOrigins = CORSOrigins()
  /// An API key for everything, besides those in the store.
  public var adminKey: String?
  /// Where calls are kept.
  public var store = "sqlite:data/redial.db"
  /// The secret that webhooks are signed with; nil for one that the store makes and keeps.
  public var webhookSecret: String?
  /// Webhook endpoints that may be registered.
  public var maxWebhookEndpoints = 100
  /// For how long every delivery to a webhook endpoint may fail before it is disabled.
  public var webhookDisableAfter = Duration.seconds(5 * 86_400)
  /// Event loops of the HTTP server.
  public var loops = 1
  /// Connections that clients may have open at a time.
  public var maxConnections = 10_000
  /// The longest request body of a call, in bytes.
  public var maxBodyBytes = 1 << 20
  /// How many times larger than it was sent a compressed request may become.
  public var maxInflationRatio = 100
  /// How hard answers are compressed for clients that accept gzip; 0 for not at all.
  public var gzipLevel = 1
  /// The smallest answer that is compressed, in bytes.
  public var gzipMinBytes = 1024
  /// The other bounds of the HTTP server; what is named here itself comes before its like in there.
  public var http = HTTPServerConfiguration()
  /// Clients that may wait for a call to end at a time; others are answered at once.
  public var maxWaiting = 10_000
  /// The longest that a client may wait for a call to end.
  public var maxWaitTime = Duration.seconds(60)
  /// Maximum number of calls in one request.
  public var maxBatch = 1000
  /// Through how many services like this one a submission may have come.
  public var maxHops = 3
  /// The most calls that are looked at, and left out if they do not fit, for one page of a list.
  public var maxScan = CallQuery.defaultScanLimit
  /// The bounds of previews, simulations and dry runs.
  public var forecasts = ForecastLimits()
  /// Maximum bulk operations that run at a time.
  public var maxOperations = 16
  /// How many calls a second an operation on many calls is done to, when its client does not say.
  public var operationRate = 100
  /// The most policies that are stored under names.
  public var maxPolicies = 1000
  /// The most versions that are kept of a stored policy.
  public var maxPolicyVersions = 20
  /// The directory of the files that a target's TLS settings may name; nil for none.
  public var tlsDirectory: String?
  /// The clients that may name a call's target.
  public var targetNaming = TargetNaming.operators
  /// How calls are made, but for the egress policy.
  public var transport = TransportConfiguration(userAgent: "redial/\(redialVersion)")
  /// Where calls and webhooks may go; what follows from where the service listens is added when it does.
  public var egress = EgressPolicy()
  /// The longest that a stop waits for running attempts. Docker allows ten seconds before it kills.
  public var drainTimeout = Duration.seconds(8)
  /// Which payloads the store keeps, and how.
  public var payloads = PayloadRule()
  /// How long finished calls are kept.
  public var retention = Retention()
  /// Room on the disk that is set aside beside the store, in bytes, for accepted calls and retention when the disk is full.
  public var reserveBytes = 64 << 20
  /// How often the store is looked at for the metrics.
  public var storeWatchInterval = Duration.seconds(10)
  /// How much freed memory the process keeps for reuse, in bytes; more goes back to the system.
  public var keptFreeBytes = 16 << 20
  /// How many targets have gauges of their own in the metrics; the rest are summed.
  public var namedTargets = 20
  /// Where spans of calls and attempts go.
  public var spans = SpanSettings()
  /// How log lines are written.
  public var logFormat = LogFormat.text
  /// The least that is worth a log line.
  public var logLevel = LogLevel.info
  /// The bounds of the event stream.
  public var events = EventSettings()
  /// The engine's bounds and habits.
  public var engine = EngineSettings()

  /// The defaults.
  public init() {}

  /// How long a call descriptor may be: a body in base 64, with room for everything else.
  public var maxDescriptorBytes: Int { maxBodyBytes * 4 / 3 + 128 * 1024 }

  /// Which payloads the store keeps and how, as the engine wants to have them.
  var storedPayloads: PayloadRule {
    var rule = payloads
    rule.streamBodiesAbove = engine.streamBodiesAbove
    return rule
  }

  /// What a client may ask for.
  public var descriptorLimits: CallDescriptor.Limits {
    CallDescriptor.Limits(bodyBytes: maxBodyBytes, egress: egress.knowing(listen))
  }
}
