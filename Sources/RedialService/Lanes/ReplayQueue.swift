internal import RedialModel
internal import Synchronization

/// The items of one batch that repeat what was accepted before, until they are read: a page at a time, one page after the
/// other, so that a batch takes one place among the queries, whatever its size.
final class ReplayQueue: Sendable {
  /// An item, by its place in the batch, and the call that it repeats.
  struct Item: Sendable, Equatable {
    var index: Int
    var id: CallID
  }

  private struct Waiting: Sendable {
    var items: [Item] = []
    /// How many of the first of `items` are gone already.
    var taken = 0
    var isBeingRead = false
  }

  private let waiting = Mutex(Waiting())

  /// Items that are read at a time.
  static let page = 100

  /// Notes an item; true if nobody reads, so that the caller has to see to it.
  func add(_ item: Item) -> Bool {
    waiting.withLock { waiting in
      waiting.items.append(item)
      defer { waiting.isBeingRead = true }
      return !waiting.isBeingRead
    }
  }

  /// Takes out the next page, for whoever reads; empty when there is nothing left, and then nobody reads any more.
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
