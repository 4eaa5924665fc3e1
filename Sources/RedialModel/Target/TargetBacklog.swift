internal import RedialJSON

/// The calls to a target that have not run yet, by their wait reason.
public struct TargetBacklog: Sendable, Hashable {
  /// The number of calls by reason.
  public private(set) var counts: [WaitReason: Int] = [:]
  /// Whether all were counted; false if there are more than the limit.
  public var isComplete: Bool

  /// No calls.
  public init(isComplete: Bool = true) {
    self.isComplete = isComplete
  }

  /// All of them.
  public var total: Int { counts.values.reduce(0, +) }

  /// Counts calls with one reason.
  public mutating func add(_ number: Int, _ reason: WaitReason) {
    if number > 0 { counts[reason, default: 0] += number }
  }

  /// Writes it as one object, its reasons in the order of ``WaitReason``.
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("total", total)
    writer.field("isComplete", isComplete)
    writer.key("byReason")
    writer.beginObject()
    for reason in WaitReason.allCases {
      guard let count = counts[reason] else { continue }
      writer.key(reason.name)
      writer.integer(Int64(count))
    }
    writer.endObject()
    writer.endObject()
  }
}
