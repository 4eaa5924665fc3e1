internal import Synchronization

/// Hands batches from many threads to one lane.
///
/// Whoever finds it empty wakes the lane; what comes in until the lane looks is one batch.
final class Mailbox<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])
  /// For how many elements room is made at once.
  private static var mostReserved: Int { 256 }

  /// Adds elements; true when the lane must be woken for them.
  func post(_ more: some Sequence<Element>) -> Bool {
    elements.withLock { waiting in
      let wasEmpty = waiting.isEmpty
      waiting.append(contentsOf: more)
      return wasEmpty && !waiting.isEmpty
    }
  }

  /// Adds elements; true when the lane must be woken for them. Whoever finds it empty leaves the array itself there, so
  /// that its elements are not copied.
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

  /// Takes everything that is there.
  func takeAll() -> [Element] {
    elements.withLock { waiting in
      var taken: [Element] = []
      // The next batch is likely to be like this one. Growing step by step to it would move what is there several times.
      taken.reserveCapacity(min(waiting.count, Self.mostReserved))
      swap(&taken, &waiting)
      return taken
    }
  }
}
