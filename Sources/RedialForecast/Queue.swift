/// Elements, first in, first out.
struct Queue<Element> {
  private var elements: [Element] = []
  private var head = 0

  /// All of them.
  var all: ArraySlice<Element> { elements[head...] }
  var isEmpty: Bool { head == elements.count }
  var count: Int { elements.count - head }
  var first: Element? { isEmpty ? nil : elements[head] }

  mutating func append(_ element: Element) {
    elements.append(element)
  }

  mutating func popFirst() -> Element? {
    guard let first else { return nil }
    removeFirst(1)
    return first
  }

  /// Takes out so many, which it must have.
  mutating func removeFirst(_ number: Int) {
    head += number
    // What is left is moved only once it is the smaller part, so that each element is moved once on average.
    if head > 4096, head * 2 > elements.count {
      elements.removeFirst(head)
      head = 0
    }
  }

  /// Changes the first element, which it must have.
  mutating func changeFirst(_ change: (inout Element) -> Void) { change(&elements[head]) }
}
