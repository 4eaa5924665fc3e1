import Dispatch
import RedialModel
import Synchronization
import Testing

@testable import RedialService

@Suite("Items of a batch that repeat what was accepted")
struct ReplayQueueTests {
  private func item(_ index: Int) -> ReplayQueue.Item { .init(index: index, id: CallID(rawValue: Int64(index + 1))) }

  @Test("one reader is asked for, who finds all in order, a page at a time, and then another may be")
  func pages() {
    let queue = ReplayQueue()
    let asked = (0..<250).map { queue.add(item($0)) }
    #expect(asked == [true] + Array(repeating: false, count: 249))
    var read = queue.next()
    #expect(read.count == ReplayQueue.page)
    // What comes while somebody reads is read by the same.
    #expect(!queue.add(item(250)))
    while true {
      let page = queue.next()
      if page.isEmpty { break }
      #expect(page.count <= ReplayQueue.page)
      read += page
    }
    #expect(read == (0...250).map(item))
    #expect(queue.add(item(0)) && queue.next() == [item(0)])
  }

  @Test("a query that is owed runs when so many wait that others are refused, and takes no place from them")
  func owed() {
    let lanes = QueryLanes(count: 1)
    let (gate, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    lanes.runOwed { gate.wait() }
    for _ in 0..<5000 { lanes.runOwed {} }
    var accepted = 0
    while lanes.run({}) { accepted += 1 }
    #expect(accepted == 2000)
    lanes.runOwed { done.signal() }
    gate.signal()
    #expect(done.wait(timeout: .now() + 10) == .success)
  }
}
