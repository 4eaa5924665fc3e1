public import RedialCore

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
  public init() { self.init(delivered: 0, isLimited: false, at: .epoch) }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout SavedPace
  ) throws(Visitor.Failure) {
    try visitor.visit("delivered", &record.delivered)
    try visitor.visit("limited", &record.isLimited)
    try visitor.visit("at", &record.at)
  }
}
