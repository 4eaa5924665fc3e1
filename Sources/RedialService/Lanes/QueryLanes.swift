internal import Dispatch
internal import Synchronization

/// Threads for reading the store, so that a query waits neither for writes nor on an event loop.
final class QueryLanes: Sendable {
  private let queues: [DispatchQueue]
  private let next = Atomic<Int>(0)
  private let waiting = Atomic<Int>(0)

  /// Queries that may wait at a time; more are refused.
  private static let maximumWaiting = 2000

  init(count: Int) {
    queues = (0..<max(1, count)).map { DispatchQueue(label: "redial.query.\($0)") }
  }

  /// Runs a query on one of the lanes; false, and it is not run, when too many wait already.
  func run(_ query: @escaping @Sendable () -> Void) -> Bool {
    guard waiting.add(1, ordering: .relaxed).newValue <= Self.maximumWaiting else {
      waiting.subtract(1, ordering: .relaxed)
      return false
    }
    enqueue {
      query()
      self.waiting.subtract(1, ordering: .relaxed)
    }
    return true
  }

  /// Runs a query on one of the lanes, however many wait, without taking a place from them: one whose answer is owed to
  /// somebody whose call was accepted. There is at most one for each open request.
  func runOwed(_ query: @escaping @Sendable () -> Void) { enqueue(query) }

  private func enqueue(_ query: @escaping @Sendable () -> Void) {
    let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
    queues[Int(UInt(bitPattern: index) % UInt(queues.count))].async(execute: query)
  }
}
