internal import Synchronization

/// Passes batches from many threads to one lane.
///
/// A sender that finds it empty wakes the lane; everything that is added until the lane reads is one batch.
final class Mailbox<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])
  /// The initial capacity in elements.
  private static var mostReserved: Int { 256 }

  /// Adds elements; true if the lane must be woken.
  func post(_ more: some Sequence<Element>) -> Bool {
    elements.withLock { waiting in
      let wasEmpty = waiting.isEmpty
      waiting.append(contentsOf: more)
      return wasEmpty && !waiting.isEmpty
    }
  }

  /// Adds elements; true if the lane must be woken. If the mailbox is empty, it takes the array itself, so that its
  /// elements are not copied.
  func post(_ more: [Element]) -> Bool {
    elements.withLock { waiting in
      guard waiting.isEmpty else {
        waiting.append(contentsOf: more)
        return false
      }
      waiting = more
      return !more.isEmpty
    }
  }

  /// Takes all elements.
  func takeAll() -> [Element] {
    elements.withLock { waiting in
      var taken: [Element] = []
      // The next batch probably has a similar size. Growing to it step by step would move its elements several times.
      taken.reserveCapacity(min(waiting.count, Self.mostReserved))
      swap(&taken, &waiting)
      return taken
    }
  }
}
