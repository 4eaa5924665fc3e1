package import RedialCore

/// The part of a breaker that is not closed which outlives the process.
package struct OpenBreaker: Sendable, Hashable {
  /// When it becomes half-open.
  package var until: Timestamp
  /// Openings since it last closed.
  package var trips: Int

  /// Creates the durable part of an open breaker.
  package init(until: Timestamp, trips: Int) {
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
