public import RedialCore

/// A target as it stands at one moment.
public struct TargetSnapshot: Sendable, Hashable {
  /// The state of a target's breaker, in the words of the wire.
  public enum BreakerState: String, Sendable, Hashable, CaseIterable {
    /// Calls pass.
    case closed
    /// No call passes.
    case open
    /// Probes pass.
    case halfOpen
  }

  /// The target's key, qualified by its namespace.
  public var key: String
  /// Its breaker's state.
  public var breaker: BreakerState
  /// When an open breaker lets probes through.
  public var openUntil: Timestamp?
  /// Openings since the breaker last closed.
  public var trips: Int
  /// Failures in a row.
  public var consecutiveFailures: Int
  /// Attempts in flight.
  public var inFlight: Int
  /// Calls that are due and wait for the target.
  public var waiting: Int
  /// Whether somebody has paused it.
  public var isPaused: Bool
  /// Whether somebody holds its breaker open.
  public var isTripped: Bool
  /// When it wants to be asked again, by its own word.
  public var heldUntil: Timestamp?
  /// What holds for it.
  public var settings: TargetSettings
  /// What of that was set for it alone.
  public var overrides = TargetOverrides()
  /// The pattern of the rule that the rest follows, before the service's settings; nil when none matches.
  public var pattern: String?
  /// What its calls wait for.
  public var backlog = TargetBacklog()
  /// Results of its recent attempts.
  public var recent = RecentAttempts()
  /// Which moment it is.
  public var time = Timestamp.epoch

  /// Creates a snapshot.
  public init(
    key: String, breaker: BreakerState, openUntil: Timestamp?, trips: Int, consecutiveFailures: Int, inFlight: Int,
    waiting: Int, isPaused: Bool = false, isTripped: Bool = false, heldUntil: Timestamp? = nil,
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
    self.heldUntil = heldUntil
    self.settings = settings
  }

  /// Writes the target as one object.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("key", QualifiedKey.bare(key))
    writer.key("breaker")
    writer.beginObject()
    writer.field("state", breaker.rawValue)
    writer.field("openUntil", openUntil)
    writer.field("trips", trips)
    writer.field("consecutiveFailures", consecutiveFailures)
    writer.endObject()
    writer.field("inFlight", inFlight)
    writer.field("waiting", waiting)
    writer.field("paused", isPaused)
    writer.field("tripped", isTripped)
    writer.field("heldUntil", heldUntil)
    writer.key("settings")
    settings.write(to: &writer)
    writer.key("overrides")
    overrides.write(to: &writer)
    writer.field("pattern", pattern)
    writer.key("backlog")
    backlog.write(to: &writer)
    writer.key("recent")
    recent.write(to: &writer, at: time)
    writer.key("drainEstimate")
    if let drainEstimate { writer.string(DurationText.format(drainEstimate)) } else { writer.null() }
    writer.endObject()
  }
}
