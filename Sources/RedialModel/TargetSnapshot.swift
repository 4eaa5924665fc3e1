public import RedialCore
public import RedialJSON
internal import RedialText

/// The state of a target at one moment.
public struct TargetSnapshot: Sendable, Hashable {
  /// The state of a target's breaker, in the words of the API.
  public enum BreakerState: String, Sendable, Hashable, CaseIterable {
    /// Calls pass.
    case closed
    /// No call passes.
    case open
    /// Probes pass.
    case halfOpen
  }

  /// The target's key.
  public var key: TargetKey
  /// Its breaker's state.
  public var breaker: BreakerState
  /// When an open breaker becomes half-open.
  public var openUntil: Timestamp?
  /// Openings since the breaker last closed.
  public var trips: Int
  /// Failures in a row.
  public var consecutiveFailures: Int
  /// Attempts in flight.
  public var inFlight: Int
  /// Calls that are due and wait for the target.
  public var waiting: Int
  /// Those of them that are in the store.
  public var storedCalls = 0
  /// Whether an operator has paused it.
  public var isPaused: Bool
  /// Whether an operator holds its breaker open.
  public var isTripped: Bool
  /// The end of its Retry-After pause.
  public var retryAfterUntil: Timestamp?
  /// What its adaptive pace has found; nil if its pace is fixed.
  public var pace: AdaptivePace?
  public var settings: TargetSettings
  /// Its own overrides among them.
  public var overrides = TargetOverrides()
  /// The pattern of the rule that the other settings follow, before the service's settings; nil if none matches.
  public var pattern: String?
  /// Its waiting calls, by reason.
  public var backlog = TargetBacklog()
  /// Its outage; nil if it has none.
  public var outage: TargetOutage?
  /// Its outages that are over, the latest first.
  public var pastOutages: [TargetOutage] = []
  /// What of it fails while the rest works.
  public var failing: [FailingPart] = []
  /// Results of its recent attempts.
  public var recent = RecentAttempts()
  /// How its calls ended.
  public var ends = TargetEnds()
  /// Since when the oldest of its due calls is due, or at least since then; nil if none is, or if that was not looked up.
  public var oldestDueAt: Timestamp?
  /// The time of the snapshot.
  public var time = Timestamp.epoch

  /// Creates a snapshot.
  public init(
    key: TargetKey, breaker: BreakerState, openUntil: Timestamp?, trips: Int, consecutiveFailures: Int, inFlight: Int,
    waiting: Int, isPaused: Bool = false, isTripped: Bool = false, retryAfterUntil: Timestamp? = nil,
    settings: TargetSettings = TargetSettings()
  ) {
    self.key = key
    self.breaker = breaker
    self.openUntil = openUntil
    self.trips = trips
    self.consecutiveFailures = consecutiveFailures
    self.inFlight = inFlight
    self.waiting = waiting
    self.isPaused = isPaused
    self.isTripped = isTripped
    self.retryAfterUntil = retryAfterUntil
    self.settings = settings
  }

  /// Since when the oldest of its due calls is due, and how many wait for the target, by reason, once they are late; nil
  /// before. `redial status` and the dashboard have the same rule.
  ///
  /// - Parameter least: How long the oldest has been due at least.
  public func late(after least: Duration, at now: Timestamp) -> (oldest: Timestamp, waits: [WaitReason: Int])? {
    guard let oldest = oldestDueAt, now - oldest >= least else { return nil }
    return (oldest, backlog.counts.filter { !$0.key.isOfCall && $0.key != .ordering })
  }

  /// Writes the target as one object.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("key", key.bare)
    writer.field("state", health.rawValue)
    writer.key("outage")
    if let outage { outage.write(to: &writer) } else { writer.null() }
    writer.key("pastOutages")
    writer.beginArray()
    for outage in pastOutages { outage.write(to: &writer) }
    writer.endArray()
    writer.key("breaker")
    writer.beginObject()
    writer.field("state", breaker.rawValue)
    writer.field("openUntil", openUntil)
    writer.field("trips", trips)
    writer.field("consecutiveFailures", consecutiveFailures)
    writer.endObject()
    writer.field("inFlight", inFlight)
    writer.field("waiting", waiting)
    writer.field("oldestDueAt", oldestDueAt)
    writer.field("paused", isPaused)
    writer.field("tripped", isTripped)
    writer.field("heldUntil", retryAfterUntil)
    writer.key("pace")
    writePace(to: &writer)
    writer.key("settings")
    settings.write(to: &writer)
    writer.key("overrides")
    overrides.write(hidingSecrets: true, to: &writer)
    writer.field("pattern", pattern)
    writer.key("backlog")
    backlog.write(to: &writer)
    writer.key("recent")
    recent.write(to: &writer, at: time)
    writer.key("timeToSuccess")
    ends.timesToSuccess(at: time).write(to: &writer)
    writer.key("drainEstimate")
    if let drainEstimate { writer.string(DurationText.format(drainEstimate)) } else { writer.null() }
    writer.endObject()
  }

  private func writePace(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("mode", (pace == nil ? Pace.fixed : .adaptive).rawValue)
    if let pace {
      writer.key("rate")
      if let rate = pace.rate { writer.double((rate * 100).rounded() / 100) } else { writer.null() }
      writer.field("deliveredPerSecond", (pace.delivered * 100).rounded() / 100)
      writer.field("reason", pace.reason.word)
      writer.field("changedAt", pace.changedAt == .epoch ? nil : pace.changedAt)
    }
    writer.endObject()
  }
}
