/// Numbers, first in, first out.
struct IndexQueue {
  private var elements: [Int] = []
  private var head = 0

  /// All of them.
  var all: ArraySlice<Int> { elements[head...] }
  var isEmpty: Bool { head == elements.count }
  var count: Int { elements.count - head }
  var first: Int? { isEmpty ? nil : elements[head] }

  mutating func append(_ element: Int) {
    elements.append(element)
  }

  mutating func popFirst() -> Int? {
    guard let first else { return nil }
    head += 1
    if head > 4096, head * 2 > elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return first
  }
}
