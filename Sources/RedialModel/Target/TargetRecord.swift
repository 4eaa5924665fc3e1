public import RedialCore

/// All of a target that outlives the process. The owner of its shard writes it whole; stores have it as bytes.
public struct TargetRecord: Sendable, Hashable {
  /// What operators have set.
  public var controls = TargetControls()
  /// Its breaker; nil if it is closed.
  public var breaker: OpenBreaker?
  /// What its pace has learned; nil if it was never saved.
  public var pace: SavedPace?
  /// The failures that are usual for it; nil if there are hardly any.
  public var usual: UsualShare?
  /// Until when it asked to be left alone by `Retry-After`; nil if it did not, only for a short time, or an operator has ended it.
  public var askedUntil: Timestamp?
  /// Its outage; nil if it has none.
  public var outage: TargetOutage?
  /// Its outages that are over, the latest first.
  public var pastOutages: [TargetOutage] = []

  /// The most outages of a target that are kept when they are over: the latest.
  public static let mostPastOutages = 10
  /// How long an outage is kept that is over.
  public static let pastOutageMemory = Duration.seconds(30 * 86_400)

  /// Creates a record; by default an empty one.
  public init(
    controls: TargetControls = TargetControls(isPaused: false), breaker: OpenBreaker? = nil, pace: SavedPace? = nil,
    usual: UsualShare? = nil, askedUntil: Timestamp? = nil, outage: TargetOutage? = nil
  ) {
    self.controls = controls
    self.breaker = breaker
    self.pace = pace
    self.usual = usual
    self.askedUntil = askedUntil
    self.outage = outage
  }

  /// In place of one that cannot be read: it may have been paused, or have had limits, or may have hidden what calls contain.
  public static var unreadable: TargetRecord {
    var controls = TargetControls(isPaused: true)
    controls.overrides.isSensitive = true
    return TargetRecord(controls: controls)
  }

  /// What still matters: a pace that is old, and a time that is over, do not.
  public func current(at now: Timestamp) -> TargetRecord {
    var record = self
    if breaker == nil, let pace, now - pace.at > SavedPace.memory { record.pace = nil }
    if let usual, now - usual.at > UsualFailures.memoryTime { record.usual = nil }
    if let askedUntil, askedUntil <= now { record.askedUntil = nil }
    record.pastOutages = keptOutages(at: now)
    return record
  }

  /// Whether it has secrets, which a store keeps encrypted.
  public var hasSecrets: Bool { controls.overrides.hasSecrets }

  /// Its outage, if it has one, is over, and is kept for people to see.
  public mutating func endOutage(at now: Timestamp) {
    guard let outage else { return }
    self.outage = nil
    pastOutages.insert(outage, at: 0)
    pastOutages = Array(keptOutages(at: now).prefix(Self.mostPastOutages))
  }

  /// The outages that are over and not too old to be kept.
  private func keptOutages(at now: Timestamp) -> [TargetOutage] {
    pastOutages.filter { now - ($0.closedAt ?? $0.since) <= Self.pastOutageMemory }
  }

  /// How the target stands now, for an instance that does not run its calls. Rates, budgets and the number of attempts in
  /// flight are in the owner's memory alone.
  public func standing(at now: Timestamp) -> TargetStanding {
    var standing = TargetStanding(isPaused: controls.isPaused, retryAfterUntil: askedUntil)
    // The owner does not write when a breaker becomes half-open.
    if let breaker { standing.breaker = breaker.until > now ? .open(until: breaker.until) : .halfOpen }
    if controls.isTripped { standing.breaker = .tripped }
    // While there is a limit it is written again at intervals. One that was not belongs to a target without calls.
    if let pace, pace.isLimited { standing.isPaced = now - pace.at < AdaptivePace.memory }
    return standing
  }
}

extension TargetRecord: StoredRecord {
  public init() { self.init(controls: TargetControls()) }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout TargetRecord
  ) throws(Visitor.Failure) {
    try visitor.visit("controls", &record.controls)
    try visitor.visit("breaker", &record.breaker)
    try visitor.visit("pace", &record.pace)
    try visitor.visit("usual", &record.usual)
    try visitor.visit("askedUntil", &record.askedUntil)
    try visitor.visit("outage", &record.outage)
    try visitor.visit("pastOutages", &record.pastOutages)
  }
}
