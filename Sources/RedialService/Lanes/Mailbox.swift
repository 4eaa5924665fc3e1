internal import Synchronization

/// Hands batches from many threads to one lane.
///
/// Whoever finds it empty wakes the lane; what comes in until the lane looks is one batch.
final class Mailbox<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])

  /// Adds elements; true when the lane must be woken for them.
  func post(_ more: some Sequence<Element>) -> Bool {
    elements.withLock { waiting in
      let wasEmpty = waiting.isEmpty
      waiting.append(contentsOf: more)
      return wasEmpty && !waiting.isEmpty
    }
  }

  /// Takes everything that is there.
  func takeAll() -> [Element] {
    elements.withLock { waiting in
      var taken: [Element] = []
      swap(&taken, &waiting)
      return taken
    }
  }
}
