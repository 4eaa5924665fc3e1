/// First in, first out, in one array.
struct Queue<Element: Sendable>: Sendable {
  private var elements: [Element] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }
  var count: Int { elements.count - head }

  mutating func append(_ element: Element) {
    elements.append(element)
  }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    let element = elements[head]
    head += 1
    // What is left is moved only once it is the smaller part, so that each element is moved once on average.
    if head == elements.count {
      elements.removeAll(keepingCapacity: head <= 1024)
      head = 0
    } else if head > 32, head * 2 > elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }

  mutating func popLast() -> Element? {
    isEmpty ? nil : elements.removeLast()
  }

  /// Takes out all that a condition is true of.
  mutating func removeAll(where isUnwanted: (Element) -> Bool) {
    elements = contents.filter { !isUnwanted($0) }
    head = 0
  }

  var first: Element? { head < elements.count ? elements[head] : nil }

  /// What is in it, first in first.
  var contents: ArraySlice<Element> { elements[head...] }
}
