public import RedialCore
package import RedialJSON

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

  /// Creates a record; by default an empty one.
  public init(
    controls: TargetControls = TargetControls(isPaused: false), breaker: OpenBreaker? = nil, pace: SavedPace? = nil,
    usual: UsualShare? = nil, askedUntil: Timestamp? = nil
  ) {
    self.controls = controls
    self.breaker = breaker
    self.pace = pace
    self.usual = usual
    self.askedUntil = askedUntil
  }

  /// What still matters: a pace that is old, and a time that is over, do not.
  package func current(at now: Timestamp) -> TargetRecord {
    var record = self
    if breaker == nil, let pace, now - pace.at > SavedPace.memory { record.pace = nil }
    if let usual, now - usual.at > UsualFailures.memoryTime { record.usual = nil }
    if let askedUntil, askedUntil <= now { record.askedUntil = nil }
    return record
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
  package init() { self.init(controls: TargetControls()) }

  package static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout TargetRecord
  ) throws(Visitor.Failure) {
    try visitor.visit("controls", &record.controls)
    try visitor.visit("breaker", &record.breaker)
    try visitor.visit("pace", &record.pace)
    try visitor.visit("usual", &record.usual)
    try visitor.visit("askedUntil", &record.askedUntil)
  }
}

/// An operator's changes to a target.
public struct TargetControls: Sendable, Hashable {
  /// Its overrides.
  public var overrides: TargetOverrides
  /// Whether the target is paused: no call to it is started.
  public var isPaused: Bool
  /// Whether an operator holds its breaker open.
  public var isTripped: Bool

  /// Creates controls; by default without changes.
  public init(overrides: TargetOverrides = TargetOverrides(), isPaused: Bool = false, isTripped: Bool = false) {
    self.overrides = overrides
    self.isPaused = isPaused
    self.isTripped = isTripped
  }
}

extension TargetControls: StoredRecord {
  package init() { self.init(overrides: TargetOverrides()) }

  package static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout TargetControls
  ) throws(Visitor.Failure) {
    try visitor.visit("overrides", &record.overrides)
    try visitor.visit("paused", &record.isPaused)
    try visitor.visit("tripped", &record.isTripped)
  }
}

/// As clients write and read them.
extension TargetOverrides: FieldValue {
  package static var unset: TargetOverrides { TargetOverrides() }

  package static func read(_ reader: inout JSONReader) throws(JSONError) -> TargetOverrides {
    let range = try reader.skipValue()
    do throws(Problem) {
      return try read(reader.raw(range))
    } catch {
      throw JSONError(offset: range.lowerBound, reason: error.detail)
    }
  }
}

/// The part of a breaker that is not closed which outlives the process.
public struct OpenBreaker: Sendable, Hashable {
  /// When it becomes half-open.
  public var until: Timestamp
  /// Openings since it last closed.
  public var trips: Int

  /// Creates the durable part of an open breaker.
  public init(until: Timestamp, trips: Int) {
    self.until = until
    self.trips = trips
  }
}

extension OpenBreaker: StoredRecord {
  package init() { self.init(until: .epoch, trips: 0) }

  package static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout OpenBreaker
  ) throws(Visitor.Failure) {
    try visitor.visit("until", &record.until)
    try visitor.visit("trips", &record.trips)
  }
}

/// What a target's pace has learned and the next owner of the target uses.
public struct SavedPace: Sendable, Hashable {
  /// Requests per second that the target processed; 0 if unknown.
  public var delivered: Double
  /// Whether the pace had a limit.
  public var isLimited: Bool
  /// When it was saved.
  public var at: Timestamp

  /// After this time it is not used any more, unless the target's breaker is open.
  public static let memory = Duration.seconds(3600)

  /// Creates the durable part of a pace.
  public init(delivered: Double, isLimited: Bool, at: Timestamp) {
    self.delivered = delivered
    self.isLimited = isLimited
    self.at = at
  }
}

extension SavedPace: StoredRecord {
  package init() { self.init(delivered: 0, isLimited: false, at: .epoch) }

  package static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout SavedPace
  ) throws(Visitor.Failure) {
    try visitor.visit("delivered", &record.delivered)
    try visitor.visit("limited", &record.isLimited)
    try visitor.visit("at", &record.at)
  }
}

/// The part of ``UsualFailures`` that outlives the process.
public struct UsualShare: Sendable, Hashable {
  /// The share of failures, 0...1.
  public var share: Double
  /// When the last outcome ended that it is of.
  public var at: Timestamp

  /// Less than this is not worth a record.
  static let least = 0.01

  /// Nil if failures are not usual.
  public init?(_ usual: UsualFailures) {
    guard usual.share >= Self.least else { return nil }
    share = (usual.share * 1000).rounded() / 1000
    at = usual.learnedAt
  }
}

extension UsualShare: StoredRecord {
  package init() { (share, at) = (0, .epoch) }

  package static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout UsualShare
  ) throws(Visitor.Failure) {
    try visitor.visit("share", &record.share)
    try visitor.visit("at", &record.at)
  }
}
