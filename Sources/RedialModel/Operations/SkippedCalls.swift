public import RedialCore
public import RedialJSON

/// Matching calls that an operation would leave as they are, by reason: what a dry run says beside how many match.
public struct SkippedCalls: Sendable, Hashable {
  /// Why an operation leaves a matching call as it is. The words are the API's.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// Its payloads were erased.
    case contentErased
    /// It cannot be read.
    case callDamaged
    /// It has an ordering key. New calls would go in another order than the old ones.
    case ordered
    /// It has changed since it was found, or is gone.
    case stateChanged
  }

  /// The most calls that are checked, the newest.
  public static let mostChecked = 5000

  /// How many calls were checked.
  public private(set) var checked = 0
  private var counts: [Reason: Int] = [:]

  /// Nothing is checked.
  public init() {}

  /// Adds a call.
  ///
  /// - Parameter reason: Why it would be left as it is; nil if it would not.
  public mutating func add(_ reason: Reason?) {
    checked += 1
    if let reason { counts[reason, default: 0] += 1 }
  }

  /// Writes them as one object.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("calls", counts.values.reduce(0, +))
    writer.field("checked", checked)
    writer.key("reasons")
    writer.beginObject()
    for reason in Reason.allCases {
      guard let count = counts[reason] else { continue }
      writer.key(reason.rawValue)
      writer.integer(Int64(count))
    }
    writer.endObject()
    writer.endObject()
  }
}

extension BulkRequest {
  /// Why this operation would leave a call as it is that has matched; nil if it would not.
  ///
  /// - Parameter time: When it matched.
  public func skipReason(of call: CallRecord, foundAt time: Timestamp) -> SkippedCalls.Reason? {
    let progress = call.progress
    guard filter.states.contains(progress.state.visible), progress.finishedAt.map({ $0 <= time }) ?? true else {
      return .stateChanged
    }
    if action == .replay, call.spec.orderingKey != nil { return .ordered }
    return (action == .retry || action == .replay) && call.spec.contentErasedAt != nil ? .contentErased : nil
  }
}
