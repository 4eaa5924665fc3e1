package import HTTPServer
internal import RedialCore
package import RedialEngine
package import RedialModel
package import RedialStore
package import RedialTransport

package struct ServiceSettings: Sendable {
  /// Where to listen.
  package var listen = ListenAddress.tcp(host: "127.0.0.1", port: 8080)
  /// The mode of a Unix domain socket's file: users who may write to it may connect.
  package var socketPermissions = 0o600
  /// Whether to listen for other machines without an API key.
  package var allowUnauthenticated = false
  /// The hosts by which clients may address the service if no API key is required.
  package var allowedHosts = AllowedHosts()
  /// The reverse proxies whose forwarding fields are used.
  package var trustedProxies = TrustedProxies()
  /// The origins whose pages may use the API with an API key.
  package var corsOrigins = CORSOrigins()
  /// The field in which a trusted proxy names the person who has signed in; empty for none. And that with the groups.
  package var trustedUserHeader = ""
  package var trustedGroupsHeader = "X-Forwarded-Groups"
  /// What the groups of people may do.
  package var groupScopes = GroupScopes()
  /// An API key with all permissions, besides those in the store.
  package var adminKey: String?
  /// The file by which a test moves the service's time; nil in production.
  var testClock: String?
  /// Where calls are stored.
  package var store = "sqlite:data/redial.db"
  /// The file with the password for a PostgreSQL store; nil if there is none.
  package var storePasswordFile: String?
  /// The file with the key that encrypts what is stored; nil to encrypt only secrets.
  package var encryptionKeyFile: String?
  /// The program that wraps the keys in place of a file; nil if there is none.
  package var encryptionKeyCommand: String?
  /// How long an instance that died keeps its part of a PostgreSQL store.
  package var leaseDuration = Duration.seconds(3)
  /// The URL at which other instances on the same PostgreSQL store reach this one; nil for the address that it listens
  /// on.
  package var peerURL: String?
  /// The secret that signs webhooks; nil for one that the store makes and keeps.
  package var webhookSecret: String?
  /// Maximum number of webhook endpoints.
  package var maxWebhookEndpoints = 100
  /// How long every delivery to a webhook endpoint may fail before it is disabled.
  package var webhookDisableAfter = Duration.seconds(5 * 86_400)
  /// Event loops of the HTTP server.
  package var loops = 1
  /// Maximum number of open connections of clients.
  package var maxConnections = 10_000
  /// The longest request body of a call, in bytes.
  package var maxBodyBytes = 1 << 20
  /// Maximum ratio of a compressed request's inflated size to its sent size.
  package var maxInflationRatio = 100
  /// Compression level of answers for clients that accept gzip; 0 for none.
  package var gzipLevel = 1
  /// The smallest answer that is compressed, in bytes.
  package var gzipMinBytes = 1024
  /// The other limits of the HTTP server; the properties of this type override those in it.
  package var http = HTTPServerConfiguration()
  /// Maximum number of clients that wait for a call to end; others are answered at once.
  package var maxWaiting = 10_000
  /// The maximum time that a client may wait for a call to end.
  package var maxWaitTime = Duration.seconds(60)
  /// Maximum number of calls in one request.
  package var maxBatch = 1000
  /// Maximum number of services like this one that a submission may have passed through.
  package var maxHops = 3
  /// The maximum number of calls that are examined for one page of a list.
  package var maxScan = CallQuery.defaultScanLimit
  /// From when on a due call that waits for its target is late.
  package var lateAfter = Duration.seconds(60)
  package var alertInterval = Duration.seconds(10)
  package var maxAlerts = 100
  package var maxCredentials = 1000
  /// Maximum bulk operations that run at a time.
  package var maxOperations = 16
  /// The rate of a bulk operation, in calls per second, if its client does not say.
  package var operationRate = 100
  /// The maximum number of stored policies.
  package var maxPolicies = 1000
  /// The maximum number of kept versions of a stored policy.
  package var maxPolicyVersions = 20
  /// The clients that may name a call's target.
  package var targetNaming = TargetNaming.operators
  /// What a submission does under the idempotency key of a call that has failed or was cancelled, if the call does not say.
  package var repetitionRule = RepetitionRule.rerun
  /// How attempts are made, without the egress policy.
  package var transport = TransportConfiguration(userAgent: "redial/\(redialVersion)")
  /// Where calls and webhooks may go; limits that follow from the service's own addresses are added when it listens.
  package var egress = EgressPolicy()
  /// The maximum time that a stop waits for attempts in flight. Docker allows ten seconds before it kills.
  package var drainTimeout = Duration.seconds(8)
  /// Which payloads the store keeps, and how.
  package var payloads = PayloadRule()
  /// How long finished calls are kept.
  package var retention = Retention()
  /// How long records of the audit log are kept, and how many at most.
  package var auditRetentionTime = Duration.seconds(90 * 86_400)
  package var maxAuditRecords = 100_000
  /// Space that is reserved on the store's disk, in bytes, for accepted calls and retention when the disk is full.
  package var reserveBytes = 64 << 20
  /// How often the store is examined for the metrics.
  package var storeWatchInterval = Duration.seconds(10)
  /// How much freed memory the process keeps for reuse, in bytes; more is returned to the system.
  package var keptFreeBytes = 16 << 20
  /// How many targets have their own gauges in the metrics; the rest are summed.
  package var namedTargets = 20
  /// Where spans of calls and attempts go.
  package var spans = SpanSettings()
  /// The format of log lines.
  package var logFormat = LogFormat.text
  /// The lowest level that is logged.
  package var logLevel = LogLevel.info
  /// The limits of the event stream.
  package var events = EventSettings()
  /// What all targets follow that have no settings of their own; the engine's settings have it already.
  package var targetDefaults = TargetOverrides()
  /// The engine's settings.
  package var engine = EngineSettings(breaker: .service)

  /// The defaults.
  package init() {}

  /// The maximum size of a call descriptor: a body in base 64, with space for the other members.
  package var maxDescriptorBytes: Int { maxBodyBytes * 4 / 3 + 128 * 1024 }

  /// Which payloads the store keeps and how, in the engine's form.
  var storedPayloads: PayloadRule {
    var rule = payloads
    rule.streamBodiesAbove = engine.streamBodiesAbove
    return rule
  }

  /// The limits for a client's descriptor.
  package var descriptorLimits: CallDescriptor.Limits {
    var limits = CallDescriptor.Limits(bodyBytes: maxBodyBytes, egress: egress.knowing(listen))
    limits.repetitionRule = repetitionRule
    return limits
  }
}
