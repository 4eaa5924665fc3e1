internal import RedialCore
internal import RedialModel

/// With which errors calls to a target have failed lately. Those that are over the bound are one issue: a target that says
/// something else each time makes no issue for each of its calls.
struct KnownErrors: Sendable {
  private var lastSeen: [IssueID: Timestamp] = [:]

  /// How many errors are distinguished.
  static let most = 50
  /// An error that did not come for so long makes room.
  static let time = Duration.seconds(86_400)

  /// The group that a failed call belongs to.
  mutating func place(_ group: FailedGroup, at now: Timestamp) -> IssueID {
    let id = group.id
    if lastSeen[id] == nil, lastSeen.count >= Self.most {
      lastSeen = lastSeen.filter { now - $0.value < Self.time }
      if lastSeen.count >= Self.most { return group.others.id }
    }
    lastSeen[id] = now
    return id
  }
}
