internal import RedialModel

/// The due calls of a target that wait in the store, and the refill that loads some of them.
struct StoredCalls: Sendable {
  /// How many there are.
  private(set) var count = 0
  /// The highest priority that one of them can have.
  private(set) var priority = 0
  /// How many calls the current refill has requested.
  private(set) var expected = 0
  /// How many were written since the refill was requested; nil while there is no refill.
  private var sinceRefill: Int?

  /// Whether some were requested and have not arrived.
  var isRefilling: Bool { sinceRefill != nil }

  /// Takes over what an earlier process left. No new call may overtake these, which can have any priority.
  mutating func recover(_ count: Int) {
    self.count = count
    priority = CallSpec.priorities.upperBound
  }

  /// A call was written there.
  mutating func append(priority: Int) {
    self.priority = max(count == 0 ? 0 : self.priority, priority)
    count += 1
    if let since = sinceRefill { sinceRefill = since + 1 }
  }

  /// One has left by another way than a refill. If some are requested at that time, too many may be counted until the
  /// next refill, but never too few.
  mutating func remove() {
    count = max(0, count - 1)
  }

  /// Some are requested.
  mutating func beginRefill(_ limit: Int) {
    sinceRefill = 0
    expected = limit
  }

  /// The refill has been answered, or has failed. Returns how many calls were written since it was requested.
  @discardableResult
  mutating func endRefill() -> Int {
    expected = 0
    defer { sinceRefill = nil }
    return sinceRefill ?? 0
  }

  /// So many have arrived.
  ///
  /// - Parameters:
  ///   - complete: Whether the store has no more of those that were there when they were requested.
  ///   - since: How many were written since.
  mutating func arrived(_ arrived: Int, complete: Bool, since: Int) {
    count = complete ? since : max(0, count - arrived)
  }
}
