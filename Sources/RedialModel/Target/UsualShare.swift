public import RedialCore

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
  public init() { (share, at) = (0, .epoch) }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout UsualShare
  ) throws(Visitor.Failure) {
    try visitor.visit("share", &record.share)
    try visitor.visit("at", &record.at)
  }
}
