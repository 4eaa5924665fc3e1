public import RedialCore

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
  public init() { self.init(until: .epoch, trips: 0) }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout OpenBreaker
  ) throws(Visitor.Failure) {
    try visitor.visit("until", &record.until)
    try visitor.visit("trips", &record.trips)
  }
}
