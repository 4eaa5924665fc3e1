public import RedialCore
public import RedialJSON

/// An outage of a target: from the failures that open its breaker until that has stayed closed for a while. However often the
/// breaker becomes half-open and opens again meanwhile, it is one.
public struct TargetOutage: Sendable, Hashable {
  /// When the target began to fail.
  public var since: Timestamp
  /// What the attempt failed with that opened the breaker: a word such as `connectionRefused`, or `status 503`.
  public var cause: String
  /// When the breaker closed; nil while it is open or half-open.
  public var closedAt: Timestamp?
  /// The most calls that were due at once when the breaker changed.
  public var waited: Int

  /// How long the breaker has to stay closed until the outage is over.
  public static let steadyTime = Duration.seconds(30)

  /// Begins an outage.
  public init(since: Timestamp, cause: String, waited: Int) {
    self.since = since
    self.cause = cause
    self.waited = waited
  }

  /// When it is over if the breaker stays closed; nil while it is not closed.
  public var overAt: Timestamp? { closedAt.map { $0 + Self.steadyTime } }

  /// How long it lasted; nil if the breaker is not closed, or has not closed by itself.
  public var duration: Duration? { closedAt.map { max(.zero, $0 - since) } }

  /// Writes it as one object.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("since", since)
    writer.field("cause", cause)
    writer.field("closedAt", closedAt)
    writer.key("duration")
    if let duration { writer.string(duration: duration) } else { writer.null() }
    writer.field("callsWaited", waited)
    writer.endObject()
  }
}

extension TargetOutage: StoredRecord {
  public init() { self.init(since: .epoch, cause: "", waited: 0) }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout TargetOutage
  ) throws(Visitor.Failure) {
    try visitor.visit("since", &record.since)
    try visitor.visit("cause", &record.cause)
    try visitor.visit("closedAt", &record.closedAt)
    try visitor.visit("waited", &record.waited)
  }
}

/// How well a target works.
public enum TargetHealth: String, Sendable, Hashable, CaseIterable {
  /// Nothing is known against it.
  case up
  /// It works, but its outage is not over yet, its pace is limited, or many of its attempts fail.
  case degraded
  /// Its breaker is open or half-open because it failed.
  case down
}

extension TargetSnapshot {
  /// More than this share of the attempts of the last minutes is many.
  static let manyFailures = 0.1
  /// Of fewer attempts nothing is concluded.
  static let fewAttempts = 10

  /// How well it works.
  public var health: TargetHealth {
    if outage != nil { return breaker == .closed ? .degraded : .down }
    if pace?.rate != nil { return .degraded }
    let tally = recent.tally(over: .fiveMinutes, at: time)
    let isFailing = Double(tally.failures) > Double(tally.attempts) * Self.manyFailures
    return tally.attempts >= Self.fewAttempts && isFailing ? .degraded : .up
  }
}
