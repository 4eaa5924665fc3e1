internal import RedialModel
internal import Synchronization

/// The items of one batch that repeat earlier submissions, or may do so, until they are read: a page at a time, one after
/// the other, so that a batch uses one place among the queries, whatever its size.
final class ReplayQueue: Sendable {
  /// An item, with its position in the batch.
  struct Item: Sendable {
    enum Content: Sendable {
      case repeats(CallID, Submitter)
      /// It cannot be accepted as things are now, but was perhaps accepted before under this key.
      case refused(Problem, IdempotencyKey)
    }

    var index: Int
    var content: Content

    /// The key that must be looked up.
    var key: IdempotencyKey? { if case .refused(_, let key) = content { key } else { nil } }
  }

  private struct Waiting: Sendable {
    var items: [Item] = []
    /// How many of the first of `items` were removed.
    var taken = 0
    var isBeingRead = false
  }

  private let waiting = Mutex(Waiting())

  /// Items that are read at a time.
  static let page = 100

  /// Adds an item; true if nobody reads, so that the caller must start a reader.
  func add(_ item: Item) -> Bool {
    waiting.withLock { waiting in
      waiting.items.append(item)
      defer { waiting.isBeingRead = true }
      return !waiting.isBeingRead
    }
  }

  /// Removes the next page for the reader; empty if nothing is left, and then the reader ends.
  func next() -> [Item] {
    waiting.withLock { waiting in
      let page = Array(waiting.items[waiting.taken...].prefix(Self.page))
      waiting.taken += page.count
      if waiting.taken == waiting.items.count {
        waiting.items.removeAll()
        waiting.taken = 0
      }
      if page.isEmpty { waiting.isBeingRead = false }
      return page
    }
  }
}
