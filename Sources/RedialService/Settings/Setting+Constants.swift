internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialTransport

/// Bounds that nobody has a reason to change. They are constants, but for tests, which reach some of them sooner when they
/// are small.
extension Setting {
  /// The constants that tests may change.
  static let constants: [Setting] = [
    whole(
      "keptFreeBytes", \.keptFreeBytes, 0...(1 << 40),
      "Freed memory that the process keeps for reuse, in bytes; more goes back to the system within seconds."),
    whole(
      "maxOutputBacklogBytes", \.http.maxOutputBacklogBytes, 1...(1 << 30),
      "When this many bytes of answers wait for a client, no more answers are made for it."),
    duration("headerTimeout", \.http.headerTimeout, "Maximum time to receive the header section of a request."),
    duration(
      "writeTimeout", \.http.writeTimeout, "How long a client may leave an answer unread before it is cut off."),
    share(
      "targetShare", \.engine.targetShare,
      "Maximum share of maxInFlight for one target, of its own attempts and the free places together."),
    share(
      "unprovenShare", \.engine.unprovenShare,
      "Maximum share of maxInFlight for all targets that have not proven to answer; 1 for no limit."),
    whole(
      "streamBodiesAbove", \.engine.streamBodiesAbove, 0...Int.max,
      "Largest request body that is held in memory, in bytes. A larger one is sent from the store."),
    duration("storeWatchInterval", \.storeWatchInterval, "How often the store is examined for the metrics."),
    whole(
      "maxWaiting", \.maxWaiting, 0...1_000_000,
      "Maximum clients that wait for a call to end; others are answered at once."),
    whole(
      "maxHops", \.maxHops, 0...100,
      "How often a call may be submitted by the attempt of another call, one after the other."),
    whole(
      "maxScan", \.maxScan, 100...1_000_000,
      "Maximum calls examined for one page of a list, for conditions without an index; long URLs count as several."),
    duration("lateAfter", \.lateAfter, "From when on a due call that waits for its target is an issue."),
    duration("alertInterval", \.alertInterval, "How often it is looked whether what alerts watch for is true."),
    duration(
      "maxConnectionAge", \.transport.maxConnectionAge,
      "How long a connection to a target takes further requests, less up to a fifth; it takes 1,000, and is idle for 30s, "
        + "at most."),
    duration(
      "nameCacheTime", \.transport.nameCacheTime, "How long the address of a name is remembered, in whole seconds."),
    whole(
      "namedTargets", \.namedTargets, 0...1000,
      "The busiest targets that have their own gauges in the metrics; the others are summed."),
    whole("maxWebhookEndpoints", \.maxWebhookEndpoints, 0...10_000, "Maximum webhook endpoints."),
    whole("maxCredentials", \.maxCredentials, 1...100_000, "Maximum credentials of a namespace."),
    whole("maxAlerts", \.maxAlerts, 1...10_000, "Maximum alerts of a namespace."),
    whole("maxOperations", \.maxOperations, 1...1000, "Maximum bulk operations that run at a time."),
    whole(
      "maxHeaderBytes", \.http.maxHeaderBytes, 64...(1 << 20), "Maximum size of a request's header section, in bytes."),
    duration("bodyTimeout", \.http.bodyTimeout, "Maximum time to receive the body of a request."),
    duration("idleTimeout", \.http.idleTimeout, "How long a client's connection may be idle."),
    whole(
      "maxHeld", \.engine.maxHeld, 1...10_000_000, "Maximum calls that wait in memory; the others wait in the store."),
    whole(
      "maxAuditRecords", \.maxAuditRecords, 1...10_000_000,
      "Maximum records of the audit log; beyond it the oldest are removed early."),
    duration("maxWaitTime", \.maxWaitTime, "How long a client may wait for a call to end."),
    whole("maxBatch", \.maxBatch, 1...100_000, "Maximum calls in one request."),
    duration(
      "maxRetryAfterPause", \.engine.maxRetryAfterPause,
      "Maximum time that one Retry-After pauses all calls to its target."
    ),
    duration(
      "webhookDisableAfter", \.webhookDisableAfter,
      "A webhook endpoint is disabled when all its deliveries have failed for this long."),
    whole(
      "maxEvents", \.events.maxKept, 1...10_000_000,
      "Events of one namespace that are kept for listeners that are slow or reconnect."),
    duration("eventHeartbeat", \.events.heartbeat, "How often listeners get a sign that the connection is alive."),
    whole("maxPolicies", \.maxPolicies, 1...10_000, "Maximum stored policies."),
    whole("maxPolicyVersions", \.maxPolicyVersions, 1...1000, "Versions that are kept of a stored policy."),
    duration(
      "happyEyeballsDelay", \.transport.happyEyeballsDelay,
      "How long a target's IPv6 address is tried alone before its IPv4 address is tried too."),
    whole(
      "maxEventListeners", \.events.maxListeners, 0...100_000,
      "Maximum clients of one namespace that listen to events."),
    duration(
      "eventLinger", \.events.linger,
      "How long events are kept after the last listener has left, so that it can come back without a gap."),
    duration("otlpInterval", \.spans.interval, "Maximum time that spans wait before they are sent to the collector."),
    duration("otlpTimeout", \.spans.timeout, "Maximum time of a request to the collector."),
    whole(
      "maxSpans", \.spans.maxWaiting, 1...10_000_000,
      "Maximum spans that wait for the collector; more are dropped and counted."),
  ]

  /// The variable that changes them: `maxScan=100,maxHops=2`.
  static let constantsVariable = "REDIAL_TEST_CONSTANTS"
}
