internal import RedialCore

/// Future happenings in order of time; those at one time, in the order in which they were added.
struct Agenda<Element> {
  private struct Entry {
    var at: Timestamp
    var order: Int
    var element: Element

    func precedes(_ other: Entry) -> Bool { (at, order) < (other.at, other.order) }
  }

  private var heap: [Entry] = []
  private var added = 0

  /// When the first is.
  var first: Timestamp? { heap.first?.at }

  mutating func add(_ element: Element, at time: Timestamp) {
    heap.append(Entry(at: time, order: added, element: element))
    added += 1
    var index = heap.count - 1
    while index > 0, heap[index].precedes(heap[(index - 1) / 2]) {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  /// Adds a happening at a time.
  func last(where isIt: (Element) -> Bool) -> Timestamp? {
    heap.filter { isIt($0.element) }.map(\.at).max()
  }

  mutating func next() -> (at: Timestamp, element: Element)? {
    guard let first = heap.first else { return nil }
    let last = heap.removeLast()
    if !heap.isEmpty {
      heap[0] = last
      var index = 0
      while true {
        var least = index
        for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child].precedes(heap[least]) {
          least = child
        }
        if least == index { break }
        heap.swapAt(index, least)
        index = least
      }
    }
    return (first.at, first.element)
  }
}

extension RandomSource {
  /// True with that probability.
  mutating func chance(_ probability: Double) -> Bool { unitInterval() < probability }

  /// A whole number of the range.
  mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

  /// One of the elements.
  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[pick(0...(elements.count - 1))] }

  /// A duration between two, in milliseconds; short ones are likelier.
  mutating func duration(_ milliseconds: ClosedRange<Double>) -> Duration {
    let draw = unitInterval()
    let width = milliseconds.upperBound - milliseconds.lowerBound
    return .microseconds(Int64(1000 * (milliseconds.lowerBound + width * draw * draw)))
  }
}
