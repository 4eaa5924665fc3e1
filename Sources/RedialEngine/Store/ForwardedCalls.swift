internal import RedialCore
internal import RedialModel

/// The calls that other instances have forwarded a moment ago. A request between instances that is sent twice, by whoever
/// has recorded it, adds nothing: a call is refused when it comes again, and later because it is too old.
struct ForwardedCalls: Sendable {
  /// Maximum number of calls that are remembered. Their instances store the others themselves.
  static let most = 65_536

  private var ids: Set<CallID> = []
  /// In the order in which they came; those before `first` are forgotten.
  private var order: [GivenIdentity] = []
  private var first = 0

  /// Remembers a call that was in memory: it is refused when it comes.
  mutating func remember(_ identity: GivenIdentity) {
    guard ids.count < Self.most, ids.insert(identity.id).inserted else { return }
    order.append(identity)
  }

  /// Remembers a call. Returns false if it came before, or if there is no room.
  ///
  /// - Parameter patience: After this time a call is too old, and need not be remembered.
  mutating func take(_ identity: GivenIdentity, for patience: Duration, at now: Timestamp) -> Bool {
    while first < order.count, now - order[first].createdAt > patience {
      ids.remove(order[first].id)
      first += 1
    }
    if first == order.count {
      order.removeAll(keepingCapacity: true)
      first = 0
    } else if first > Self.most {
      order.removeFirst(first)
      first = 0
    }
    guard ids.count < Self.most, ids.insert(identity.id).inserted else { return false }
    order.append(identity)
    return true
  }
}
