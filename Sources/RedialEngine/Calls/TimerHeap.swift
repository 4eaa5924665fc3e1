internal import RedialCore
internal import RedialModel

/// Times at which something is to be looked at, earliest first: a 4-ary heap.
///
/// Nothing is ever taken out of the middle. A timer carries its call's stamp,
/// and one whose stamp is no longer the call's is void.
struct TimerHeap: Sendable {
  struct Timer: Sendable {
    var at: Timestamp
    var subject: Subject
  }

  enum Subject: Sendable {
    case call(CallID, stamp: UInt32)
    case target(Int)
  }

  private var heap: [Timer] = []

  var count: Int { heap.count }
  var earliest: Timestamp? { heap.first?.at }

  mutating func add(_ subject: Subject, at time: Timestamp) {
    heap.append(Timer(at: time, subject: subject))
    siftUp(heap.count - 1)
  }

  /// Takes the earliest timer, if its time has come.
  mutating func next(at now: Timestamp) -> Subject? {
    guard let first = heap.first, first.at <= now else { return nil }
    let last = heap.removeLast()
    if !heap.isEmpty {
      heap[0] = last
      siftDown(0)
    }
    return first.subject
  }

  /// Drops every timer that is void.
  mutating func prune(keeping isLive: (Subject) -> Bool) {
    heap.removeAll { !isLive($0.subject) }
    guard heap.count > 1 else { return }
    for index in stride(from: (heap.count - 2) / 4, through: 0, by: -1) { siftDown(index) }
  }

  private mutating func siftUp(_ start: Int) {
    var index = start
    while index > 0 {
      let parent = (index - 1) / 4
      guard heap[index].at < heap[parent].at else { return }
      heap.swapAt(index, parent)
      index = parent
    }
  }

  private mutating func siftDown(_ start: Int) {
    var index = start
    while true {
      let first = index * 4 + 1
      guard first < heap.count else { return }
      var least = first
      for child in (first + 1)..<max(first + 1, min(first + 4, heap.count)) where heap[child].at < heap[least].at {
        least = child
      }
      guard heap[least].at < heap[index].at else { return }
      heap.swapAt(index, least)
      index = least
    }
  }
}
