/// A queue of waiters that any of them can leave early.
///
/// Ids grow, so a dictionary and a lower limit for the ids in it are enough. Adding and removing take constant time,
/// and so does ``takeFirst()`` on average: it passes each id once.
struct WaitQueue<Element> {
  private var entries: [UInt64: Element] = [:]
  /// No entry has a lower id.
  private var oldest: UInt64
  /// The id of the next entry; no entry has a higher id.
  private(set) var next: UInt64

  /// An empty queue whose ids begin at a number.
  init(from first: UInt64 = 0) {
    oldest = first
    next = first
  }

  var count: Int { entries.count }
  var isEmpty: Bool { entries.isEmpty }

  /// Adds an element at the end, and returns its id.
  mutating func append(_ element: Element) -> UInt64 {
    defer { next += 1 }
    entries[next] = element
    return next
  }

  /// Removes the element that has waited longest; nil if there is none.
  mutating func takeFirst() -> Element? {
    while oldest < next {
      defer { oldest += 1 }
      if let element = entries.removeValue(forKey: oldest) { return element }
    }
    return nil
  }

  /// Removes any element; nil if it was removed before.
  @discardableResult
  mutating func remove(_ id: UInt64) -> Element? { entries.removeValue(forKey: id) }
}

extension WaitQueue: Sendable where Element: Sendable {}
